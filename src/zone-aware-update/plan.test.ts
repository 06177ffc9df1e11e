/** What a ZoneAwareUpdate does next, as the peer does it, and where we do it otherwise. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { invalid, valid } from '#base/parsed.ts';
import { UpdatePlay } from '#support/rollouts/update-play.ts';
import { parseUpdateStatus } from './status.ts';

/** A play whose status says so much of a rollout to `revision`. */
function at(
  updateStep: number,
  oldReplicas: Record<string, number> = {},
  revision = 'rev-2',
): UpdatePlay {
  const play = new UpdatePlay();
  play.status = parseUpdateStatus({
    status: { updateStep, oldReplicas, updateRevision: revision, currentRevision: 'rev-1' },
  });
  return play;
}

function done(play: UpdatePlay, ...ordinals: readonly number[]): UpdatePlay {
  for (const ordinal of ordinals) play.put(ordinal, { revision: 'rev-2' });
  return play;
}

describe('planZoneAwareUpdate() waits', () => {
  const cases: Record<string, { play: () => UpdatePlay; want: string }> = {
    '[zau 1] for another update strategy': {
      play: () => Object.assign(new UpdatePlay(), { strategy: 'RollingUpdate' }),
      want: 'hold WrongUpdateStrategy',
    },
    '[zau 2] for a set that is not there': {
      play: () => Object.assign(new UpdatePlay(), { replicas: undefined }),
      want: 'hold SetNotFound',
    },
    '[zau 7] for a pod that terminates, whatever it runs': {
      play: () => new UpdatePlay().put(8, { state: 'terminating' }),
      want: 'hold AwaitingPods',
    },
    '[zau 8] for a new pod that is not ready': {
      play: () => new UpdatePlay().put(4, { revision: 'rev-2', state: 'not-ready' }),
      want: 'hold AwaitingPods',
    },
    '[zau 8] for a new pod that cannot start, though an old one is stuck': {
      play: () =>
        new UpdatePlay()
          .put(4, { revision: 'rev-2', state: 'crashing' })
          .put(0, { state: 'crashing' }),
      want: 'hold AwaitingPods',
    },
    '[zau 9] while old pods of two zones are not ready, and may yet become so': {
      play: () => new UpdatePlay().put(4, { state: 'not-ready' }).put(2, { state: 'not-ready' }),
      want: 'hold ZonesNotReady',
    },
    '[zau 11] for an old pod of the first zone that may yet become ready': {
      play: () => new UpdatePlay().put(0, { state: 'not-ready' }),
      want: 'hold AwaitingPods',
    },
    '[zau 13] for an old pod whose phase nobody knows, though its condition is Ready': {
      play: () =>
        Object.assign(new UpdatePlay().put(4, { state: 'of-no-phase' }), { readyReplicas: 9 }),
      want: 'hold AwaitingPods',
    },
    '[zau 14] while the set counts fewer ready pods than there are to be': {
      play: () => Object.assign(new UpdatePlay(), { readyReplicas: 8 }),
      want: 'hold AwaitingPods',
    },
    '[zau 49] for a pod that is missing, though all counts agree': {
      play: () => {
        const play = Object.assign(new UpdatePlay(), { readyReplicas: 8 });
        play.pods.delete(8);
        return play;
      },
      want: 'hold AwaitingPods',
    },
    'for a spec that is not observed yet': {
      play: () => Object.assign(new UpdatePlay(), { isObserved: false }),
      want: 'hold RevisionUnknown',
    },
    '[found R-6] for a revision whose name is longer than a label may be': {
      play: () => Object.assign(new UpdatePlay(), { update: 'r'.repeat(64) }),
      want: 'hold RevisionUnusable',
    },
    '[zau 43] where the zone of no old pod is known': {
      play: () => {
        const play = new UpdatePlay();
        for (const ordinal of play.pods.keys()) play.put(ordinal, { zone: undefined });
        return play;
      },
      want: 'hold ZoneUnknown',
    },
    '[zau 46] for an older one over the same set': {
      play: () => Object.assign(new UpdatePlay(), { rival: 'elder' }),
      want: 'hold OwnedByAnother',
    },
    'where another capability would move the same set': {
      play: () => Object.assign(new UpdatePlay(), { conflicts: ['rollout group web'] }),
      want: 'hold ConflictingOwners',
    },
    'for a guard that forbids it': {
      play: () => {
        const because = { reason: 'AwaitingPredecessor', message: 'not yet' } as const;
        return Object.assign(new UpdatePlay(), { holds: [{ because }] });
      },
      want: 'hold AwaitingPredecessor',
    },
  };
  for (const [what, { play, want }] of Object.entries(cases)) {
    test(`planZoneAwareUpdate() waits ${what}`, () => {
      const waiting = play();
      assert.deepEqual(waiting.look(), [want]);
      assert.deepEqual(waiting.steps, []);
      assert.equal(waiting.stored, '0 / 0 / ');
    });
  }
});

describe('planZoneAwareUpdate() takes a step', () => {
  test('[zau 3] begins with one pod, the highest ordinal of the first zone', () => {
    const play = new UpdatePlay();
    assert.deepEqual(play.look(), ['delete web-6']);
    assert.equal(play.stored, '1 / 1 / a3 b3 c3');
  });

  test('[zau 4] goes on with two', () => {
    const play = done(at(1), 6);
    assert.deepEqual(play.look(), ['delete web-3', 'delete web-0']);
    assert.equal(play.stored, '2 / 2 / a2 b3 c3');
  });

  test('[zau 5] takes what is left of a zone, and no other with it', () => {
    const play = done(at(1), 6, 3);
    assert.deepEqual(play.look(), ['delete web-0']);
    assert.equal(play.stored, '2 / 1 / a1 b3 c3');
  });

  test('[zau 6, 47] goes on in the next zone as large as it was', () => {
    const play = done(at(2, { a: 3, b: 3, c: 3 }), 6, 3, 0);
    assert.deepEqual(play.look(), ['delete web-7', 'delete web-4']);
    assert.equal(play.stored, '3 / 2 / a0 b3 c3');
  });

  test('[zau 18] begins again with another revision', () => {
    const play = at(3, {}, 'rev-0');
    assert.deepEqual(play.look(), ['delete web-6']);
    assert.equal(play.status.updateStep, 1);
  });

  test('[zau 11] replaces a stuck pod of the first zone before any other', () => {
    const play = new UpdatePlay().put(0, { state: 'crashing' });
    assert.deepEqual(play.look(), ['delete web-0']);
    assert.equal(play.stored, '1 / 1 / a3 b3 c3');
  });

  test('[zau 10] replaces stuck pods of a later zone, too, where they are in one', () => {
    const play = new UpdatePlay().put(4, { state: 'crashing' }).put(7, { state: 'crashing' });
    assert.deepEqual(play.look(), ['delete web-7']);
  });

  test('takes no stuck pod whose zone is unknown', () => {
    const play = new UpdatePlay().put(0, { state: 'crashing', zone: undefined, node: 'gone' });
    assert.deepEqual(play.look(), ['hold ZoneUnknown']);
  });

  test('takes a stuck pod that no node has taken, whatever its zone: it serves no client', () => {
    const play = new UpdatePlay().put(0, { state: 'crashing', zone: undefined });
    assert.deepEqual(play.look(), ['delete web-0']);
  });

  test('[found S-4] takes stuck pods of several zones, one zone after the other, and those last that no node has', () => {
    const play = new UpdatePlay()
      .put(0, { state: 'crashing', zone: undefined })
      .put(1, { state: 'crashing' });
    assert.deepEqual(play.look(), ['delete web-1']);
    const zones = new UpdatePlay().put(2, { state: 'crashing' }).put(4, { state: 'crashing' });
    assert.deepEqual(zones.look(), ['delete web-4']);
    const beside = new UpdatePlay().put(2, { state: 'crashing' }).put(4, { state: 'not-ready' });
    assert.deepEqual(beside.look(), ['delete web-2']);
  });

  test('[zau 12] asks no alarm for stuck pods', () => {
    const play = new UpdatePlay().put(0, { state: 'crashing' });
    play.spec = { ...play.spec, alarm: 'Pause' };
    assert.deepEqual(play.look(), ['delete web-0']);
    assert.equal(play.asked.size, 0);
  });

  test('[zau 39] goes by ordinals as numbers, and by zones as bytes', () => {
    const play = new UpdatePlay({ b: [0, 1, 3, 4, 5, 6, 7, 8], a: [2, 9, 10], Z: [11] });
    play.spec = { ...play.spec, exponentialFactor: valid(0) };
    play.spec = { ...play.spec, maxUnavailable: valid({ kind: 'count', count: 3 }) };
    assert.deepEqual(play.run().slice(0, 3), ['11', '10 9 2', '8 7 6']);
  });

  test('[zau 40] passes a pod without a revision over, also at the end', () => {
    const play = new UpdatePlay().put(8, { revision: undefined, state: 'not-ready' });
    play.readyReplicas = 9;
    play.run();
    assert.equal(play.pods.get(8)?.revision, undefined);
    assert.equal(play.promotions, 1);
    assert.equal(play.status.updateStep, 0);
  });

  test('[zau 45] counts a step that was granted in part once, by what was deleted', () => {
    const play = done(at(1), 6);
    play.look(1);
    assert.equal(play.stored, '2 / 1 / a2 b3 c3');
  });

  test('[zau 45] counts no step of which nothing was deleted', () => {
    const play = done(at(1, { a: 3 }), 6);
    play.look(0);
    assert.equal(play.stored, '1 / 0 / a3');
  });

  test('takes those of a step that a budget permits, and waits where it permits none', () => {
    const because = { reason: 'BudgetRefused', message: 'another zone' } as const;
    const play = done(at(1), 6);
    play.refusals.set('web-3-uid', { because });
    assert.deepEqual(play.look(), ['delete web-0']);
    const other = done(at(1), 6);
    for (const uid of ['web-3-uid', 'web-0-uid']) other.refusals.set(uid, { because });
    assert.deepEqual(other.look(), ['hold BudgetRefused']);
    assert.equal(other.status.updateStep, 1);
  });
});

describe('planZoneAwareUpdate() takes no step', () => {
  test('[zau 31, 34] of a spec that cannot be read, and says so only when one is due', () => {
    const problem = invalid('spec.maxUnavailable', 'must be …: got nothing');
    const play = new UpdatePlay();
    play.spec = { ...play.spec, maxUnavailable: problem };
    assert.deepEqual(play.look(), ['hold InvalidSpec']);
    assert.equal(play.stored, '0 / 0 / ');
    for (const ordinal of play.pods.keys()) play.put(ordinal, { revision: 'rev-2' });
    assert.deepEqual(play.look(), ['promote rev-1 to rev-2']);
  });

  test('[zau 35] of no pod, and counts none', () => {
    for (const count of [0, -1]) {
      const play = new UpdatePlay();
      play.spec = { ...play.spec, maxUnavailable: valid({ kind: 'count', count }) };
      assert.deepEqual(play.look(), ['hold StepOfNoPod']);
      assert.equal(play.stored, '0 / 0 / ');
    }
  });

  test('of a factor that shrinks, after the first', () => {
    const play = new UpdatePlay();
    play.spec = { ...play.spec, exponentialFactor: valid(0.5) };
    assert.deepEqual(play.run(), ['6']);
    assert.deepEqual(play.look(), ['hold StepOfNoPod']);
  });

  test('[zau 29] in a dry run, and tells the first one once', () => {
    const play = Object.assign(new UpdatePlay(), { strategy: 'RollingUpdate' });
    play.spec = { ...play.spec, isDryRun: true };
    for (let look = 0; look < 3; look += 1) {
      assert.deepEqual(play.look(), ['hold DryRun']);
      assert.equal(play.stored, '1 / 1 / a3 b3 c3');
    }
    const [hold] = play.plan().decisions;
    assert.match(hold?.because.message ?? '', /would take web-6 of zone a/);
  });

  test('promotes nothing in a dry run', () => {
    const play = new UpdatePlay();
    play.spec = { ...play.spec, isDryRun: true };
    for (const ordinal of play.pods.keys()) play.put(ordinal, { revision: 'rev-2' });
    assert.deepEqual(play.look(), []);
    assert.equal(play.status.currentRevision, 'rev-1');
  });
});

describe('planZoneAwareUpdate() ends', () => {
  test('[zau 15] once all pods run the new revision, which becomes the current one', () => {
    const play = at(6, { a: 0, b: 0, c: 1 });
    for (const ordinal of play.pods.keys()) play.put(ordinal, { revision: 'rev-2' });
    assert.deepEqual(play.look(), ['promote rev-1 to rev-2']);
    assert.equal(play.stored, '0 / 0 / a0 b0 c0');
    assert.equal(play.status.currentRevision, 'rev-2');
    assert.equal(play.status.isPaused, false);
    assert.deepEqual(play.look(), []);
  });

  test('[zau 16] without a write of the set where its controller promotes by itself', () => {
    const play = Object.assign(new UpdatePlay(), { current: 'rev-2' });
    for (const ordinal of play.pods.keys()) play.put(ordinal, { revision: 'rev-2' });
    assert.deepEqual(play.look(), []);
    assert.equal(play.status.updateRevision, 'rev-2');
  });

  test('[zau 49] not while the last pod is away', () => {
    const play = at(6, { a: 0, b: 0, c: 1 });
    for (const ordinal of play.pods.keys()) play.put(ordinal, { revision: 'rev-2' });
    play.pods.delete(2);
    assert.deepEqual(play.look(), ['hold AwaitingPods']);
    assert.equal(play.promotions, 0);
    assert.equal(play.stored, '6 / 0 / a0 b0 c1');
  });
});

describe('planZoneAwareUpdate(), while a step is being sent,', () => {
  /** Two pods of the zone are due, and the first of them is on its way. */
  function halfSent(): UpdatePlay {
    const play = at(1, { a: 3, b: 3, c: 3 });
    const [pod] = play.snapshot().target?.pods.filter(({ name }) => name === 'web-6') ?? [];
    assert.ok(pod !== undefined);
    play.begun.set(pod.name, pod);
    play.put(6, { state: 'terminating' });
    play.readyReplicas = 8;
    return play;
  }

  test('lets its other pods go, though the first are away', () => {
    assert.ok(deletes(halfSent(), 'web-3'));
  });

  test('keeps them where a pod of another zone is lost meanwhile', () => {
    const play = halfSent();
    play.put(8, { state: 'not-ready' });
    assert.ok(!deletes(play, 'web-3'));
  });

  test('keeps them where one that was updated before is lost meanwhile', () => {
    const play = halfSent();
    play.put(0, { revision: 'rev-2', state: 'not-ready' });
    assert.ok(!deletes(play, 'web-3'));
  });

  function deletes(play: UpdatePlay, name: string): boolean {
    return play
      .plan()
      .decisions.some((each) => each.kind === 'delete-pod' && each.pod.name === name);
  }
});
