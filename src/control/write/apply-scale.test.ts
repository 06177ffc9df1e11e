import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { monotonic } from '#base/units.ts';
import { ApiError } from '#kubernetes/transport/api-error.ts';
import { ingesterGroup } from '#support/objects/objects.ts';
import { GroupWorld } from '#support/rollouts/group-world.ts';
import { RecordingLogger } from '#support/telemetry/recording.ts';
import { type Basis, StaleBasisError } from '../consistent-read/basis.ts';
import type { Scale } from '../decision/decision.ts';
import { applyScale, type ScaleOutcome } from './apply-scale.ts';
import { OverruledError } from './pod-deletions.ts';

const { signal } = new AbortController();

function scale(rest: Partial<Scale> = {}): Scale {
  const set = { namespace: 'test', name: 'ingester-zone-a', uid: 'ingester-zone-a-uid' };
  const because = { reason: 'ScaledToLeader', message: 'a test wants it' } as const;
  return { kind: 'scale', set, from: 3, to: 5, takes: 0, revision: '1', because, ...rest };
}

function basis(provenAt: number): Basis {
  const type = { view: '1', proof: '1', provenAt: monotonic(provenAt) };
  return { pods: type, statefulSets: type, budgets: { kind: 'not-permitted' } };
}

function apply(
  world: GroupWorld,
  what: Scale,
  approve: (scale: Scale) => Basis | undefined = () => undefined,
): Promise<ScaleOutcome> {
  const { client, clock } = world;
  return applyScale(what, { client, clock, log: new RecordingLogger(), approve }, signal);
}

function invalid(message: string, details: JsonObject = {}): ApiError {
  const call = { verb: 'patch', kind: 'StatefulSet' } as const;
  return new ApiError(call, { status: 422, reason: 'Invalid', message, details });
}

test('applyScale() answers the revision of the set that has the replicas', async () => {
  const world = new GroupWorld(ingesterGroup());
  const outcome = await apply(world, scale());
  const { resourceVersion } = world.object('statefulsets', 'ingester-zone-a').metadata;
  assert.equal(outcome.kind === 'scaled' ? outcome.revision : undefined, resourceVersion);
});

const outdated: Record<string, ApiError> = {
  'a test that is not met, without a cause': invalid(
    'the server rejected our request due to an error in our request',
  ),
  'a test that is not met, with a cause': invalid('no', {
    causes: [
      { reason: 'UnexpectedServerResponse', message: 'testing value /spec/replicas failed' },
    ],
  }),
};

for (const [what, error] of Object.entries(outdated)) {
  test(`applyScale() takes ${what} for a set that has changed (D-19)`, async () => {
    const world = new GroupWorld(ingesterGroup());
    world.before = () => {
      throw error;
    };
    assert.deepEqual(await apply(world, scale()), { kind: 'outdated', answer: error });
  });
}

test('applyScale() sends no request before the reason for it has left the log', async () => {
  const world = new GroupWorld(ingesterGroup());
  const log = new RecordingLogger();
  let flushed = 0;
  world.before = () => {
    flushed = log.flushed;
  };
  const { client, clock } = world;
  await applyScale(scale(), { client, clock, log, approve: () => undefined }, signal);
  assert.equal(flushed, 1);
});

test('applyScale() throws what a webhook refuses with, also 422', async () => {
  const world = new GroupWorld(ingesterGroup());
  world.before = () => {
    throw invalid('admission webhook "x" denied the request: not now');
  };
  await assert.rejects(apply(world, scale()), /denied the request/);
});

test('applyScale() sends nothing that is refused at the instant of sending (D-49)', async () => {
  const refusals = [new StaleBasisError(10_001), new OverruledError('not wanted any more')];
  for (const error of refusals) {
    const world = new GroupWorld(ingesterGroup());
    const refuse = (): never => {
      throw error;
    };
    const outcome = await apply(world, scale({ to: 2, takes: 1 }), refuse);
    assert.deepEqual(outcome, { kind: 'outdated', answer: undefined });
    assert.deepEqual(world.requests, []);
  }
});

test('applyScale() that is aborted once its patch has left waits for the answer (D-50)', async () => {
  const world = new GroupWorld(ingesterGroup());
  const ending = new AbortController();
  world.before = () => ending.abort();
  const { client, clock } = world;
  const ports = { client, clock, log: new RecordingLogger(), approve: () => undefined };
  assert.equal((await applyScale(scale(), ports, ending.signal)).kind, 'scaled');
});

test('applyScale() logs what a down-scale rests on (D-7)', async () => {
  const world = new GroupWorld(ingesterGroup());
  const log = new RecordingLogger();
  const { client, clock } = world;
  const approve = (): Basis => basis(clock.monotonic() - 7);
  await applyScale(scale({ to: 2, takes: 1 }), { client, clock, log, approve }, signal);
  assert.deepEqual(log.lines, [
    {
      level: 'info',
      message: 'scaling statefulset',
      fields: {
        name: 'ingester-zone-a',
        replicas: 2,
        currentReplicas: 3,
        uid: 'ingester-zone-a-uid',
        reason: 'ScaledToLeader',
        because: 'a test wants it',
        view_pods: '1',
        view_statefulsets: '1',
        proof_pods: '1',
        proof_statefulsets: '1',
        age_ms: 7,
      },
    },
  ]);
});

test('applyScale() sends nothing on a word of a pod that is older than 10 s', async () => {
  const world = new GroupWorld(ingesterGroup());
  const now = world.clock.monotonic();
  const down = scale({ to: 2, takes: 1, provenAt: monotonic(now - 10_001) });
  const outcome = await apply(world, down, () => basis(now));
  assert.deepEqual(outcome, { kind: 'outdated', answer: undefined });
});
