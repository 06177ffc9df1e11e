/** What comes between: other templates, other replicas, stuck pods, holds, new processes. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PhasedPlay } from '#support/rollouts/phased-play.ts';

/** A rollout to B at `partition`, its analysis begun there. */
function rolledTo(partition: number, replicas = 3): PhasedPlay {
  const play = PhasedPlay.rolling(replicas);
  while (play.set !== undefined && play.set.partition > partition) {
    play.next('passes');
    play.next('passes');
    play.controller().settle();
  }
  play.partitions.length = 0;
  play.events.length = 0;
  return play;
}

describe('planPhasedRollout() when the template changes', () => {
  test('[phased 52] blocks all, and begins again without an Event', () => {
    const play = rolledTo(1);
    play.next('passes');
    play.pass(1_000).change('C');
    assert.deepEqual(play.look(), ['partition 1 to 3']);
    assert.equal(play.status.updateRevision, 'B');
    play.look();
    assert.equal(play.status.updateRevision, 'C');
    const begun = play.status;
    assert.deepEqual([begun.phase, begun.step], ['Rolling', undefined]);
    play.settle();
    const { step } = play.status;
    assert.deepEqual([step?.partition, step?.consecutiveSuccesses], [3, 0]);
    assert.deepEqual(play.events, []);
  });

  test('an answer to what was asked for the revision before does not count', () => {
    const play = PhasedPlay.rolling();
    play.untilAsked();
    play.change('C').settle();
    play.answer('passes').settle();
    assert.equal(play.status.step?.consecutiveSuccesses, 0);
  });

  test('[phased 53] goes back to the revision before, and is not updated until all pods did', () => {
    const play = rolledTo(1);
    play.change('A');
    assert.deepEqual(play.settle(), []);
    assert.deepEqual(play.look(), ['hold RevisionReverted']);
    assert.equal(play.plan().conditions.Updated?.status, 'False');
    play.put(1, 'A').put(2, 'A');
    assert.deepEqual(play.settle(), ['partition 1 to 3', 'tell RolloutCompleted']);
  });

  test('pods that a blocked partition keeps on another revision are let go back', () => {
    const play = PhasedPlay.steady();
    play.put(2, 'B');
    assert.deepEqual(play.settle(), ['partition 3 to 2']);
  });

  test('pods that go back are let go one after the other where a budget governs them', () => {
    const play = PhasedPlay.steady();
    play.isGoverned = true;
    play.put(2, 'B').put(0, 'B');
    assert.deepEqual(play.settle(), ['partition 3 to 2']);
    assert.deepEqual(play.put(2, 'A').settle(), ['partition 2 to 0']);
    assert.deepEqual(play.put(0, 'A').settle(), ['partition 0 to 3']);
  });

  test('pods that go back keep their partition while that is not observed yet', () => {
    const play = PhasedPlay.steady();
    play.put(2, 'B').look();
    play.isObserved = false;
    assert.deepEqual(play.look(), ['hold RevisionUnknown']);
    assert.deepEqual(play.partitions, [2]);
  });

  test('[phased 54] replaces a pod that is stuck on the revision before', () => {
    const play = rolledTo(2);
    play.put(2, 'B', 'crashing').change('C');
    assert.deepEqual(play.settle(), ['partition 2 to 3', 'delete web-2']);
    assert.equal(play.status.step?.status, 'WaitForAllPodsToBeAvailable');
    play.put(2, 'A').settle();
    assert.equal(play.status.step?.status, 'WaitForInitialDelay');
  });

  test('leaves a stuck pod alone that would come back as it is', () => {
    const play = PhasedPlay.steady();
    play.put(1, 'A', 'crashing').change('B').settle();
    assert.deepEqual(play.look(), ['hold StuckPodKept']);
  });

  test('replaces one stuck pod at a time', () => {
    const play = rolledTo(1);
    play.put(1, 'B', 'crashing').put(2, 'B', 'crashing').change('C');
    assert.deepEqual(play.settle(), ['partition 1 to 3', 'delete web-1']);
    assert.deepEqual(play.look(), ['hold AwaitingAvailability']);
    play.put(1, 'A');
    assert.deepEqual(play.settle(), ['delete web-2']);
  });

  test('replaces no stuck pod while another is going', () => {
    const play = rolledTo(1);
    play.put(1, 'B', 'crashing').put(2, 'B', 'terminating').change('C');
    assert.deepEqual(play.settle(), ['partition 1 to 3']);
    assert.deepEqual(play.look(), ['hold AwaitingAvailability']);
    play.put(2, 'A');
    assert.deepEqual(play.settle(), ['delete web-1']);
  });

  test('waits until the newest spec is observed', () => {
    const play = PhasedPlay.rolling();
    play.next('passes');
    play.untilAsked();
    play.isObserved = false;
    assert.deepEqual(play.look(), ['hold RevisionUnknown']);
  });
});

describe('planPhasedRollout() when others interfere', () => {
  test('[phased 55] keeps the partition when the set grows', () => {
    const play = rolledTo(2);
    if (play.set !== undefined) play.set.replicas = 5;
    assert.deepEqual(play.settle(), []);
    assert.equal(play.set?.partition, 2);
  });

  test('[phased 56] spends no check on pods that are gone', () => {
    const play = rolledTo(3, 5);
    if (play.set !== undefined) play.set.replicas = 2;
    assert.deepEqual(play.settle(), ['partition 3 to 2']);
  });

  test('[phased 57] is over when the set is scaled to nothing', () => {
    const play = rolledTo(2);
    play.set = { replicas: 0, partition: 2, current: 'B', update: 'B' };
    play.pods.clear();
    assert.deepEqual(play.settle(), ['partition 2 to 0', 'tell RolloutCompleted']);
  });

  test('[phased 60] follows a partition that another client set', () => {
    const play = rolledTo(2);
    if (play.set !== undefined) play.set.partition = 0;
    assert.deepEqual(play.settle(), ['tell GateBypassed']);
    if (play.set !== undefined) play.set.partition = 3;
    play.settle();
    assert.equal(play.status.step?.partition, 3);
  });

  test('[phased 61] forgets the rollout of a set that is recreated', () => {
    const play = rolledTo(2);
    play.set = undefined;
    play.settle();
    play.set = { replicas: 3, partition: 0, current: 'C', update: 'C' };
    play.uid = 'other-uid';
    for (const ordinal of [0, 1, 2]) play.put(ordinal, 'C');
    assert.deepEqual(play.settle(), ['partition 0 to 3']);
    assert.equal(play.status.phase, 'Updated');
    assert.equal(play.status.rolloutEnd, undefined);
  });

  test('[phased 64] only watches an update that is under way at partition 0', () => {
    const play = new PhasedPlay();
    play.put(2, 'B').change('B');
    assert.deepEqual(play.settle(), ['tell RolloutStarted']);
    assert.equal(play.isAsked, false);
    play.controller().settle();
    assert.equal(play.set?.partition, 3);
  });

  test('holds of a budget and of a predecessor keep the next pod, and not the checks', () => {
    for (const kind of ['view', 'budget'] as const) {
      const play = PhasedPlay.rolling();
      play.holds = [{ kind, because: { reason: 'BudgetRefused', message: 'no' } }];
      play.next('passes');
      play.next('passes');
      assert.deepEqual(play.look(), ['hold BudgetRefused']);
      play.holds = [];
      assert.deepEqual(play.settle(), ['partition 3 to 2']);
    }
  });
});

describe('planPhasedRollout() in a new process', () => {
  test('[phased 62] a delay that went on meanwhile is over', () => {
    const play = PhasedPlay.rolling();
    play.pass(4_000).settle();
    play.pass(60_000).restart().settle();
    assert.equal(play.isAsked, true);
  });

  test('[phased 63] a partition that was lowered last is not lowered again', () => {
    const play = PhasedPlay.rolling();
    play.next('passes');
    play.untilAsked();
    play.answer('passes').look();
    play.look();
    assert.equal(play.set?.partition, 2);
    assert.equal(play.status.step?.partition, 3);
    play.restart().settle();
    assert.deepEqual(play.partitions, [2]);
    assert.equal(play.status.step?.partition, 2);
  });
});
