/** What comes of a failure budget that is spent. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PhasedPlay } from '#support/rollouts/phased-play.ts';
import type { FailureBudget } from '../api.ts';

/** A rollout to B that waits at partition 3, its analysis begun. */
function rollingWith(failureBudget: FailureBudget): PhasedPlay {
  const play = PhasedPlay.rolling();
  play.spec = { ...play.spec, failureBudget };
  return play;
}

/** The same with db-2 on B, after its checks. */
function oneGone(failureBudget: FailureBudget): PhasedPlay {
  const play = rollingWith(failureBudget);
  play.next('passes');
  play.next('passes');
  play.put(2, 'B').settle();
  return play;
}

function updated(play: PhasedPlay): string {
  const { Updated } = play.plan().conditions;
  return `${Updated?.status} ${Updated?.because.reason}`;
}

describe('planPhasedRollout() with a failure budget', () => {
  test('pauses with the last failing check on end that it allows', () => {
    const play = rollingWith({ consecutiveFailures: 2, onFailure: 'Pause' });
    for (const verdict of ['fails', 'passes', 'fails'] as const) play.next(verdict);
    assert.equal(play.status.step?.status, 'WaitForChecks');
    play.next('fails');
    assert.equal(play.status.step?.status, 'Paused');
    play.pass(3_600_000);
    assert.deepEqual(play.look(), ['hold CheckFailed']);
    assert.equal(play.isAsked, false);
    assert.deepEqual(play.partitions, []);
  });

  test('pauses with the last failing check in all that it allows, and not with errors', () => {
    const play = rollingWith({ totalFailures: 2, onFailure: 'Pause' });
    for (const verdict of ['fails', 'unknown', 'unknown', 'passes'] as const) play.next(verdict);
    assert.equal(play.status.step?.status, 'WaitForChecks');
    play.next('fails');
    assert.equal(play.status.step?.status, 'Paused');
  });

  test('says in the condition what was answered last, and what ends the pause', () => {
    const play = rollingWith({ consecutiveFailures: 1, onFailure: 'Pause' });
    play.untilAsked();
    play.answer('fails');
    const { Updated } = play.plan().conditions;
    assert.equal(Updated?.status, 'False');
    assert.equal(Updated.because.reason, 'CheckFailed');
    assert.match(Updated.because.message, /1 checks in a row have failed before web-2 may run B/);
    assert.match(Updated.because.message, /the last answer: fails/);
    assert.match(Updated.because.message, /template or spec\.check\.failureBudget/);
  });

  test('stays paused after a restart, and goes on once the budget is raised', () => {
    const play = rollingWith({ consecutiveFailures: 1, onFailure: 'Pause' });
    play.next('fails');
    play.restart().settle();
    assert.equal(play.status.step?.status, 'Paused');
    play.spec = { ...play.spec, failureBudget: { consecutiveFailures: 3, onFailure: 'Pause' } };
    play.next('passes');
    assert.equal(play.status.step?.status, 'WaitForChecks');
    assert.deepEqual(play.next('passes'), ['partition 3 to 2']);
  });

  test('begins again where another template comes', () => {
    const play = oneGone({ consecutiveFailures: 1, onFailure: 'Pause' });
    play.next('fails');
    assert.deepEqual(play.change('C').settle(), ['partition 2 to 3']);
    assert.equal(play.status.step?.status, 'WaitForInitialDelay');
    assert.equal(play.status.step?.totalFailures, 0);
  });

  test('counts the failures of each step for itself', () => {
    const play = rollingWith({ totalFailures: 2, onFailure: 'Pause' });
    for (const verdict of ['fails', 'passes', 'passes'] as const) play.next(verdict);
    play.put(2, 'B').settle();
    for (const verdict of ['fails', 'passes', 'passes'] as const) play.next(verdict);
    assert.deepEqual(play.partitions, [2, 1]);
  });
});

describe('planPhasedRollout() rolls back', () => {
  const failureBudget = { consecutiveFailures: 1, onFailure: 'Rollback' } as const;

  test('first blocks every pod, then replaces those of the new revision one by one', () => {
    const play = rollingWith(failureBudget);
    for (const ordinal of [2, 1]) {
      play.next('passes');
      play.next('passes');
      play.put(ordinal, 'B').settle();
    }
    play.next('fails');
    assert.equal(play.set?.partition, 3);
    assert.equal(play.pods.has(2), false);
    assert.deepEqual(play.look(), ['hold AwaitingAvailability']);
    play.put(2, 'A', 'not-ready');
    assert.deepEqual(play.look(), ['hold AwaitingAvailability']);
    play.put(2, 'A');
    assert.deepEqual(play.look(), ['delete web-1']);
    play.put(1, 'A').settle();
    assert.equal(play.status.step?.status, 'RolledBack');
    assert.deepEqual(play.look(), ['hold RolledBack']);
    assert.equal(play.status.phase, 'Rolling');
  });

  test('replaces a pod that is not ready before those that are', () => {
    const play = oneGone(failureBudget);
    play.next('passes');
    play.next('passes');
    play.put(1, 'B').settle();
    play.untilAsked();
    play.put(1, 'B', 'not-ready').answer('fails').settle();
    assert.deepEqual([...play.pods.keys()], [0, 2]);
  });

  test('begins where a pod of the new revision is stuck, and not where one of the former is', () => {
    for (const [ordinal, revision, want] of [
      [2, 'B', 'RollingBack'],
      [0, 'A', 'WaitForAllPodsToBeAvailable'],
    ] as const) {
      const play = rollingWith(failureBudget);
      play.next('passes');
      play.next('passes');
      play.put(2, 'B').put(ordinal, revision, 'crashing');
      for (let look = 0; look < 3; look += 1) play.look();
      assert.equal(play.status.step?.status, want);
    }
  });

  test('keeps a stuck pod where the user wants a pause', () => {
    const play = rollingWith({ consecutiveFailures: 1, onFailure: 'Pause' });
    play.next('passes');
    play.next('passes');
    play.put(2, 'B', 'crashing').settle();
    assert.deepEqual(play.look(), ['hold StuckPodKept']);
  });

  test('takes no pod while one of the former revision is away', () => {
    const play = oneGone(failureBudget);
    play.untilAsked();
    play.put(0, 'A', 'not-ready').answer('fails').settle();
    assert.equal(play.set?.partition, 3);
    assert.deepEqual([...play.pods.keys()], [0, 1, 2]);
    assert.deepEqual(play.look(), ['hold AwaitingAvailability']);
  });

  test('waits for a deletion that is under way', () => {
    const play = oneGone(failureBudget);
    play.untilAsked();
    play.put(2, 'B', 'terminating').answer('fails').settle();
    assert.deepEqual(play.look(), ['hold AwaitingAvailability']);
  });

  test('takes no pod of which it is not known what comes after it', () => {
    const play = oneGone(failureBudget);
    play.untilAsked();
    play.answer('fails').look();
    assert.equal(play.status.step?.status, 'RollingBack');
    play.isObserved = false;
    play.settle();
    assert.deepEqual([...play.pods.keys()], [0, 1, 2]);
    assert.deepEqual(play.look(), ['hold RevisionUnknown']);
    play.isObserved = true;
    assert.deepEqual(play.look(), ['delete web-2']);
  });

  test('takes no pod while a budget refuses', () => {
    const play = oneGone(failureBudget);
    play.untilAsked();
    const because = { reason: 'BudgetRefused', message: 'another zone' } as const;
    play.holds = [{ kind: 'budget', because }];
    play.answer('fails').settle();
    assert.equal(play.set?.partition, 3);
    assert.deepEqual(play.look(), ['hold BudgetRefused']);
  });

  test('does not begin the same revision anew, whatever time passes and whichever replica leads', () => {
    const play = oneGone(failureBudget);
    play.next('fails');
    play.put(2, 'A').settle();
    play.restart().pass(3_600_000).settle();
    assert.equal(play.status.step?.status, 'RolledBack');
    assert.equal(play.set?.partition, 3);
    assert.equal(play.isAsked, false);
  });

  test('rolls out the next revision with all its checks', () => {
    const play = oneGone(failureBudget);
    play.next('fails');
    play.put(2, 'A').settle();
    play.partitions.length = 0;
    play.change('C').settle();
    assert.equal(play.status.step?.status, 'WaitForInitialDelay');
    play.next('passes');
    assert.deepEqual(play.next('passes'), ['partition 3 to 2']);
  });

  test('ends as usual where the template is taken back meanwhile', () => {
    const play = oneGone(failureBudget);
    play.next('fails');
    play.change('A').put(2, 'A').settle();
    assert.equal(play.status.phase, 'Updated');
    assert.equal(play.status.step, undefined);
    assert.equal(updated(play), 'True Updated');
  });

  test('takes back pods that a larger set gets meanwhile', () => {
    const play = oneGone(failureBudget);
    play.next('fails');
    play.put(2, 'A').settle();
    if (play.set !== undefined) play.set.replicas = 4;
    play.put(3, 'B');
    assert.deepEqual(play.settle(), ['partition 3 to 4', 'delete web-3']);
  });
});
