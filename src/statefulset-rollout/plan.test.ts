/** What a StatefulsetRollout does from its beginning to its end, played by hand. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { after, instant, seconds } from '#base/units.ts';
import { RolloutPlay } from '#support/rollouts/rollout-play.ts';
import { noCallback } from './callback-progress.ts';
import { calledBack } from './plan/plan-callback.ts';
import { noticesOfWrite } from './plan/plan-notices.ts';
import { noProgress } from './progress.ts';

/** A settled play of ten pods on v1 that is to roll v2 out at `percent`. */
function rolling(percent = 100): RolloutPlay {
  return RolloutPlay.settled().edit({ percent }).want('v2');
}

const failed = { result: 'Failed', code: 'ProgressDeadlineExceeded', message: 'too slow' } as const;

test('[found R-6] a StatefulsetRollout evicts no pod for a revision whose name is longer than a label may be', () => {
  const play = RolloutPlay.settled().want('v'.repeat(64));
  assert.equal(play.rest(), 'RollingOut RevisionUnusable');
  assert.equal(play.on('v1').length, 10);
  play.want('v'.repeat(63));
  assert.equal(play.run(), 'RolloutDone RolloutDone');
});

describe('a StatefulsetRollout whose set is not there', () => {
  test('makes it, all of it new whatever the percentage, and waits for it to be ready [T-10, T-11]', () => {
    const play = new RolloutPlay().edit({ percent: 25 });
    assert.equal(play.rest(), 'WaitingForReady AwaitingPods');
    assert.equal(play.settle().rest(), 'RolloutDone RolloutDone');
    assert.deepEqual(play.done, ['create-set v1 10']);
    assert.deepEqual(play.phases, [
      'Pending',
      'CreatingStatefulSet',
      'WaitingForReady',
      'CallingBack',
      'RolloutDone',
    ]);
    assert.equal(play.progress.percentDeployed, 25);
  });

  test('asks the API server first whether it would take it, and fails with its words where not [T-21]', () => {
    const play = new RolloutPlay();
    play.validation = { kind: 'unasked' };
    play.look();
    assert.equal(play.look(), 'Pending AwaitingValidation');
    play.validation = { kind: 'refused', message: 'spec.template is wrong' };
    assert.equal(play.rest(), 'RolloutFailed RolloutFailed');
    assert.equal(play.progress.outcome?.code, 'InvalidStatefulSet');
    assert.equal(play.progress.outcome?.message, 'spec.template is wrong');
    assert.deepEqual(play.done, ['validate AwaitingValidation']);
  });

  test('recreates it where a user deletes it in the middle, and ends [T-58]', () => {
    const play = rolling();
    play.rest();
    play.set = undefined;
    play.pods.clear();
    play.look();
    assert.equal(play.progress.isDeleted, true);
    assert.equal(play.run(), 'RolloutDone RolloutDone');
    assert.equal(play.progress.isDeleted, false);
    assert.deepEqual(play.on('v2').length, 10);
  });

  test('says that it has gone once it has ended, and makes nothing', () => {
    const play = RolloutPlay.settled();
    play.set = undefined;
    play.pods.clear();
    assert.equal(play.rest(), 'RolloutDone SetNotFound');
    assert.equal(play.progress.isDeleted, true);
    assert.deepEqual(play.done, []);
  });
});

describe('a StatefulsetRollout does not begin', () => {
  const cases: Record<
    string,
    { readonly given: (play: RolloutPlay) => void; readonly want: string }
  > = {
    'in another namespace [T-07]': {
      given: (play) => play.edit({ set: { ...play.spec.set, namespace: 'other' } }),
      want: 'NamespaceMismatch',
    },
    'with a set that belongs to somebody else [T-13, T-14]': {
      given: (play) => Object.assign(play, { owner: 'Kafka broker' }),
      want: 'StatefulSetOwnedByOther',
    },
    'with a change of what nobody may change [T-15]': {
      given: (play) =>
        Object.assign(play, {
          comparison: {
            kind: 'immutable',
            paths: ['spec.volumeClaimTemplates'],
            isSelectorEqual: true,
          },
        }),
      want: 'ImmutableFieldChanged',
    },
    'with another selector, although it may make the set again': {
      given: (play) =>
        Object.assign(play.edit({ onImmutableChange: 'RecreateOrphan' }), {
          comparison: { kind: 'immutable', paths: ['spec.selector'], isSelectorEqual: false },
        }),
      want: 'ImmutableFieldChanged',
    },
  };
  for (const [fact, { given, want }] of Object.entries(cases)) {
    test(`${fact}, and fails at once`, () => {
      const play = rolling();
      given(play);
      assert.equal(play.rest(), 'RolloutFailed RolloutFailed');
      assert.equal(play.progress.outcome?.code, want);
      assert.deepEqual(play.done, []);
    });
  }

  test('over a set that something else would roll out, too, and goes on when that is over [D-63]', () => {
    const play = rolling();
    play.conflicts = ['PhasedRollout a'];
    assert.equal(play.rest(), 'Pending ConflictingOwners');
    assert.match(play.plan().because?.message ?? '', /PhasedRollout a/);
    play.conflicts = [];
    assert.equal(play.run(), 'RolloutDone RolloutDone');
  });

  test('while it is not known whether something else would roll its set out [D-63]', () => {
    const play = rolling();
    play.unknownOwners = 'whether a PhasedRollout names a set is not known';
    assert.equal(play.rest(), 'Pending ViewNotFresh');
    assert.deepEqual(play.done, []);
    play.unknownOwners = undefined;
    assert.equal(play.run(), 'RolloutDone RolloutDone');
  });

  test('before its finalizer stands', () => {
    const play = new RolloutPlay();
    play.hasFinalizer = false;
    play.look();
    assert.deepEqual(play.done, ['add-finalizer']);
  });
});

describe('a percentage', () => {
  test('of 50 rotates the five highest of ten, the highest first, and no other [T-23]', () => {
    const play = rolling(50);
    const kept = [0, 1, 2, 3, 4].map((ordinal) => play.pods.get(ordinal)?.uid);
    assert.equal(play.run(), 'RolloutDone RolloutDone');
    assert.deepEqual(play.done, ['update-set v2 10', 'evict 9 8', 'evict 7 6', 'evict 5']);
    assert.deepEqual(play.on('v2'), [9, 8, 7, 6, 5]);
    assert.deepEqual(
      [0, 1, 2, 3, 4].map((ordinal) => play.pods.get(ordinal)?.uid),
      kept,
    );
    assert.equal(play.progress.percentDeployed, 50);
  });

  test('that grows from 1 over 50 to 100 rotates each pod once [T-24]', () => {
    const play = rolling(1);
    play.run();
    assert.deepEqual(play.on('v2'), [9]);
    for (const percent of [50, 100])
      assert.equal(play.edit({ percent }).run(), 'RolloutDone RolloutDone');
    assert.equal(play.on('v2').length, 10);
    assert.deepEqual(
      [...play.evicted.values()],
      Array.from({ length: 10 }, () => 1),
    );
  });

  test('that falls takes no pod back, and says how many are new [T-25]', () => {
    const play = rolling(50);
    play.run();
    play.done.length = 0;
    assert.equal(play.edit({ percent: 25 }).run(), 'RolloutDone RolloutDone');
    assert.equal(play.progress.outcome?.code, 'PercentBelowActual');
    assert.match(play.progress.outcome?.message ?? '', /5 of 10 pods/);
    assert.deepEqual(play.done, []);
  });

  test('of 0 writes the set and lets no pod go [T-26]', () => {
    const play = rolling(0);
    assert.equal(play.run(), 'RolloutDone RolloutDone');
    assert.deepEqual(play.done, ['update-set v2 10']);
  });

  test('follows a set that is scaled in the middle, and counts its new pods as rotated [T-28]', () => {
    const play = rolling(50);
    play.rest();
    play.edit({ set: { ...play.spec.set, replicas: 20 } });
    assert.equal(play.run(), 'RolloutDone RolloutDone');
    assert.deepEqual(
      play.on('v2').toSorted((one, other) => one - other),
      [8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19],
    );
    assert.ok(play.progress.rotated.has('web-19'));
  });
});

describe('[found S-9] a set that another client scales in the middle', () => {
  const theirs = { replicas: 'kubectl', applied: 'rollout-operator' };

  /** A rollout at rest in its midst, whose set was scaled to `to` since. */
  function scaled(to: number, writers: RolloutPlay['writers'] = theirs): RolloutPlay {
    const play = rolling(50);
    play.rest();
    play.settle();
    play.observedGeneration = play.generation;
    play.done.length = 0;
    play.writers = writers;
    play.apply(to, 'v2');
    return play;
  }

  function noticed(play: RolloutPlay): readonly string[] {
    const [snapshot, plan] = [play.snapshot(), play.plan()];
    const parts = { snapshot, plan, now: play.now, before: play.progress };
    return noticesOfWrite({ ...parts, leakedBefore: new Set() }).map(({ message }) => message);
  }

  test('to fewer pods gets them back at once, and the client is named', () => {
    const play = scaled(4);
    play.put(0, { state: 'not-ready' });
    assert.deepEqual(play.plan().action?.kind, 'scale-set');
    assert.deepEqual(noticed(play), [
      '"kubectl" has scaled web to 4 replicas, and this resource says 10, which has been written again: ' +
        'scale by spec.statefulset.spec.replicas, or have others scale it with spec.replicasOwnership: External',
    ]);
  });

  test('to more pods keeps them while pods that stay are away, but not for those that cannot become ready', () => {
    const play = scaled(12);
    play.settle();
    play.put(3, { state: 'not-ready' });
    const { action, because } = play.plan();
    assert.equal(action, undefined);
    assert.deepEqual(because, {
      reason: 'AwaitingPods',
      message:
        '"kubectl" has scaled web to 12 replicas, and this resource says 10, which is written again once web-3 can serve',
    });
    play.put(3, { state: 'crashing' });
    assert.equal(play.plan().action?.kind, 'scale-set');
    play.put(3, { state: 'ready' });
    assert.equal(play.plan().action?.kind, 'scale-set');
  });

  const ours: Readonly<Record<string, RolloutPlay['writers']>> = {
    'whose number this operator wrote last': { ...theirs, replicas: 'rollout-operator' },
    'that does not say who wrote it': {},
  };

  for (const [what, writers] of Object.entries(ours)) {
    test(`is corrected without a word about a client, ${what}`, () => {
      const play = scaled(12, writers);
      play.put(3, { state: 'not-ready' });
      assert.equal(play.plan().action?.kind, 'scale-set');
      assert.deepEqual(noticed(play), []);
    });
  }

  test('is corrected at once, and without a word, where the resource has been edited since', () => {
    const play = scaled(12);
    play.put(3, { state: 'not-ready' });
    play.edit({ set: { ...play.spec.set, replicas: 11 } });
    assert.equal(play.plan().action?.kind, 'scale-set');
    assert.deepEqual(noticed(play), []);
  });
});

describe('a rollout that has ended', () => {
  test('takes another number of replicas, and begins nothing [T-18]', () => {
    const play = RolloutPlay.settled();
    play.edit({ set: { ...play.spec.set, replicas: 12 } });
    assert.equal(play.rest(), 'RolloutDone RolloutDone');
    assert.deepEqual(play.done, ['scale-set v1 12']);
    assert.deepEqual(play.phases, ['RolloutDone']);
  });

  test('stays failed where only other settings change [T-55]', () => {
    const play = rolling();
    play.owner = 'Kafka broker';
    play.rest();
    play.edit({ evictionInterval: seconds(10) });
    assert.equal(play.rest(), 'RolloutFailed RolloutFailed');
  });

  test('changes nothing that is stored, however often it is looked at [T-45]', () => {
    const play = RolloutPlay.settled();
    const { progress } = play.plan();
    play.time += 600_000;
    assert.deepEqual(play.plan().progress, progress);
    assert.deepEqual(play.plan().requeue, { kind: 'await-change' });
  });

  test('counts how often its version was tried, from 1 for each version [B-21, E-4]', () => {
    const play = rolling();
    const attempts: number[] = [];
    const fail = (): void => {
      play.progress = { ...play.progress, phase: 'RolloutFailed', outcome: failed };
    };
    const again = (changes: Parameters<RolloutPlay['edit']>[0]): void => {
      play.edit(changes).look();
      attempts.push(play.progress.attempt);
    };
    again({ percent: 50 });
    fail();
    again({ identity: 'two' });
    fail();
    again({ percent: 100 });
    play.run();
    again({ identity: 'four' });
    fail();
    play.want('v3');
    again({});
    assert.deepEqual(attempts, [1, 2, 3, 1, 1]);
  });

  test('begins again with another identity, and leaves the pods that are new alone [T-54]', () => {
    const play = rolling();
    play.rest();
    play.settle('not-ready');
    play.time += 1_900_000;
    assert.equal(play.rest(), 'RolloutFailed RolloutFailed');
    assert.equal(play.progress.outcome?.code, 'ProgressDeadlineExceeded');
    assert.match(play.progress.outcome?.message ?? '', /web-9, web-8/);
    play.settle();
    const done = [9, 8].map((ordinal) => play.pods.get(ordinal)?.uid);
    assert.equal(play.edit({ identity: 'again' }).run(), 'RolloutDone RolloutDone');
    assert.deepEqual(
      [9, 8].map((ordinal) => play.pods.get(ordinal)?.uid),
      done,
    );
    assert.equal(play.on('v2').length, 10);
  });
});

describe('another version', () => {
  test('that arrives while pods of the one before are away begins at once, and counts them as away [T-57]', () => {
    const play = rolling();
    play.rest();
    play.want('v3');
    play.rest();
    assert.deepEqual(play.done, ['update-set v2 10', 'evict 9 8', 'update-set v3 10']);
    assert.equal(play.run(), 'RolloutDone RolloutDone');
    assert.equal(play.mostAway, 2);
    assert.equal(play.on('v3').length, 10);
  });

  test('from before takes back what is new, the broken pods at once [T-56]', () => {
    const play = rolling(50);
    play.rest();
    play.settle();
    play.rest();
    play.settle('crashing');
    assert.equal(play.rest(), 'WaitingForReady AwaitingPods');
    const kept = [0, 1, 2, 3, 4, 5].map((ordinal) => play.pods.get(ordinal)?.uid);
    play.done.length = 0;
    play.want('v1').edit({ percent: 100 });
    assert.equal(play.run(), 'RolloutDone RolloutDone');
    assert.deepEqual(play.done, ['update-set v1 10', 'delete-pods 7 6', 'evict 9 8']);
    assert.deepEqual(
      [0, 1, 2, 3, 4, 5].map((ordinal) => play.pods.get(ordinal)?.uid),
      kept,
    );
    assert.equal(play.progress.isRollback, true);
  });

  test('that another client wrote over is written back [T-19]', () => {
    const play = rolling();
    play.rest();
    if (play.set !== undefined) play.set.template = 'theirs';
    assert.equal(play.run(), 'RolloutDone RolloutDone');
    assert.equal(play.on('v2').length, 10);
    assert.equal(play.done.filter((each) => each.startsWith('update-set')).length, 2);
  });
});

describe('a resource that is deleted', () => {
  test('takes the set with it that it made, and no other pod is let go [T-59]', () => {
    const play = rolling();
    play.rest();
    play.isDeleting = true;
    play.done.length = 0;
    play.rest();
    assert.deepEqual(play.done, ['delete-set', 'remove-finalizer']);
    assert.equal(play.progress.phase, 'Deleting');
  });

  test('lets a set go on that it found [T-60]', () => {
    const play = rolling();
    play.progress = { ...play.progress, isCreator: false };
    play.isDeleting = true;
    assert.equal(play.look(), 'Deleting StatefulSetReleased');
    assert.deepEqual(play.done, ['release-set StatefulSetReleased']);
  });

  test('touches no set that belongs to another owner', () => {
    const play = rolling();
    play.owner = 'StatefulsetRollout b';
    play.isDeleting = true;
    play.rest();
    assert.deepEqual(play.done, ['remove-finalizer']);
  });

  test('keeps the set where it is to be orphaned, though it made it', () => {
    const play = rolling().edit({ deletionPolicy: 'Orphan' });
    play.isDeleting = true;
    play.look();
    assert.deepEqual(play.done, ['release-set StatefulSetReleased']);
  });

  const callback = { url: 'https://deploys.example', stageId: 'one' };

  test('calls a failure back once the set is gone, half way and once, and goes [B-83]', () => {
    const play = rolling().edit({ callback });
    play.rest();
    play.isDeleting = true;
    play.done.length = 0;
    play.look();
    assert.equal(play.look(), 'Deleting CallingBack');
    assert.deepEqual(play.done, ['delete-set', 'call-back']);
    const { outcome } = play.progress;
    assert.deepEqual([outcome?.result, outcome?.code], ['Failed', 'Deleted']);
    play.progress = { ...play.progress, callback: { ...play.progress.callback, isOver: true } };
    play.rest();
    assert.deepEqual(play.done, ['delete-set', 'call-back', 'remove-finalizer']);
  });

  test('calls back how it had ended where no receiver had been called back yet [B-83]', () => {
    const play = RolloutPlay.settled().edit({ callback });
    const nextAttempt = after(play.now, seconds(300));
    const tried = { ...noCallback, stageId: 'one', attempts: 3, nextAttempt };
    play.progress = { ...play.progress, phase: 'CallingBack', callback: tried };
    play.isDeleting = true;
    play.look();
    play.look();
    assert.deepEqual(play.done, ['delete-set', 'call-back']);
    assert.equal(play.progress.outcome?.result, 'Done');
  });

  test('calls no receiver back that knows how it ended [B-83]', () => {
    const play = RolloutPlay.settled().edit({ callback });
    play.progress = { ...play.progress, deliveredStage: 'one' };
    play.isDeleting = true;
    play.rest();
    assert.deepEqual(play.done, ['delete-set', 'remove-finalizer']);
  });
});

test('an attempt to call back about a resource that is deleted is the last one [B-83]', () => {
  const because = { reason: 'ReceiverUnavailable', message: 'answered 503' } as const;
  const at = instant(1_000);
  const callback = { ...noCallback, stageId: 'one' };
  for (const [phase, isOver] of [
    ['CallingBack', false],
    ['Deleting', true],
  ] as const) {
    const progress = { ...noProgress, phase, callback };
    const told = calledBack(progress, { kind: 'temporary', because }, { kind: 'attempt', at });
    assert.equal(told.callback.isOver, isOver, phase);
    assert.equal(told.callback.nextAttempt, isOver ? undefined : at, phase);
  }
});

test('a set that is recreated over its pods keeps them [T-16]', () => {
  const play = rolling().edit({ onImmutableChange: 'RecreateOrphan' });
  const uids = [...play.pods.values()].map(({ uid }) => uid);
  play.comparison = { kind: 'immutable', paths: ['spec.serviceName'], isSelectorEqual: true };
  play.look();
  play.look();
  assert.deepEqual(play.done, ['orphan-pods']);
  play.comparison = undefined;
  play.look();
  assert.deepEqual(play.done, ['orphan-pods', 'create-set v2 10']);
  assert.deepEqual(
    [...play.pods.values()].map(({ uid }) => uid),
    uids,
  );
});

test('a spec that cannot be read fails at once, is written once, and begins again when it can', () => {
  const play = rolling();
  play.rest();
  const problem = { path: 'spec.percent', message: 'must be an integer from 0 to 100: got 101' };
  const snapshot = play.snapshot();
  const broken = { ...snapshot.resource, spec: { kind: 'invalid', problem } } as const;
  const read = (): ReturnType<RolloutPlay['plan']> =>
    play.planOf({ ...snapshot, resource: { ...broken, progress: play.progress } });
  play.progress = read().progress;
  assert.equal(play.progress.phase, 'RolloutFailed');
  assert.equal(
    play.progress.outcome?.message,
    'spec.percent must be an integer from 0 to 100: got 101',
  );
  play.time += 5_000;
  assert.deepEqual(read().progress, play.progress);
  assert.equal(play.run(), 'RolloutDone RolloutDone');
  assert.equal(play.mostAway, 2);
});
