/** How StatefulsetRollouts are paused, and how they fail by time; played by hand. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { after, seconds } from '#base/units.ts';
import { budgetOf } from '#support/rollouts/played-cluster.ts';
import { RolloutPlay } from '#support/rollouts/rollout-play.ts';

/** A settled play of ten pods on v1 that is to roll v2 out. */
function rolling(): RolloutPlay {
  return RolloutPlay.settled().want('v2');
}

describe('a pause', () => {
  test('lets no pod go, and ends where the rollout was [T-50]', () => {
    const play = rolling();
    play.rest();
    play.settle();
    play.rest();
    assert.equal(play.evicted.size, 4);
    play.edit({ isPauseRequested: true });
    assert.equal(play.rest(), 'Paused RolloutPaused');
    play.settle();
    play.time += 60_000;
    assert.equal(play.rest(), 'Paused RolloutPaused');
    assert.equal(play.evicted.size, 4);
    assert.equal(play.edit({ isPauseRequested: false }).run(), 'RolloutDone RolloutDone');
    assert.equal(play.evicted.size, 10);
  });

  test('that is there from the start keeps the set from being written [T-51]', () => {
    const play = rolling().edit({ isPauseRequested: true });
    assert.equal(play.rest(), 'Paused RolloutPaused');
    assert.deepEqual(play.done, []);
  });

  test('of two hours does not count against a deadline of half an hour [T-52]', () => {
    const play = rolling();
    play.rest();
    play.edit({ isPauseRequested: true });
    play.rest();
    play.time += 7_200_000;
    play.edit({ isPauseRequested: false });
    assert.equal(play.run(), 'RolloutDone RolloutDone');
  });

  test('does not stop the deadline for good', () => {
    const play = rolling();
    play.rest();
    play.settle('not-ready');
    play.edit({ isPauseRequested: true });
    play.rest();
    play.time += 7_200_000;
    play.edit({ isPauseRequested: false });
    assert.equal(play.rest(), 'WaitingForReady AwaitingPods');
    play.time += 1_801_000;
    assert.equal(play.rest(), 'RolloutFailed RolloutFailed');
  });
});

describe('a deadline', () => {
  test('is reported as what was waited for', () => {
    const play = rolling();
    play.allowed = 0;
    assert.equal(play.rest(), 'RollingOut PDBBlocked');
    play.time += 1_800_001;
    assert.equal(play.rest(), 'RolloutFailed RolloutFailed');
    assert.match(
      play.progress.outcome?.message ?? '',
      /^no progress for 1800 s; PDBBlocked: 0 disruptions allowed by budget web/,
    );
  });

  test('of the whole rollout ends one that makes progress', () => {
    const play = rolling().edit({ timeout: seconds(3) });
    assert.equal(play.run(), 'RolloutFailed RolloutFailed');
    assert.equal(play.progress.outcome?.code, 'RolloutTimeout');
    assert.ok(play.evicted.size < 10);
  });

  test('is longer by the interval where that is longer than half of it', () => {
    const play = rolling().edit({ evictionInterval: seconds(1_000) });
    play.budgets = [budgetOf(1)];
    play.rest();
    play.settle('not-ready');
    play.time += 2_700_000;
    assert.equal(play.rest(), 'WaitingForReady AwaitingPods');
    play.time += 101_000;
    assert.equal(play.rest(), 'RolloutFailed RolloutFailed');
  });

  test('does not count a wait for an earlier process', () => {
    const play = rolling();
    play.rest();
    play.settle('not-ready');
    play.heldUntil = after(play.now, seconds(1_500));
    play.time += 1_801_000;
    assert.equal(play.rest(), 'WaitingForReady AwaitingPods');
    play.time += 1_500_000;
    assert.equal(play.rest(), 'RolloutFailed RolloutFailed');
  });

  test('brings the rollout on by itself', () => {
    const play = rolling();
    play.allowed = 0;
    play.rest();
    const { requeue } = play.plan();
    assert.deepEqual(requeue, { kind: 'at', at: play.now + 1_800_001 });
  });
});
