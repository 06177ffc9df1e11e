/** A rollout that nothing disturbs, and its times. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PhasedPlay } from '#support/rollouts/phased-play.ts';

/** Lets the check of the present step pass. */
function passStep(play: PhasedPlay): void {
  play.next('passes');
  play.next('passes');
}

describe('planPhasedRollout() rolls out', () => {
  test('[phased 21] begins with an analysis before any pod is let go', () => {
    const play = PhasedPlay.steady();
    play.change('B');
    assert.deepEqual(play.look(), ['tell RolloutStarted']);
    assert.equal(play.status.updateRevision, 'B');
    assert.equal(play.status.rolloutStart, play.now);
    assert.equal(play.status.rolloutEnd, undefined);
    const steps: unknown[] = [];
    for (let look = 0; look < 3; look += 1) {
      play.look();
      steps.push([play.status.step?.partition, play.status.step?.status]);
    }
    assert.deepEqual(steps, [
      [3, 'WaitForPodToBeUpdated'],
      [3, 'WaitForAllPodsToBeAvailable'],
      [3, 'WaitForInitialDelay'],
    ]);
    assert.equal(play.status.step?.analysisStart, play.now);
    assert.deepEqual(play.partitions, []);
  });

  test('[found R-6] lets no pod go for a revision whose name is longer than a label may be', () => {
    const play = PhasedPlay.steady();
    play.change('B'.repeat(64)).settle();
    for (let check = 0; check < 4; check += 1) play.pass(60_000).settle();
    assert.deepEqual(play.look(), ['hold RevisionUnusable']);
    assert.equal(play.isAsked, false);
    assert.deepEqual(play.partitions, []);
    play.change('B'.repeat(63)).settle();
    passStep(play);
    assert.deepEqual(play.partitions, [2]);
  });

  const bypasses: Readonly<
    Record<string, readonly [to: number, events: readonly string[], status: number | undefined]>
  > = {
    'all pods': [0, ['GateBypassed'], 4],
    'some pods': [2, ['GateBypassed'], 4],
    'one pod, as a step does': [3, [], undefined],
  };

  for (const [what, [to, events, status]] of Object.entries(bypasses)) {
    test(`[found S-8] tells that another client let go ${what}`, () => {
      const play = PhasedPlay.rolling(4);
      play.events.length = 0;
      play.writers = { partition: 'kubectl-patch' };
      if (play.set !== undefined) play.set.partition = to;
      play.settle();
      assert.deepEqual(play.events, events);
      assert.equal(play.status.step?.bypassedPartition, status);
      assert.deepEqual(play.partitions, []);
    });
  }

  test('[found S-8] names pods and writer, and says so until the rollout is over', () => {
    const play = PhasedPlay.rolling(4);
    play.writers = { partition: 'kubectl-patch' };
    if (play.set !== undefined) play.set.partition = 0;
    const plan = play.plan();
    const message =
      'The partition of web went from 4 to 0, which "kubectl-patch" has written: web-0 to web-3 may run B without a check. It is not taken back';
    const because = { reason: 'GateBypassed', message };
    assert.deepEqual(plan.decisions, [{ kind: 'tell', type: 'Warning', because }]);
    assert.deepEqual(plan.conditions.Updated, { status: 'False', because });
    play.settle();
    assert.deepEqual(play.look(), ['hold GateBypassed']);
    play.restart().controller().settle();
    assert.equal(play.status.phase, 'Updated');
    assert.equal(play.status.step, undefined);
  });

  test("[found S-8] names who wrote the set last where the partition is nobody's any more", () => {
    const play = PhasedPlay.rolling(4);
    play.writers = { newest: 'kubectl-client-side-apply' };
    if (play.set !== undefined) play.set.partition = 2;
    assert.deepEqual(
      play.plan().decisions.map(({ because }) => because.message),
      [
        'The partition of web went from 4 to 2, as another client has written, or taken rollingUpdate out; "kubectl-client-side-apply" wrote the set last: ' +
          'web-2 to web-3 may run B without a check. It is not taken back',
      ],
    );
  });

  test('[found S-8] tells of no client where the set has fewer replicas', () => {
    const play = PhasedPlay.rolling(4);
    play.events.length = 0;
    if (play.set !== undefined) play.set.replicas = 2;
    play.settle();
    assert.deepEqual(play.events, []);
    assert.deepEqual(play.partitions, [2]);
  });

  test('[phased 22] asks first once the initial delay is over', () => {
    const play = PhasedPlay.rolling();
    play.pass(9_000).settle();
    assert.equal(play.isAsked, false);
    play.pass(1_001).settle();
    assert.equal(play.isAsked, true);
    assert.equal(play.status.step?.status, 'WaitForChecks');
  });

  test('[phased 23] asks again after the period, and lets go at the last pass', () => {
    const play = PhasedPlay.rolling();
    play.next('passes');
    play.pass(4_000).settle();
    assert.equal(play.isAsked, false);
    play.pass(1_001).settle();
    assert.equal(play.isAsked, true);
    assert.deepEqual(play.answer('passes').settle(), ['partition 3 to 2']);
  });

  test('[phased 24, 25] looks each 30 s for the pod that was let go', () => {
    const play = PhasedPlay.rolling();
    passStep(play);
    for (const revision of ['A', undefined]) {
      play.put(2, revision).settle();
      assert.equal(play.status.step?.status, 'WaitForPodToBeUpdated');
      assert.deepEqual(play.plan().requeue, { kind: 'at', at: play.wall + 30_000 });
    }
    play.pods.delete(2);
    assert.deepEqual(play.plan().requeue, { kind: 'at', at: play.wall + 30_000 });
    const { step } = play.status;
    assert.deepEqual(
      [step?.partition, step?.consecutiveSuccesses, step?.lastCheck],
      [2, 0, undefined],
    );
    play.put(2, 'B').look();
    assert.equal(play.status.step?.status, 'WaitForAllPodsToBeAvailable');
  });

  test('[phased 26] waits until all pods are available, and the delay counts from then', () => {
    const play = PhasedPlay.steady();
    play.put(0, 'A', 'not-ready').change('B').settle();
    assert.equal(play.status.step?.status, 'WaitForAllPodsToBeAvailable');
    assert.equal(play.plan().requeue.kind, 'await-change');
    play.pass(60_000).put(0, 'A').settle();
    assert.equal(play.status.step?.status, 'WaitForInitialDelay');
    assert.equal(play.isAsked, false);
    assert.ok(play.untilAsked() >= 10);
  });

  test('a pod that is going is not available', () => {
    const play = PhasedPlay.steady();
    play.put(0, 'A', 'terminating').change('B').settle();
    assert.equal(play.status.step?.status, 'WaitForAllPodsToBeAvailable');
  });

  test('[phased 27, 28, 29] goes down one by one, with no check after the last pod', () => {
    const play = PhasedPlay.rolling();
    for (let left = 3; left > 0; left -= 1) {
      passStep(play);
      if (left > 1) play.controller();
    }
    assert.deepEqual(play.partitions, [2, 1, 0]);
    assert.equal(play.asks.length, 6);
    assert.deepEqual(play.look(), ['hold AwaitingPromotion']);
    assert.deepEqual([play.status.step?.partition, play.status.step?.status], [1, 'WaitForChecks']);
    play.controller();
    assert.deepEqual(play.settle(), ['partition 0 to 3', 'tell RolloutCompleted']);
    assert.equal(play.status.phase, 'Updated');
    assert.equal(play.status.step, undefined);
    assert.equal(play.status.updateRevision, 'B');
    assert.ok(play.status.rolloutEnd !== undefined);
  });

  test('[phased 30] takes one analysis for one pod', () => {
    const play = PhasedPlay.rolling(1);
    passStep(play);
    assert.deepEqual(play.partitions, [0]);
    play.controller().settle();
    assert.equal(play.status.phase, 'Updated');
  });

  test('[phased 33, 34] lets go against the set that was seen only, and once', () => {
    const play = PhasedPlay.rolling();
    play.next('passes');
    play.untilAsked();
    play.answer('passes').look();
    const [decision] = play.plan().decisions;
    assert.equal(decision?.kind === 'set-partition' && decision.revision, '1');
    assert.deepEqual(play.plan().decisions, play.plan().decisions);
    play.look();
    assert.deepEqual(play.settle(), []);
    assert.deepEqual(play.partitions, [2]);
  });

  test('[phased 65] knows a set whose ordinals begin elsewhere', () => {
    const play = PhasedPlay.steady(0);
    if (play.set !== undefined) play.set.replicas = 3;
    play.ordinalsStart = 5;
    play.put(5, 'A').put(6, 'A').put(7, 'A').settle();
    play.change('B').settle();
    passStep(play);
    assert.equal(play.status.step?.status, 'WaitForPodToBeUpdated');
    play.put(7, 'B').settle();
    assert.equal(play.status.step?.status, 'WaitForInitialDelay');
  });
});

describe('planPhasedRollout() counts answers', () => {
  test('[phased 36] a failure takes the passes before it', () => {
    const play = PhasedPlay.rolling();
    for (const verdict of ['passes', 'fails', 'passes'] as const) play.next(verdict);
    assert.deepEqual(play.partitions, []);
    assert.equal(play.status.step?.totalFailures, 1);
    play.next('passes');
    assert.deepEqual(play.partitions, [2]);
  });

  test('[phased 37] no data never lets go', () => {
    const play = PhasedPlay.rolling();
    play.events.length = 0;
    for (let count = 0; count < 4; count += 1) play.next('fails');
    const { step } = play.status;
    assert.deepEqual([step?.consecutiveFailures, step?.totalFailures], [4, 4]);
    assert.deepEqual([play.partitions, play.events], [[], []]);
  });

  test('[phased 38] an error keeps the passes before it', () => {
    const play = PhasedPlay.rolling();
    play.next('passes');
    play.next('unknown');
    assert.equal(play.status.step?.status, 'PrometheusError');
    play.next('passes');
    assert.deepEqual(play.partitions, [2]);
  });

  test('[phased 39, 40] an outage is asked about each 30 s, and counts for nothing', () => {
    const play = PhasedPlay.rolling();
    play.events.length = 0;
    play.next('unknown');
    assert.equal(play.status.step?.lastCheck, undefined);
    assert.ok(play.untilAsked() >= 30);
    play.answer('fails').settle();
    assert.equal(play.status.step?.status, 'WaitForChecks');
    assert.equal(play.status.step?.totalFailures, 1);
    assert.deepEqual(play.events, []);
  });

  test('[phased 47] a Secret that is missing is reported once, and asked about when it is there', () => {
    const play = PhasedPlay.rolling();
    play.problem = { reason: 'PrometheusConfigError', message: 'There is no Secret s' };
    play.pass(10_001);
    assert.deepEqual(play.settle(), ['tell PrometheusConfigError']);
    assert.deepEqual(play.settle(), []);
    assert.equal(play.plan().requeue.kind, 'await-change');
    play.problem = undefined;
    assert.deepEqual(play.settle(), ['ask']);
  });

  test('[phased 32] a threshold that is lowered counts at once', () => {
    const play = PhasedPlay.rolling();
    play.spec = { ...play.spec, successThreshold: 5 };
    for (let count = 0; count < 3; count += 1) play.next('passes');
    play.spec = { ...play.spec, successThreshold: 2 };
    assert.deepEqual(play.settle(), ['partition 3 to 2']);
  });
});
