import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { monotonic } from '#base/units.ts';
import { ApiError } from '#kubernetes/api-error.ts';
import { GroupWorld } from '#testing/group-world.ts';
import { ingesterGroup } from '#testing/objects.ts';
import { RecordingLogger } from '#testing/recording.ts';
import { applyScale, type ScaleOutcome } from './apply-scale.ts';
import type { Basis } from './basis.ts';
import type { Scale } from './decision.ts';

const { signal } = new AbortController();

function scale(rest: Partial<Scale> = {}): Scale {
  const set = { namespace: 'test', name: 'ingester-zone-a', uid: 'ingester-zone-a-uid' };
  const because = { reason: 'ScaledToLeader', message: 'a test wants it' } as const;
  return { kind: 'scale', set, from: 3, to: 5, takes: 0, because, ...rest };
}

function basis(provenAt: number): Basis {
  const type = { view: '1', proof: '1', provenAt: monotonic(provenAt) };
  return { pods: type, statefulSets: type };
}

function apply(world: GroupWorld, what: Scale, rests?: Basis): Promise<ScaleOutcome> {
  const ports = { client: world.client, clock: world.clock, log: new RecordingLogger() };
  return applyScale({ scale: what, basis: rests }, ports, signal);
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
    assert.deepEqual(await apply(world, scale()), { kind: 'outdated' });
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
  await applyScale({ scale: scale(), basis: undefined }, { client, clock, log }, signal);
  assert.equal(flushed, 1);
});

test('applyScale() throws what a webhook refuses with, also 422', async () => {
  const world = new GroupWorld(ingesterGroup());
  world.before = () => {
    throw invalid('admission webhook "x" denied the request: not now');
  };
  await assert.rejects(apply(world, scale()), /denied the request/);
});

test('applyScale() sends nothing that takes pods away on a view older than 10 s (D-3)', async () => {
  const world = new GroupWorld(ingesterGroup());
  const now = world.clock.monotonic();
  const down = scale({ to: 2, takes: 1 });
  assert.deepEqual(await apply(world, down, basis(now - 10_001)), { kind: 'outdated' });
  assert.deepEqual(await apply(world, down), { kind: 'outdated' });
  assert.deepEqual(world.requests, []);
  assert.equal((await apply(world, down, basis(now - 10_000))).kind, 'scaled');
});

test('applyScale() sends nothing on a word of a pod that is older than 10 s', async () => {
  const world = new GroupWorld(ingesterGroup());
  const now = world.clock.monotonic();
  const provenAt = monotonic(now - 10_001);
  const down = scale({ to: 2, takes: 1, provenAt });
  assert.deepEqual(await apply(world, down, basis(now)), { kind: 'outdated' });
});
