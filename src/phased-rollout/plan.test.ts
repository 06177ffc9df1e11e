/** Who rolls out a set, and how it is let go again. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { after, seconds } from '#base/units.ts';
import { T0 } from '#support/objects/views.ts';
import { PhasedPlay } from '#support/rollouts/phased-play.ts';
import { said } from '#support/rollouts/phased-set.ts';
import { planPhasedRollout } from './plan.ts';

describe('planPhasedRollout() adopts', () => {
  test('[phased 9] the finalizer comes before anything else', () => {
    const play = new PhasedPlay();
    play.owner = undefined;
    play.resource.hasFinalizer = false;
    assert.deepEqual(play.look(), ['add-finalizer']);
  });

  test('[phased 10] a set without an owner gets the annotation, the partition and the phase', () => {
    const play = new PhasedPlay();
    play.owner = undefined;
    assert.deepEqual(play.settle(), ['adopt', 'partition 0 to 3']);
    assert.equal(play.status.phase, 'Updated');
    assert.deepEqual(play.events, []);
    const { Ready, Updated } = play.plan().conditions;
    assert.deepEqual([Ready?.status, Ready?.because.reason], ['True', 'Ready']);
    assert.deepEqual([Updated?.status, Updated?.because.reason], ['True', 'Updated']);
  });

  test('[phased 11, 12] a set of one that is gone, or has another target', () => {
    for (const others of [[], [{ name: 'old', targetRef: 'db' }]]) {
      const play = new PhasedPlay();
      play.owner = 'old';
      play.others = others;
      assert.deepEqual(play.look(), ['adopt']);
    }
  });

  test('[phased 13] no set of another, which is reported once', () => {
    const play = new PhasedPlay();
    play.owner = 'pr0';
    play.others = [{ name: 'pr0', targetRef: 'web' }];
    assert.deepEqual(play.look(), ['tell CannotManage', 'hold OwnedByAnother']);
    assert.deepEqual(play.look(), ['hold OwnedByAnother']);
    assert.equal(play.status.phase, 'ErrorCannotManage');
    const { Ready, Updated } = play.plan().conditions;
    assert.deepEqual([Ready?.status, Updated?.status], ['False', 'Unknown']);
  });

  test('[phased 14] once the other has let it go', () => {
    const play = new PhasedPlay();
    play.owner = 'pr0';
    play.others = [{ name: 'pr0', targetRef: 'web' }];
    play.settle();
    play.owner = undefined;
    assert.deepEqual(play.settle(), ['adopt', 'partition 0 to 3']);
  });

  test('[phased 16] nothing while there is no set', () => {
    const play = new PhasedPlay();
    const { set } = play;
    play.set = undefined;
    assert.deepEqual(play.look(), ['hold SetNotFound']);
    assert.equal(play.status.phase, 'ErrorSTSNotFound');
    assert.equal(play.plan().requeue.kind, 'await-change');
    assert.deepEqual(play.events, []);
    play.set = set;
    assert.deepEqual(play.settle(), ['partition 0 to 3']);
  });

  test('[phased 17] a set of another strategy, but leaves its partition', () => {
    const play = new PhasedPlay();
    play.owner = undefined;
    play.strategy = 'OnDelete';
    assert.deepEqual(play.settle(), ['adopt', 'tell CannotManage']);
    play.strategy = 'RollingUpdate';
    assert.deepEqual(play.settle(), ['partition 0 to 3']);
    assert.equal(play.status.phase, 'Updated');
  });

  test('a set that another capability would move, too, is moved by none', () => {
    const play = new PhasedPlay();
    play.owner = undefined;
    play.conflicts = ['ZoneAwareUpdate a'];
    assert.deepEqual(play.look(), ['tell CannotManage', 'hold ConflictingOwners']);
  });
});

describe('planPhasedRollout() blocks updates', () => {
  test('[phased 19] what another client lets go is blocked again', () => {
    const play = PhasedPlay.steady();
    if (play.set !== undefined) play.set.partition = 1;
    assert.deepEqual(play.settle(), ['partition 1 to 3']);
  });

  test('[phased 20] the partition follows the replicas', () => {
    const play = PhasedPlay.steady();
    for (const replicas of [5, 0]) {
      if (play.set !== undefined) play.set.replicas = replicas;
      play.settle();
      assert.equal(play.set?.partition, replicas);
      assert.equal(play.status.phase, 'Updated');
    }
  });

  test('[phased 58] a suspension lets all go, and is reported once', () => {
    const play = PhasedPlay.rolling();
    play.spec = { ...play.spec, standardRollingUpdate: true };
    assert.deepEqual(play.settle(), ['partition 3 to 0', 'tell Suspended']);
    assert.equal(play.status.phase, 'Suspended');
    assert.equal(play.status.step?.partition, 3);
  });

  test('a suspension waits for the requests of a predecessor, and for no budget', () => {
    const play = PhasedPlay.rolling();
    play.spec = { ...play.spec, standardRollingUpdate: true };
    const because = { reason: 'AwaitingPredecessor', message: 'wait' } as const;
    play.holds = [{ kind: 'view', because }];
    assert.deepEqual(play.settle(), []);
    play.holds = [{ kind: 'budget', because: { reason: 'BudgetRefused', message: 'no' } }];
    assert.deepEqual(play.settle(), ['partition 3 to 0', 'tell Suspended']);
  });

  test('a gate that is set up again is no higher than the set has pods', () => {
    const play = PhasedPlay.rolling();
    play.set = { replicas: 3, partition: 0, current: 'A', update: 'B' };
    const partitions = [2, 5].map((takenBack) =>
      planPhasedRollout({ ...play.snapshot(), takenBack }, play.now).decisions.map(said),
    );
    assert.deepEqual(partitions, [['partition 0 to 2'], ['partition 0 to 3']]);
  });

  test('[phased 59] what a suspension let go stays so until all is promoted', () => {
    const play = PhasedPlay.rolling();
    play.spec = { ...play.spec, standardRollingUpdate: true };
    play.settle();
    play.put(2, 'B');
    play.spec = { ...play.spec, standardRollingUpdate: false };
    assert.deepEqual(play.settle(), ['tell RolloutStarted']);
    assert.equal(play.isAsked, false);
    play.controller();
    assert.deepEqual(play.settle(), ['partition 0 to 3', 'tell RolloutCompleted']);
  });
});

describe('planPhasedRollout() lets go', () => {
  test('[phased 66] of a steady set, with what it put there', () => {
    for (const hasMaxUnavailable of [false, true]) {
      const play = PhasedPlay.steady();
      play.hasMaxUnavailable = hasMaxUnavailable;
      play.resource.isDeleting = true;
      const drops = hasMaxUnavailable ? 'partition' : 'rolling-update';
      assert.deepEqual(play.settle(), [`release web, drop ${drops}`, 'remove-finalizer']);
    }
  });

  test('[phased 67] in the middle of a rollout, too', () => {
    const play = PhasedPlay.rolling();
    play.resource.isDeleting = true;
    play.settle();
    assert.equal(play.set?.partition, 0);
  });

  test('[phased 68] at once where the set is gone', () => {
    const play = PhasedPlay.steady();
    play.set = undefined;
    play.resource.isDeleting = true;
    assert.deepEqual(play.settle(), ['remove-finalizer']);
  });

  test('[phased 69] without touching the set of another', () => {
    const play = PhasedPlay.steady();
    play.owner = 'pr0';
    play.resource.isDeleting = true;
    assert.deepEqual(play.settle(), ['remove-finalizer']);
    assert.equal(play.set?.partition, 3);
  });

  test('[phased 70] for good, though a finalizer of others keeps it alive', () => {
    const play = PhasedPlay.steady();
    play.resource.isDeleting = true;
    play.settle();
    assert.deepEqual(play.look(), []);
    assert.equal(play.owner, undefined);
  });

  test('[phased 71] of the set that was its target before', () => {
    const play = new PhasedPlay();
    const former = play.target;
    assert.ok(former !== undefined);
    const set = { ...former.set, name: 'old', spec: { ...former.set.spec, partition: 3 } };
    play.former = [{ ...former, set }];
    play.owner = undefined;
    assert.deepEqual(play.look(), ['release old, drop rolling-update', 'adopt']);
  });

  test('not before the requests of a predecessor have come in', () => {
    const play = PhasedPlay.steady();
    const until = after(T0, seconds(7_200));
    const because = { reason: 'AwaitingPredecessor', message: 'wait' } as const;
    play.holds = [{ kind: 'view', until, because }];
    play.resource.isDeleting = true;
    assert.deepEqual(play.look(), ['hold AwaitingPredecessor']);
    assert.deepEqual(play.plan().requeue, { kind: 'at', at: until });
  });
});
