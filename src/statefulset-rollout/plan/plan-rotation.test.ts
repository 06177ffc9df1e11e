/** Which pods a StatefulsetRollout lets go, how many, and when; played by hand. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assert as check, integer, property, record } from 'fast-check';
import { after, instant, seconds } from '#base/units.ts';
import { budgetOf } from '#support/rollouts/played-cluster.ts';
import { RolloutPlay } from '#support/rollouts/rollout-play.ts';

/** A settled play of ten pods on v1 that is to roll v2 out. */
function rolling(percent = 100): RolloutPlay {
  return RolloutPlay.settled().edit({ percent }).want('v2');
}

function evictions(play: RolloutPlay): readonly string[] {
  return play.done.filter((each) => !each.startsWith('update-set'));
}

describe('parallelism', () => {
  test('is what the budget says, and the window slides as soon as one pod is healthy [T-29]', () => {
    const play = rolling();
    play.rest();
    play.settle('not-ready').put(9, { state: 'ready' });
    assert.equal(play.rest(), 'WaitingForReady AwaitingPods');
    assert.deepEqual(evictions(play), ['evict 9 8', 'evict 7']);
    play.run();
    assert.equal(play.mostAway, 2);
  });

  test('of 1,000 pods and a tenth is a hundred, the highest, at once [T-31]', () => {
    const play = new RolloutPlay();
    play.spec = { ...play.spec, set: { ...play.spec.set, replicas: 1_000 } };
    play.budgets = [{ ...budgetOf(0), maxUnavailable: '10%' }];
    play.allowed = 1_000;
    play.run();
    play.done.length = 0;
    play.want('v2').rest();
    const first = play.done.find((each) => each.startsWith('evict')) ?? '';
    const want = Array.from({ length: 100 }, (_, index) => 999 - index);
    assert.equal(first, `evict ${want.join(' ')}`);
  });

  test('is one by one without a budget [T-32]', () => {
    const play = rolling();
    play.budgets = [];
    play.run();
    assert.equal(play.mostAway, 1);
  });

  test('is none by two budgets, which are named, until the deadline [T-33]', () => {
    const play = rolling();
    play.budgets = [budgetOf(2, 'one'), budgetOf(2, 'two')];
    assert.equal(play.rest(), 'RollingOut MultipleBudgets');
    assert.match(play.plan().because?.message ?? '', /one and two/);
    play.time += 1_800_001;
    play.rest();
    assert.match(play.progress.outcome?.message ?? '', /MultipleBudgets/);
    assert.deepEqual(evictions(play), []);
  });

  test('is none while the server allows none, and one when it allows one [T-34]', () => {
    const play = rolling();
    play.allowed = 0;
    assert.equal(play.rest(), 'RollingOut PDBBlocked');
    assert.deepEqual(evictions(play), []);
    play.allowed = 1;
    play.look();
    assert.deepEqual(evictions(play), ['evict 9']);
  });

  test('waits while the status of the budget describes an older version of it [T-36]', () => {
    const play = rolling();
    play.rest();
    play.settle();
    play.budgets = [];
    play.budgets.push({ ...budgetOf(2) });
    const snapshot = play.snapshot();
    const budgets = [budgetOf(2)];
    const plan = play.planOf({ ...snapshot, budgets });
    assert.equal(plan.because?.reason, 'AwaitingBudgetStatus');
    assert.equal(plan.action, undefined);
  });

  test('counts a pod that another client deleted as away [T-49]', () => {
    const play = rolling();
    play.rest();
    play.settle();
    play.put(0, { state: 'terminating' });
    play.rest();
    assert.deepEqual(evictions(play), ['evict 9 8', 'evict 7']);
    play.run();
    assert.equal(play.on('v2').length, 10);
  });
});

describe('a pod that cannot become ready by itself', () => {
  test('goes first although no slot is free [T-39]', () => {
    const play = rolling();
    play.put(2, { state: 'crashing' }).put(1, { state: 'not-ready' });
    play.rest();
    assert.deepEqual(evictions(play), ['evict 2']);
  });

  test('goes with as few of its like as may be away at once', () => {
    const play = rolling();
    for (const ordinal of [0, 1, 2, 3]) play.put(ordinal, { state: 'crashing' });
    play.rest();
    assert.deepEqual(evictions(play), ['evict 3 2']);
  });

  test('goes with all others where nothing is left to lose', () => {
    const play = rolling();
    for (const ordinal of play.pods.keys()) play.put(ordinal, { state: 'crashing' });
    play.rest();
    assert.deepEqual(evictions(play), ['evict 9 8 7 6 5 4 3 2 1 0']);
  });

  test('does not go by a budget that lets none go', () => {
    const play = rolling();
    play.budgets = [budgetOf(0)];
    play.put(2, { state: 'crashing' });
    assert.equal(play.rest(), 'RollingOut AwaitingPods');
    assert.deepEqual(evictions(play), []);
  });

  test('is waited for where it may yet become ready [D-48]', () => {
    const play = rolling();
    play.put(2, { state: 'not-ready' }).put(1, { state: 'not-ready' });
    assert.equal(play.rest(), 'RollingOut AwaitingPods');
    assert.deepEqual(evictions(play), []);
  });

  test('of a version that is taken back is evicted where that is wanted', () => {
    const play = rolling().edit({ unreadyPodsOfRollback: 'Evict' });
    play.rest();
    play.settle('crashing');
    play.want('v1');
    play.rest();
    assert.deepEqual(evictions(play), ['evict 9 8', 'evict 9 8']);
  });
});

describe('an interval', () => {
  test('lets one pod go at a time, though more slots are free, and the next when it is over [T-40]', () => {
    const play = rolling().edit({ evictionInterval: seconds(10) });
    play.budgets = [budgetOf(5)];
    assert.equal(play.rest(), 'WaitingForReady AwaitingInterval');
    play.time += 9_999;
    play.rest();
    assert.deepEqual(evictions(play), ['evict 9']);
    play.time += 1;
    play.rest();
    assert.deepEqual(evictions(play), ['evict 9', 'evict 8']);
  });

  test('is over at a moment that the plan names', () => {
    const play = rolling().edit({ evictionInterval: seconds(10) });
    play.rest();
    assert.deepEqual(play.plan().requeue, { kind: 'at', at: after(play.now, seconds(10)) });
  });

  test('of a clock that went back counts as beginning now', () => {
    const play = rolling().edit({ evictionInterval: seconds(10) });
    play.rest();
    play.settle();
    play.progress = { ...play.progress, lastEviction: after(play.now, seconds(3_600)) };
    assert.deepEqual(play.plan().requeue, { kind: 'at', at: after(play.now, seconds(10)) });
  });

  test('of a rollback is its own [A-41]', () => {
    const play = rolling().edit({ evictionInterval: seconds(10) });
    play.run();
    play.done.length = 0;
    play.want('v1');
    play.rest();
    assert.deepEqual(evictions(play), ['evict 9 8']);
  });
});

describe('a refusal', () => {
  test('is waited out, and reported in the words of the API server [T-35]', () => {
    const play = rolling();
    play.rest();
    play.settle();
    const until = after(play.now, seconds(20));
    play.refusal = { reason: 'PDBBlocked', message: 'Cannot evict pod', until };
    assert.equal(play.rest(), 'WaitingForReady PDBBlocked');
    const sent = evictions(play).length;
    play.time += 19_999;
    play.rest();
    assert.equal(evictions(play).length, sent);
    play.refusal = undefined;
    play.time += 1;
    play.rest();
    assert.equal(evictions(play).length, sent + 1);
  });

  const refusalText = 'Cannot evict Pod "ns/web-9": it would violate the budget';
  const advice =
    `PDBBlocked: ${refusalText}; web-9, web-8 cannot become ready, and PodDisruptionBudget web keeps pods that are not ready, too, ` +
    'while fewer are ready than it wants: set its spec.unhealthyPodEvictionPolicy to AlwaysAllow to let them go';
  const told: Readonly<
    Record<string, readonly [broken: number, evictsUnready: boolean, want: string]>
  > = {
    'names the broken pods that the budget keeps, and the policy that lets them go': [
      2,
      false,
      advice,
    ],
    'is told as it is where the budget has that policy': [2, true, `PDBBlocked: ${refusalText}`],
    'is told as it is where no pod is broken': [0, false, `PDBBlocked: ${refusalText}`],
  };

  for (const [what, [broken, evictsUnready, want]] of Object.entries(told)) {
    test(`[found R-9] ${what}`, () => {
      const play = RolloutPlay.settled();
      play.budgets = [{ ...budgetOf(1), evictsUnready }];
      for (const ordinal of [9, 8].slice(0, broken)) play.put(ordinal, { state: 'crashing' });
      play.want('v2');
      const until = after(play.now, seconds(20));
      play.refusal = { reason: 'PDBBlocked', message: refusalText, until };
      play.rest();
      const { because } = play.plan();
      assert.equal(`${because?.reason}: ${because?.message}`, want);
    });
  }

  test('is no progress, so that a rollout ends that is refused for ever', () => {
    const play = rolling();
    for (let at = 0; at < 100 && !play.rest().startsWith('RolloutFailed'); at += 1) {
      const until = after(play.now, seconds(60));
      play.refusal = { reason: 'PDBBlocked', message: 'Cannot evict pod', until };
      play.time += 60_000;
    }
    assert.equal(play.progress.phase, 'RolloutFailed');
    assert.equal(play.progress.outcome?.code, 'ProgressDeadlineExceeded');
  });
});

describe('service discovery', () => {
  test('holds the next pods while it does not pass those that came, which count as away [T-79]', () => {
    const play = rolling();
    play.discovery = 'on';
    play.rest();
    play.settle();
    play.put(9, { isDiscovered: false }).put(8, { isDiscovered: false });
    assert.equal(play.rest(), 'WaitingForServiceDiscovery AwaitingServiceDiscovery');
    assert.deepEqual(evictions(play), ['evict 9 8']);
    play.put(9, { isDiscovered: true });
    play.rest();
    assert.deepEqual(evictions(play), ['evict 9 8', 'evict 7']);
  });

  test('is waited for at the end', () => {
    const play = rolling(20);
    play.discovery = 'on';
    play.rest();
    play.settle();
    play.put(8, { isDiscovered: false });
    assert.equal(play.rest(), 'WaitingForServiceDiscovery AwaitingServiceDiscovery');
    play.put(8, { isDiscovered: true });
    assert.equal(play.rest(), 'RolloutDone RolloutDone');
  });

  test('that cannot be asked lets no pod go, and fails the rollout in the end [T-83]', () => {
    const play = rolling();
    play.discovery = { kind: 'unknown', code: 'ConsulUnavailable', message: 'it does not answer' };
    assert.equal(play.rest(), 'RollingOut ConsulUnavailable');
    play.time += 1_800_001;
    play.rest();
    assert.match(play.progress.outcome?.message ?? '', /ConsulUnavailable: it does not answer/);
    assert.deepEqual(evictions(play), []);
  });

  test('that cannot be asked ends no rollout well [T-83]', () => {
    const play = rolling(20);
    play.discovery = 'on';
    play.rest();
    play.settle();
    play.put(8, { isDiscovered: false });
    play.rest();
    play.discovery = { kind: 'unknown', code: 'ConsulUnavailable', message: 'it does not answer' };
    assert.equal(play.rest(), 'WaitingForServiceDiscovery ConsulUnavailable');
    assert.equal(play.progress.percentDeployed, 10);
    play.discovery = { kind: 'awaited' };
    assert.equal(play.rest(), 'WaitingForServiceDiscovery AwaitingServiceDiscovery');
    play.discovery = { kind: 'ignored', code: 'ConsulUnavailable', message: 'it does not answer' };
    assert.equal(play.rest(), 'RolloutDone RolloutDone');
  });

  test('lets no pod go before its first answer', () => {
    const play = rolling();
    play.discovery = { kind: 'awaited' };
    assert.equal(play.rest(), 'RollingOut AwaitingServiceDiscovery');
    assert.deepEqual(evictions(play), []);
  });

  test('is remembered by the services that it knew, until another rollout begins [T-82]', () => {
    const play = rolling();
    play.discovery = { kind: 'known', passing: new Set(), services: ['web', 'api'] };
    play.rest();
    play.discovery = { kind: 'known', passing: new Set(), services: [] };
    play.rest();
    assert.deepEqual([...play.progress.discovered], ['web', 'api']);
    play.edit({ identity: 'again' });
    play.discovery = 'off';
    play.rest();
    assert.deepEqual([...play.progress.discovered], []);
  });

  test('of pods that were never rotated is not asked', () => {
    const play = rolling();
    play.progress = { ...play.progress, rotated: new Set() };
    play.discovery = 'on';
    play.put(0, { isDiscovered: false }).put(1, { isDiscovered: false });
    play.rest();
    assert.deepEqual(evictions(play), ['evict 9 8']);
  });
});

test('what forbids any disruption forbids evictions, and is reported', () => {
  const play = rolling();
  const until = instant(play.now + 120_000);
  const because = { reason: 'AwaitingPredecessor', message: 'waiting' } as const;
  play.holds = [{ until, because }];
  assert.equal(play.rest(), 'RollingOut AwaitingPredecessor');
  assert.deepEqual(evictions(play), []);
  assert.deepEqual(play.plan().requeue, { kind: 'at', at: until });
});

test('whatever the numbers are, all pods go once, never more at a time than the budget says', () => {
  check(
    property(
      record({ percent: integer({ min: 0, max: 100 }), budget: integer({ min: 1, max: 12 }) }),
      ({ percent, budget }) => {
        const play = rolling(percent);
        play.budgets = [budgetOf(budget)];
        assert.equal(play.run(), 'RolloutDone RolloutDone');
        assert.ok(play.mostAway <= budget);
        assert.ok([...play.evicted.values()].every((count) => count === 1));
        const highest = Array.from({ length: play.on('v2').length }, (_, at) => 9 - at);
        assert.deepEqual(play.on('v2'), highest);
      },
    ),
    { numRuns: 60 },
  );
});
