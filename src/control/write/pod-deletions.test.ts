import assert from 'node:assert/strict';
import { test } from 'node:test';
import { monotonic, seconds } from '#base/units.ts';
import { ApiError, MalformedAnswerError } from '#kubernetes/transport/api-error.ts';
import { TransportError } from '#kubernetes/transport/transport.ts';
import { ingesterGroup } from '#support/objects/objects.ts';
import { T0 } from '#support/objects/views.ts';
import { GroupWorld, refusal } from '#support/rollouts/group-world.ts';
import { RecordingLogger } from '#support/telemetry/recording.ts';
import { type Basis, StaleBasisError } from '../consistent-read/basis.ts';
import type { DeletePod } from '../decision/decision.ts';
import { OpenDisruptions } from './open-disruptions.ts';
import { type EndedDeletion, OverruledError, PodDeletions } from './pod-deletions.ts';

const freshBasis: Basis = {
  pods: { view: { 'ingester-zone-a': '104' }, proof: '103', provenAt: monotonic(T0) },
  statefulSets: { view: '101', proof: '101', provenAt: monotonic(T0 + 1) },
  budgets: { kind: 'not-permitted' },
};

class Bench {
  readonly world = new GroupWorld(ingesterGroup({ zones: ['a'], replicas: 40 }));
  readonly open = new OpenDisruptions();
  readonly log = new RecordingLogger();
  readonly stopping = new AbortController();
  /** How deletions ended, such as `ingester-zone-a-0 deleted`. */
  readonly ends: string[] = [];
  /** Those that ended while there was no room for more. */
  readonly endedWhenFull: string[] = [];
  readonly errors: Error[] = [];
  client = this.world.client;
  approve: (deletion: DeletePod) => Basis = () => freshBasis;
  #deletions: PodDeletions | undefined;

  deletion(ordinal: number): DeletePod {
    const { metadata } = this.world.object('pods', `ingester-zone-a-${ordinal}`);
    const { name, uid, resourceVersion } = metadata;
    return {
      kind: 'delete-pod',
      set: { namespace: 'test', name: 'ingester-zone-a', uid: 'ingester-zone-a-uid' },
      pod: { namespace: 'test', name, uid, resourceVersion, revision: 'prev-hash' },
      costs: 'a-slot',
      maxUnavailable: 2,
      because: { reason: 'PodOutdated', message: 'it is' },
    };
  }

  get deletions(): PodDeletions {
    const { world, open, log, client } = this;
    const { clock, pods } = world;
    this.#deletions ??= new PodDeletions({ client, clock, open, log, pods: pods.freshness });
    return this.#deletions;
  }

  begin(count: number): void {
    const deletions = Array.from({ length: count }, (_, ordinal) => this.deletion(ordinal));
    const owner = {
      key: 'test/ingester',
      approve: (deletion: DeletePod) => this.approve(deletion),
      ended: ({ deletion: { pod }, end, wasFull }: EndedDeletion): void => {
        this.ends.push(`${pod.name} ${end.kind}`);
        if (wasFull) this.endedWhenFull.push(pod.name);
        if (end.kind === 'failed' || end.kind === 'stale') this.errors.push(end.error);
      },
    };
    this.deletions.begin(deletions, owner, this.stopping.signal);
  }

  async apply(count: number): Promise<readonly string[]> {
    this.begin(count);
    await this.deletions.idle();
    return this.ends;
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

test('PodDeletions names the uid and the resourceVersion that were decided on [REV-1]', async () => {
  const bench = new Bench();
  const { client } = bench.world;
  let preconditions: unknown;
  const spied: typeof client.delete = (type, key, options) => {
    preconditions = options.preconditions;
    return client.delete(type, key, options);
  };
  bench.client = { ...client, delete: spied };
  await bench.apply(1);
  assert.deepEqual(preconditions, { uid: 'ingester-zone-a-0-uid', resourceVersion: '102' });
});

test('PodDeletions logs what each request rests on (D-7)', async () => {
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

test('PodDeletions sends no request before what it rests on has left the log (D-7)', async () => {
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

test('PodDeletions sends nothing on a view that is too old at the instant of sending (D-3)', async () => {
  const bench = new Bench();
  bench.approve = () => {
    throw new StaleBasisError(10_001);
  };
  assert.deepEqual(await bench.apply(1), ['ingester-zone-a-0 stale']);
  assert.deepEqual(bench.world.requests, []);
  assert.match(bench.errors[0]?.message ?? '', /10001 ms old/);
  assert.deepEqual(bench.leaving(), []);
});

test('PodDeletions asks of each deletion whether it is still wanted, at the instant of sending (D-49)', async () => {
  const bench = new Bench();
  bench.approve = ({ pod }) => {
    if (pod.name.endsWith('-1')) throw new OverruledError('its set is paused now');
    return freshBasis;
  };
  await bench.apply(3);
  assert.deepEqual(bench.world.requests, ['delete ingester-zone-a-0', 'delete ingester-zone-a-2']);
  assert.ok(bench.ends.includes('ingester-zone-a-1 outrun'));
});

test('PodDeletions counts what was sent as leaving when it asks of the next one', async () => {
  const bench = new Bench();
  const leaving: (readonly string[])[] = [];
  bench.approve = () => {
    leaving.push(bench.leaving());
    return freshBasis;
  };
  await bench.apply(2);
  assert.deepEqual(leaving, [[], ['ingester-zone-a-0-uid']]);
});

test('PodDeletions sends nothing after its signal aborted', async () => {
  const bench = new Bench();
  bench.stopping.abort();
  assert.deepEqual(await bench.apply(2), ['ingester-zone-a-0 failed', 'ingester-zone-a-1 failed']);
  assert.deepEqual(bench.world.requests, []);
  assert.deepEqual(bench.leaving(), []);
});

test('PodDeletions has at most 32 requests of a group under way, and says when one may follow', async () => {
  const bench = new Bench();
  const going = Promise.withResolvers<void>();
  bench.world.before = () => going.promise;
  bench.begin(40);
  await bench.world.clock.settle();
  assert.equal(bench.world.requests.length, 32);
  bench.begin(40);
  await bench.world.clock.settle();
  assert.equal(bench.world.requests.length, 32);
  going.resolve();
  await bench.deletions.idle();
  assert.deepEqual(bench.endedWhenFull, ['ingester-zone-a-0']);
  assert.equal(bench.ends.length, 32);
});

test('PodDeletions begins no second request for a pod while one is under way', async () => {
  const bench = new Bench();
  const going = Promise.withResolvers<void>();
  bench.world.before = () => going.promise;
  bench.begin(1);
  bench.begin(1);
  await bench.world.clock.settle();
  going.resolve();
  await bench.deletions.idle();
  assert.deepEqual(bench.world.requests, ['delete ingester-zone-a-0']);
});

interface Outcome {
  readonly happens: (world: GroupWorld) => void;
  readonly isLeaving: boolean;
  readonly kind: 'deleted' | 'outrun' | 'failed';
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
  '403': { happens: refuse(refusal(403)), isLeaving: false, kind: 'failed' },
  '429': { happens: refuse(refusal(429)), isLeaving: false, kind: 'failed' },
  '500': { happens: refuse(refusal(500)), isLeaving: true, kind: 'failed' },
  'that a webhook cannot be asked [found R-8]': {
    happens: refuse(
      new ApiError(refusal(500).call, {
        status: 500,
        reason: 'InternalError',
        message:
          'Internal error occurred: failed calling webhook "guard.test.example": connection refused',
        details: {},
      }),
    ),
    isLeaving: false,
    kind: 'failed',
  },
  '504': { happens: refuse(refusal(504)), isLeaving: true, kind: 'failed' },
  'no answer in time': {
    happens: refuse(new TransportError('late', 'timeout')),
    isLeaving: true,
    kind: 'failed',
  },
  'a reset': {
    happens: refuse(new TransportError('reset', 'connection')),
    isLeaving: true,
    kind: 'failed',
  },
  'nothing, as it was not sent': {
    happens: refuse(new TransportError('no connection', 'not-sent')),
    isLeaving: false,
    kind: 'failed',
  },
  'half an answer': {
    happens: refuse(new MalformedAnswerError(refusal(200).call, 200, 'it ends early')),
    isLeaving: true,
    kind: 'failed',
  },
  'a fault of this program after it was sent': {
    happens: refuse(new RangeError('a bug')),
    isLeaving: true,
    kind: 'failed',
  },
};

for (const [answer, { happens, isLeaving, kind }] of Object.entries(outcomes)) {
  const state = isLeaving ? 'is leaving' : 'is not leaving';
  test(`PodDeletions counts as ${kind} a pod whose deletion got ${answer}, and it ${state}`, async () => {
    const bench = new Bench();
    happens(bench.world);
    assert.deepEqual(await bench.apply(1), [`ingester-zone-a-0 ${kind}`]);
    assert.deepEqual(bench.leaving(), isLeaving ? ['ingester-zone-a-0-uid'] : []);
  });
}

test('PodDeletions proves the cache by its answer, from its sending (D-5)', async () => {
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

test('PodDeletions proves nothing by an answer that repeats the revision (D-5)', async () => {
  const bench = new Bench();
  const { client } = bench.world;
  const object = bench.world.object('pods', 'ingester-zone-a-0');
  const { clock, pods } = bench.world;
  const repeating: typeof client.delete = (_type, _key, options) => {
    options.beforeSend?.();
    return Promise.resolve(object);
  };
  bench.client = { ...client, delete: repeating };
  await clock.advance(seconds(1));
  await bench.apply(1);
  assert.equal(pods.freshness.proof?.sentAt, T0);
  assert.deepEqual(bench.leaving(), ['ingester-zone-a-0-uid']);
});
