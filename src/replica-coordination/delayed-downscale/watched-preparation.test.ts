import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import type { PodBehaviour } from '#support/pods/pod-fleet.ts';
import { DelayedDownscaleBed } from '#support/rollouts/delayed-downscale-bed.ts';

const pod = 'ingester-zone-b-4';
const hour = minutes(60);

function patchesOf(bed: DelayedDownscaleBed): readonly number[] {
  return bed.patches.map(({ to }) => to);
}

/** The pod's own clock is right, and the operator's was set `ahead`: it says to be prepared since this moment. */
function preparedNow(bed: DelayedDownscaleBed, ahead: number): PodBehaviour {
  const timestamp = Math.floor((bed.clock.now() - ahead) / 1_000);
  return { kind: 'answer', status: 200, body: JSON.stringify({ timestamp }) };
}

const unfollowed: Record<string, PodBehaviour> = {
  'answers 500': { kind: 'answer', status: 500 },
  'answers 409, as a person has locked its state': { kind: 'answer', status: 409 },
  'ends the connection': { kind: 'reset' },
};

for (const [fact, behaviour] of Object.entries(unfollowed)) {
  for (const [step, span] of [
    ['forward', hour],
    ['back', minutes(-60)],
  ] as const) {
    test(`preparedState() goes on with the wait of a pod that ${fact} when it is to stay, with the clock set ${step} (D-55)`, async () => {
      const bed = await new DelayedDownscaleBed({ wanted: 4 }).run(minutes(10));
      bed.fleet.behave(behaviour, pod);
      bed.want(5);
      await bed.run();
      bed.fleet.behave({ kind: 'application' }, pod);
      bed.clock.setWallClock(span);
      bed.want(4);
      await bed.run(minutes(50) - 1);
      assert.deepEqual(patchesOf(bed), []);
      await bed.run(1);
      assert.deepEqual(patchesOf(bed), [4]);
    });
  }
}

for (const [step, span] of [
  ['forward', hour],
  ['back', minutes(-60)],
] as const) {
  test(`preparedState() goes on with the wait that a new pod kept from the one before it, with the clock set ${step} (D-55)`, async () => {
    const bed = await new DelayedDownscaleBed({ wanted: 4 }).run(minutes(9));
    bed.clock.setWallClock(span);
    bed.replacePod(4, { isReady: true });
    await bed.run(minutes(51) - 1);
    assert.deepEqual(patchesOf(bed), []);
    await bed.run(1);
    assert.deepEqual(patchesOf(bed), [4]);
  });
}

test('preparedState() measures another time against what the pod said before, not by a clock that was set (D-55)', async () => {
  const bed = await new DelayedDownscaleBed({ wanted: 4 }).run(minutes(9));
  bed.clock.setWallClock(hour);
  // A user has cancelled it by hand: the POST of minute 10 prepares it again.
  bed.fleet.behave(preparedNow(bed, hour), pod);
  await bed.run(hour - 1);
  assert.deepEqual(patchesOf(bed), []);
  await bed.run(1);
  assert.deepEqual(patchesOf(bed), [4]);
});

test('preparedState() counts no time before the pod was cancelled, also of the pod that took its place (D-55)', async () => {
  const bed = await new DelayedDownscaleBed().run(minutes(9));
  bed.clock.setWallClock(hour);
  bed.replacePod(4, { isReady: true });
  bed.fleet.behave(preparedNow(bed, hour), pod);
  bed.want(4);
  await bed.run(minutes(51) - 1);
  assert.deepEqual(patchesOf(bed), []);
  await bed.run(1);
  assert.deepEqual(patchesOf(bed), [4]);
});

test('preparedState() counts from when the pod answered DELETE, not from when it was sent (D-55)', async () => {
  const bed = new DelayedDownscaleBed();
  const slow = { kind: 'late', after: seconds(4), behaves: { kind: 'application' } } as const;
  bed.fleet.behave(slow, pod);
  await bed.run(seconds(4));
  bed.clock.setWallClock(hour);
  bed.fleet.behave(preparedNow(bed, hour), pod);
  bed.want(4);
  await bed.run(hour - 1);
  assert.deepEqual(patchesOf(bed), []);
  await bed.run(1);
  assert.deepEqual(patchesOf(bed), [4]);
});

test('preparedState() lets a pod go whose time is off by a second in each answer', async () => {
  const bed = await new DelayedDownscaleBed({ wanted: 4 }).run(minutes(4));
  const first = bed.clock.now() / 1_000 - minutes(4) / 1_000;
  for (let answer = 1; answer <= 12; answer += 1) {
    const timestamp = first + (answer % 2);
    bed.fleet.behave({ kind: 'answer', status: 200, body: JSON.stringify({ timestamp }) }, pod);
    await bed.run(minutes(5));
  }
  assert.deepEqual(patchesOf(bed), [4]);
});
