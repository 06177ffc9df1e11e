import assert from 'node:assert/strict';
import { test } from 'node:test';
import { monotonic, seconds } from '#base/units.ts';
import { MalformedAnswerError } from '#kubernetes/api-error.ts';
import { TransportError } from '#kubernetes/transport.ts';
import { GroupWorld, refusal, type WorldRequest } from '#testing/group-world.ts';
import { ingesterGroup } from '#testing/objects.ts';
import { RecordingLogger } from '#testing/recording.ts';
import { T0 } from '#testing/views.ts';
import { applyDeletions, type DeletionReport, OverruledError } from './apply-deletions.ts';
import type { Basis } from './basis.ts';
import type { DeletePod } from './decision.ts';
import { OpenDisruptions } from './open-disruptions.ts';

const freshBasis: Basis = {
  pods: { view: { 'ingester-zone-a': '104' }, proof: '103', provenAt: monotonic(T0) },
  statefulSets: { view: '101', proof: '101', provenAt: monotonic(T0 + 1) },
};

class Bench {
  readonly world = new GroupWorld(ingesterGroup({ zones: ['a'], replicas: 40 }));
  readonly open = new OpenDisruptions();
  readonly log = new RecordingLogger();
  readonly stopping = new AbortController();
  recheck: (deletion: DeletePod) => void = () => undefined;

  deletion(ordinal: number): DeletePod {
    const { metadata } = this.world.object('pods', `ingester-zone-a-${ordinal}`);
    const { name, uid, resourceVersion } = metadata;
    return {
      kind: 'delete-pod',
      set: { namespace: 'test', name: 'ingester-zone-a', uid: 'ingester-zone-a-uid' },
      pod: { namespace: 'test', name, uid, resourceVersion, revision: 'prev-hash' },
      costs: 'a-slot',
      because: { reason: 'PodOutdated', message: 'it is' },
    };
  }

  apply(count: number, basis = freshBasis): Promise<DeletionReport> {
    const { world, open, log } = this;
    const deletions = Array.from({ length: count }, (_, ordinal) => this.deletion(ordinal));
    const { client, clock } = world;
    const recheck = (deletion: DeletePod): void => this.recheck(deletion);
    const pods = world.pods.freshness;
    const ports = { client, clock, open, log, pods, recheck };
    return applyDeletions({ deletions, basis }, ports, this.stopping.signal);
  }

  leaving(): readonly string[] {
    const { pods, clock } = this.world;
    const leaving = this.open.leaving({
      now: clock.monotonic(),
      find: ({ namespace, name }) => pods.lister.get(namespace, name),
      hasSeen: (revision) => pods.freshness.hasSeen(revision),
    });
    return [...leaving];
  }
}

test('applyDeletions() names the uid and the resourceVersion that were decided on [REV-1]', async () => {
  const bench = new Bench();
  let preconditions: unknown;
  const spied: typeof bench.world.client.delete = (type, key, options) => {
    preconditions = options.preconditions;
    return bench.world.client.delete(type, key, options);
  };
  const { world, open, log } = bench;
  const ports = {
    open,
    log,
    clock: world.clock,
    pods: world.pods.freshness,
    recheck: bench.recheck,
  };
  const work = { deletions: [bench.deletion(0)], basis: freshBasis };
  await applyDeletions(
    work,
    { ...ports, client: { ...world.client, delete: spied } },
    bench.stopping.signal,
  );
  assert.deepEqual(preconditions, { uid: 'ingester-zone-a-0-uid', resourceVersion: '102' });
});

test('applyDeletions() logs what each request rests on (D-7)', async () => {
  const bench = new Bench();
  await bench.apply(1);
  assert.deepEqual(bench.log.lines, [
    {
      level: 'info',
      message: 'deleting pod',
      fields: {
        pod: 'ingester-zone-a-0',
        statefulset: 'ingester-zone-a',
        reason: 'PodOutdated',
        because: 'it is',
        uid: 'ingester-zone-a-0-uid',
        view_pods: 'ingester-zone-a=104',
        view_statefulsets: '101',
        proof_pods: '103',
        proof_statefulsets: '101',
        age_ms: 0,
      },
    },
  ]);
});

test('applyDeletions() sends no request before what it rests on has left the log (D-7)', async () => {
  const bench = new Bench();
  const { log } = bench;
  const flushed: string[] = [];
  bench.world.before = ({ verb, name }) => {
    const last = log.lines[log.flushed - 1]?.fields['pod'];
    flushed.push(`${verb} ${name} after ${String(last)}`);
  };
  await bench.apply(2);
  assert.deepEqual(flushed, [
    'delete ingester-zone-a-0 after ingester-zone-a-0',
    'delete ingester-zone-a-1 after ingester-zone-a-1',
  ]);
});

test('applyDeletions() sends at an age of 10,000 ms and not at 10,001 ms, by the older type (D-3)', async () => {
  const bench = new Bench();
  await bench.world.clock.advance(10_000);
  assert.equal((await bench.apply(1)).deleted.length, 1);
  const late = new Bench();
  await late.world.clock.advance(10_001);
  const report = await late.apply(1);
  assert.deepEqual(late.world.requests, []);
  assert.equal(report.outrun, 1);
  assert.match(report.stale?.message ?? '', /10001 ms old/);
  assert.equal(report.error, undefined);
  assert.deepEqual(late.leaving(), []);
});

test('applyDeletions() does not send what is overruled at the last moment', async () => {
  const bench = new Bench();
  bench.recheck = ({ pod }) => {
    if (pod.name.endsWith('-1')) throw new OverruledError('its set is paused now');
  };
  const report = await bench.apply(3);
  assert.deepEqual(bench.world.requests, ['delete ingester-zone-a-0', 'delete ingester-zone-a-2']);
  assert.equal(report.outrun, 1);
  assert.equal(report.stale, undefined);
});

test('applyDeletions() sends nothing after its signal aborted', async () => {
  const bench = new Bench();
  bench.stopping.abort();
  const report = await bench.apply(2);
  assert.deepEqual(bench.world.requests, []);
  assert.ok(report.error instanceof Error);
  assert.deepEqual(bench.leaving(), []);
});

test('applyDeletions() has at most 32 requests under way', async () => {
  const bench = new Bench();
  const going = Promise.withResolvers<void>();
  bench.world.before = () => going.promise;
  const applied = bench.apply(40);
  await bench.world.clock.settle();
  assert.equal(bench.world.requests.length, 32);
  going.resolve();
  assert.equal((await applied).deleted.length, 40);
});

interface Outcome {
  readonly happens: (world: GroupWorld) => void;
  readonly isLeaving: boolean;
  readonly kind: 'deleted' | 'outrun' | 'error';
}

function refuse(error: Error): (world: GroupWorld) => void {
  return (world) => {
    world.before = () => {
      throw error;
    };
  };
}

const outcomes: Record<string, Outcome> = {
  'an answer': { happens: () => undefined, isLeaving: true, kind: 'deleted' },
  '404': { happens: refuse(refusal(404)), isLeaving: true, kind: 'outrun' },
  '409': { happens: refuse(refusal(409)), isLeaving: false, kind: 'outrun' },
  '403': { happens: refuse(refusal(403)), isLeaving: false, kind: 'error' },
  '429': { happens: refuse(refusal(429)), isLeaving: false, kind: 'error' },
  '500': { happens: refuse(refusal(500)), isLeaving: true, kind: 'error' },
  '504': { happens: refuse(refusal(504)), isLeaving: true, kind: 'error' },
  'no answer in time': {
    happens: refuse(new TransportError('late', 'timeout')),
    isLeaving: true,
    kind: 'error',
  },
  'a reset': {
    happens: refuse(new TransportError('reset', 'connection')),
    isLeaving: true,
    kind: 'error',
  },
  'nothing, as it was not sent': {
    happens: refuse(new TransportError('no connection', 'not-sent')),
    isLeaving: false,
    kind: 'error',
  },
  'half an answer': {
    happens: refuse(new MalformedAnswerError(refusal(200).call, 200, 'it ends early')),
    isLeaving: true,
    kind: 'error',
  },
  'a fault of this program after it was sent': {
    happens: refuse(new RangeError('a bug')),
    isLeaving: true,
    kind: 'error',
  },
};

for (const [answer, { happens, isLeaving, kind }] of Object.entries(outcomes)) {
  const state = isLeaving ? 'is leaving' : 'is not leaving';
  test(`applyDeletions() counts as ${kind} a pod whose deletion got ${answer}, and it ${state}`, async () => {
    const bench = new Bench();
    happens(bench.world);
    const { deleted, outrun, error } = await bench.apply(1);
    const counted = { deleted: deleted.length, outrun, error: error === undefined ? 0 : 1 };
    assert.deepEqual(counted, { deleted: 0, outrun: 0, error: 0, [kind]: 1 });
    assert.deepEqual(bench.leaving(), isLeaving ? ['ingester-zone-a-0-uid'] : []);
  });
}

test('[scenario 31] applyDeletions() keeps what was done before the first error, and sends nothing after it', async () => {
  const bench = new Bench();
  bench.world.before = ({ name }: WorldRequest) => {
    if (name !== 'ingester-zone-a-0') throw refusal(500);
  };
  const { deleted, error } = await bench.apply(40);
  assert.deepEqual(
    deleted.map(({ pod }) => pod.name),
    ['ingester-zone-a-0'],
  );
  assert.equal(error instanceof Error ? error.message : '', refusal(500).message);
  assert.equal(bench.world.requests.length, 32);
});

test('applyDeletions() proves the cache by its answer, from its sending (D-5)', async () => {
  const bench = new Bench();
  await bench.world.clock.advance(2_000);
  const sentAt = bench.world.clock.monotonic();
  bench.world.after = () => bench.world.clock.advance(1_500);
  await bench.apply(1);
  assert.equal(bench.world.pods.freshness.proof?.sentAt, T0);
  bench.world.show();
  assert.deepEqual(bench.world.pods.freshness.proof, {
    revision: '142',
    sentAt,
    by: 'own-write',
  });
  assert.deepEqual(bench.leaving(), []);
});

test('applyDeletions() proves nothing by an answer that repeats the revision (D-5)', async () => {
  const bench = new Bench();
  const { client } = bench.world;
  const object = bench.world.object('pods', 'ingester-zone-a-0');
  const { clock, pods } = bench.world;
  const { open, log, recheck } = bench;
  const repeating: typeof client.delete = (_type, _key, options) => {
    options.beforeSend?.();
    return Promise.resolve(object);
  };
  await clock.advance(seconds(1));
  await applyDeletions(
    { deletions: [bench.deletion(0)], basis: freshBasis },
    { client: { ...client, delete: repeating }, clock, pods: pods.freshness, open, log, recheck },
    bench.stopping.signal,
  );
  assert.equal(pods.freshness.proof?.sentAt, T0);
  assert.deepEqual(bench.leaving(), ['ingester-zone-a-0-uid']);
});
