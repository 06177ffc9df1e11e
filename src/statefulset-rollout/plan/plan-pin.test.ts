/** What a StatefulsetRollout does that pins the pods which it has not reached; played by hand. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assert as check, integer, property, record } from 'fast-check';
import { after, instant, seconds } from '#base/units.ts';
import { budgetOf } from '#support/rollouts/played-cluster.ts';
import { RolloutPlay } from '#support/rollouts/rollout-play.ts';
import { supportOf } from '../statefulset/server-version.ts';

/** A settled play of ten pods on v1 that pins them. */
function pinned(): RolloutPlay {
  const play = RolloutPlay.settled().edit({ leakPolicy: 'Pin' });
  play.run();
  play.done.length = 0;
  return play;
}

/** The same, that is to roll v2 out at `percent`. */
function rolling(percent = 100): RolloutPlay {
  return pinned().edit({ percent }).want('v2');
}

/** Ended at `percent` on v2. */
function ended(percent: number): RolloutPlay {
  const play = rolling(percent);
  assert.equal(play.run(), 'RolloutDone RolloutDone');
  play.done.length = 0;
  return play;
}

/** The pod is lost, and the controller has made it again, which is ready. */
function lose(play: RolloutPlay, ordinal: number): void {
  play.put(ordinal, { state: 'terminating' }).settle();
}

describe('pinning is switched on', () => {
  test('where all pods run one version and are ready: open until it is the current one, then closed [B-96]', () => {
    const play = RolloutPlay.settled().edit({ leakPolicy: 'Pin' });
    assert.equal(play.run(), 'RolloutDone RolloutDone');
    assert.deepEqual(play.done, ['partition 0', 'partition 10']);
    assert.equal(play.progress.partition, 10);
  });

  test('at the end of the rollout that makes the set', () => {
    const play = new RolloutPlay().edit({ leakPolicy: 'Pin', percent: 25 });
    assert.equal(play.run(), 'RolloutDone RolloutDone');
    assert.deepEqual(play.done, ['create-set v1 10', 'partition 0', 'partition 10']);
  });

  test('at the end of the next complete rollout where versions were mixed [T-67]', () => {
    const play = RolloutPlay.settled().edit({ percent: 50 }).want('v2');
    play.run();
    play.edit({ leakPolicy: 'Pin' });
    assert.equal(play.run(), 'RolloutDone RolloutDone');
    assert.equal(play.set?.partition, undefined);
    play.done.length = 0;
    play.edit({ percent: 100 });
    assert.equal(play.run(), 'RolloutDone RolloutDone');
    assert.deepEqual(play.done.slice(-2), ['partition 0', 'partition 10']);
  });

  const obstacles: Record<string, (play: RolloutPlay) => void> = {
    'while a pod is not ready': (play) => play.put(3, { state: 'not-ready' }),
    'by a version of the cluster that cannot [T-69]': (play) => {
      play.pinSupport = supportOf('v1.27.4');
    },
    'before the version of the cluster is known': (play) => {
      play.pinSupport = { kind: 'unknown' };
    },
    'while an earlier process may be at work': (play) => {
      const message = 'until later';
      play.holds = [{ because: { reason: 'AwaitingPredecessor', message } }];
    },
    'after a failure': (play) => {
      play.progress = { ...play.progress, phase: 'RolloutFailed' };
    },
  };
  for (const [fact, put] of Object.entries(obstacles)) {
    test(`never ${fact}`, () => {
      const play = RolloutPlay.settled().edit({ leakPolicy: 'Pin' });
      put(play);
      play.rest();
      assert.deepEqual(play.done, []);
      assert.equal(play.progress.partition, undefined);
    });
  }

  test('once no earlier process can be at work any more, at the end too: it is looked at again by then', () => {
    const play = RolloutPlay.settled().edit({ leakPolicy: 'Pin' });
    const until = after(play.now, seconds(120));
    play.holds = [{ until, because: { reason: 'AwaitingPredecessor', message: 'until later' } }];
    assert.equal(play.rest(), 'RolloutDone RolloutDone');
    assert.deepEqual(play.plan().requeue, { kind: 'at', at: until });
    play.holds = [];
    assert.equal(play.run(), 'RolloutDone RolloutDone');
    assert.deepEqual(play.done, ['partition 0', 'partition 10']);
    assert.deepEqual(play.plan().requeue, { kind: 'await-change' });
  });
});

describe('pinning is switched off', () => {
  test('in one write once it is not wanted any more, also at the end', () => {
    const play = ended(50).edit({ leakPolicy: 'Report' });
    play.rest();
    assert.deepEqual(play.done, ['OnDelete']);
    assert.equal(play.progress.partition, undefined);
    lose(play, 2);
    assert.deepEqual(play.on('v2'), [9, 8, 7, 6, 5, 2]);
  });

  test('in the middle, and the rollout goes on', () => {
    const play = rolling();
    play.rest();
    play.edit({ leakPolicy: 'Report' });
    assert.equal(play.run(), 'RolloutDone RolloutDone');
    assert.equal(play.on('v2').length, 10);
    assert.equal(play.mostAway, 2);
  });

  test('never in a pause', () => {
    const play = rolling();
    play.rest();
    play.done.length = 0;
    play.edit({ leakPolicy: 'Report', isPauseRequested: true });
    play.rest();
    assert.deepEqual(play.done, []);
  });

  test('by another client, which is remembered, and undone once all run one version', () => {
    const play = pinned();
    if (play.set !== undefined) play.set.partition = undefined;
    assert.equal(play.run(), 'RolloutDone RolloutDone');
    assert.deepEqual(play.done, ['partition 0', 'partition 10']);
  });
});

describe('a rollout that pins', () => {
  test('writes the template with all pods pinned, and lets each batch go by as much as it is large [T-65]', () => {
    const play = rolling(50);
    assert.equal(play.run(), 'RolloutDone RolloutDone');
    assert.deepEqual(play.done, [
      'update-set v2 10 partition 10',
      'partition 8',
      'evict 9 8',
      'partition 6',
      'evict 7 6',
      'partition 5',
      'evict 5',
    ]);
    assert.deepEqual(play.on('v2'), [9, 8, 7, 6, 5]);
  });

  test('rests closed after 100 percent, open until the revision is the current one [T-66]', () => {
    const play = rolling();
    play.budgets = [budgetOf(5)];
    assert.equal(play.run(), 'RolloutDone RolloutDone');
    assert.deepEqual(play.done, [
      'update-set v2 10 partition 10',
      'partition 5',
      'evict 9 8 7 6 5',
      'partition 0',
      'evict 4 3 2 1 0',
      'partition 10',
    ]);
    assert.equal(play.set?.current, 'v2');
  });

  test('waits for the revision to be the current one before it closes', () => {
    const play = rolling();
    play.run();
    if (play.set !== undefined) Object.assign(play.set, { partition: 0, current: 'v1' });
    play.progress = { ...play.progress, phase: 'WaitingForReady', partition: 0 };
    assert.equal(play.look(), 'WaitingForReady AwaitingCurrentRevision');
  });

  test('brings a lost pod that it has not reached back as it was [T-64]', () => {
    const play = ended(50);
    lose(play, 2);
    assert.equal(play.rest(), 'RolloutDone RolloutDone');
    assert.deepEqual(play.on('v2'), [9, 8, 7, 6, 5]);
    assert.deepEqual(play.done, []);
  });

  test('grows from 1 over 50 to 100 percent, and rotates each pod once', () => {
    const play = ended(1);
    for (const percent of [50, 100])
      assert.equal(play.edit({ percent }).run(), 'RolloutDone RolloutDone');
    assert.deepEqual([...play.evicted.values()], Array(10).fill(1));
    assert.equal(play.mostAway, 2);
  });

  test('moves nothing at 0 percent, and pins all', () => {
    const play = rolling(0);
    assert.equal(play.run(), 'RolloutDone RolloutDone');
    assert.deepEqual(play.done, ['update-set v2 10 partition 10']);
  });

  test('lets one go at a time by an interval, which the lowering begins [B-94]', () => {
    const play = rolling().edit({ evictionInterval: seconds(60) });
    play.rest();
    play.settle();
    assert.deepEqual(play.done.slice(1), ['partition 9', 'evict 9']);
    assert.equal(play.rest(), 'RollingOut AwaitingInterval');
    play.time += 60_000;
    play.rest();
    assert.deepEqual(play.done.slice(3), ['partition 8', 'evict 8']);
  });

  test('evicts what it has let go although the interval is not over', () => {
    const play = rolling().edit({ evictionInterval: seconds(60) });
    for (let count = 0; count < 20 && !play.done.includes('partition 9'); count += 1) play.look();
    assert.equal(play.progress.lastEviction, play.now);
    play.look();
    assert.deepEqual(play.done.slice(1), ['partition 9', 'evict 9']);
  });

  test('lets none go while one that was let go is there, as the controller may take it at any time', () => {
    const play = rolling();
    const message = 'too many';
    play.refusal = { reason: 'PDBBlocked', message, until: instant(play.now + 60_000) };
    assert.equal(play.rest(), 'WaitingForReady PDBBlocked');
    assert.deepEqual(play.done.slice(1), ['partition 8', 'evict 9 8']);
    play.put(9, { state: 'terminating' }).settle();
    assert.equal(play.rest(), 'WaitingForReady PDBBlocked');
    assert.equal(play.progress.partition, 8);
  });

  test('lets not even a broken pod go beside one that was let go and is there', () => {
    const play = rolling();
    for (let count = 0; count < 20 && !play.done.includes('partition 8'); count += 1) play.look();
    play.put(0, { state: 'not-ready' }).put(1, { state: 'not-ready' });
    play.put(7, { state: 'crashing' });
    play.rest();
    assert.deepEqual(play.done.slice(1), ['partition 8']);
  });

  test('counts a pod as away that the controller has taken itself', () => {
    const play = rolling().edit({ parallelWithoutBudget: 2 });
    play.budgets = [];
    for (let count = 0; count < 20 && !play.done.includes('partition 8'); count += 1) play.look();
    play.put(9, { state: 'terminating' });
    play.rest();
    assert.deepEqual(play.done.slice(1), ['partition 8', 'evict 8']);
    assert.equal(play.mostAway, 2);
    play.settle('not-ready').put(8, { state: 'ready' });
    play.rest();
    assert.deepEqual(play.done.slice(3), ['partition 7', 'evict 7']);
  });

  test('lets fewer go while others are away', () => {
    const play = rolling();
    play.put(0, { state: 'not-ready' });
    play.rest();
    assert.deepEqual(play.done.slice(1), ['partition 9', 'evict 9']);
  });

  test('lets none go where none may be away, by whatever obstacle', () => {
    const play = rolling();
    play.allowed = 0;
    assert.equal(play.rest(), 'RollingOut PDBBlocked');
    play.allowed = undefined;
    play.holds = [{ because: { reason: 'AwaitingPredecessor', message: 'until later' } }];
    assert.equal(play.rest(), 'RollingOut AwaitingPredecessor');
    assert.deepEqual(play.done, ['update-set v2 10 partition 10']);
  });

  test('goes strictly from the highest down: a broken pod waits for those above it [B-98]', () => {
    const play = rolling();
    play.put(2, { state: 'crashing' });
    play.rest();
    assert.deepEqual(play.done.slice(1), ['partition 9', 'evict 9']);
  });

  test('takes a broken pod with it that costs nothing', () => {
    const play = rolling();
    play.put(8, { state: 'crashing' });
    play.rest();
    assert.deepEqual(play.done.slice(1, 3), ['partition 8', 'evict 8 9']);
  });

  test('moves the partition not in a pause, and not after a failure [B-93]', () => {
    const play = rolling();
    play.rest();
    play.edit({ isPauseRequested: true });
    play.rest();
    play.settle();
    assert.equal(play.rest(), 'Paused RolloutPaused');
    assert.equal(play.progress.partition, 8);
    play.edit({ isPauseRequested: false });
    play.rest();
    play.settle('crashing');
    play.time += 1_900_000;
    assert.equal(play.rest(), 'RolloutFailed RolloutFailed');
    assert.equal(play.set?.partition, 6);
    lose(play, 3);
    assert.ok(!play.on('v2').includes(3));
  });

  test('goes on where it was killed between the record and the write', () => {
    const play = rolling();
    while (play.plan().action?.kind !== 'set-partition') play.look();
    play.progress = play.plan().progress;
    assert.equal(play.progress.partition, 8);
    assert.equal(play.run(), 'RolloutDone RolloutDone');
    assert.deepEqual(play.done.slice(1, 3), ['partition 8', 'evict 9 8']);
  });

  test('puts a partition back that a user lowered, at the end too', () => {
    const play = ended(50);
    if (play.set !== undefined) play.set.partition = 1;
    play.rest();
    assert.deepEqual(play.done, ['partition 5']);
  });

  test('follows a number of replicas at rest, and keeps it closed', () => {
    const play = pinned();
    play.edit({ set: { ...play.spec.set, replicas: 12 } });
    play.rest();
    assert.deepEqual(play.done, ['scale-set v1 12 partition 12']);
  });

  test('begins another version in the middle with all pods pinned', () => {
    const play = rolling();
    play.rest();
    play.want('v3');
    play.rest();
    // What goes already comes back on the newest version.
    assert.deepEqual(play.done.slice(-2), ['update-set v3 10 partition 10', 'partition 8']);
    assert.equal(play.run(), 'RolloutDone RolloutDone');
    assert.equal(play.on('v3').length, 10);
    assert.equal(play.mostAway, 2);
  });

  test('takes a version back from the highest down', () => {
    const play = ended(50).want('v1').edit({ percent: 100 });
    assert.equal(play.run(), 'RolloutDone RolloutDone');
    assert.deepEqual(play.done, [
      'update-set v1 10 partition 10',
      'partition 8',
      'evict 9 8',
      'partition 6',
      'evict 7 6',
      'partition 5',
      'evict 5',
      'partition 10',
    ]);
  });
});

describe('repair', () => {
  test('makes a lower percentage take pods back, within the budget [T-68]', () => {
    const play = ended(50).edit({ isLeakRepaired: true, percent: 20 });
    assert.equal(play.run(), 'RolloutDone RolloutDone');
    assert.deepEqual(play.done, ['partition 8', 'evict 7 6', 'evict 5']);
    assert.deepEqual(play.on('v2'), [9, 8]);
    assert.equal(play.mostAway, 2);
    assert.deepEqual([...play.progress.rotated].toSorted(), ['web-8', 'web-9']);
  });

  test('takes them back one by one by an interval', () => {
    const play = ended(50).edit({
      isLeakRepaired: true,
      percent: 20,
      evictionInterval: seconds(60),
    });
    play.time += 60_000;
    play.rest();
    play.settle();
    play.rest();
    assert.deepEqual(play.done, ['partition 8', 'evict 7']);
    play.time += 60_000;
    play.rest();
    assert.deepEqual(play.done, ['partition 8', 'evict 7', 'evict 6']);
  });

  test('takes back what leaked below the partition once the rollout has ended, but not in a pause', () => {
    const play = ended(50).edit({ isLeakRepaired: true, isPauseRequested: true });
    play.put(2, { template: 'v2' });
    play.rest();
    assert.deepEqual(play.done, []);
    play.edit({ isPauseRequested: false });
    assert.equal(play.rest(), 'RolloutDone RolloutDone');
    assert.deepEqual(play.done, ['evict 2']);
    play.settle();
    play.rest();
    assert.ok(!play.on('v2').includes(2));
    assert.deepEqual(play.done, ['evict 2']);
  });

  test('is not there where it is not wanted: what is new stays so [T-25]', () => {
    const play = ended(50).edit({ percent: 20 });
    assert.equal(play.run(), 'RolloutDone RolloutDone');
    assert.equal(play.progress.outcome?.code, 'PercentBelowActual');
    assert.deepEqual(play.done, []);
  });

  test('takes nothing back to a version that no pod runs any more', () => {
    const play = RolloutPlay.settled().want('v2');
    play.run();
    play.edit({ leakPolicy: 'Pin', isLeakRepaired: true, percent: 20 });
    play.done.length = 0;
    while (!play.done.includes('partition 0')) play.look();
    if (play.set !== undefined) play.set.current = 'v1';
    play.rest();
    assert.deepEqual(play.done, ['partition 0']);
    if (play.set !== undefined) play.set.current = 'v2';
    play.rest();
    assert.deepEqual(play.done, ['partition 0', 'partition 10']);
  });
});

test('whatever happens to pods, no more are away than the budget lets, and none below the partition is new', () => {
  const happening = record({
    ordinal: integer({ min: 0, max: 9 }),
    after: integer({ min: 0, max: 6 }),
  });
  check(
    property(
      happening,
      integer({ min: 0, max: 100 }),
      integer({ min: 1, max: 4 }),
      (lost, percent, most) => {
        const play = rolling(percent);
        play.budgets = [budgetOf(most)];
        for (let count = 0; count < 60; count += 1) {
          play.look();
          if (count % 3 === 2) play.settle();
          if (count === lost.after * 4 && play.pods.get(lost.ordinal)?.state === 'ready') {
            play.put(lost.ordinal, { state: 'terminating' });
          }
          const { partition = 0 } = play.set ?? {};
          if (play.set?.current === 'v2') continue;
          assert.deepEqual(
            play.on('v2').filter((ordinal) => ordinal < partition),
            [],
          );
        }
        assert.ok(play.mostAway <= most + 1);
      },
    ),
  );
});

describe('supportOf()', () => {
  const cases: Record<string, boolean> = {
    'v1.27.4': false,
    'v1.28.15-eks-abc': false,
    'v1.29.0': true,
    'v1.36.3+k3s1': true,
    'v2.0.0': true,
    '': false,
    nonsense: false,
  };
  for (const [version, want] of Object.entries(cases)) {
    test(`says ${want ? 'yes' : 'no'} to "${version}"`, () => {
      assert.equal(supportOf(version).kind === 'supported', want);
    });
  }
});
