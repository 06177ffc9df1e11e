/** The order in which one pass over a StatefulsetRollout looks at what may keep pods from going (J.2). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { after, instant, seconds } from '#base/units.ts';
import { budgetOf } from '#support/rollouts/played-cluster.ts';
import { RolloutPlay } from '#support/rollouts/rollout-play.ts';
import type { RolloutSnapshot } from '../snapshot.ts';
import type { RolloutPlan } from './plan-decision.ts';

/** A play whose set is written as v2 is wanted, and of which no pod has gone yet. */
function written(play = RolloutPlay.settled()): RolloutPlay {
  play.want('v2').look();
  while (play.set?.template !== 'v2') play.look();
  play.done.length = 0;
  return play;
}

/** A step of J.2, what brings it about, and what is told then. */
interface Obstacle {
  readonly step: string;
  readonly arranged: (snapshot: RolloutSnapshot, play: RolloutPlay) => RolloutSnapshot;
  readonly told: string;
}

/** In the order of J.2: each is told before all that follow it. */
const obstacles: readonly Obstacle[] = [
  {
    step: '1: the StatefulSet controller has not looked at the newest spec',
    arranged: (snapshot) => {
      const { target } = snapshot;
      if (target === undefined) return snapshot;
      const generation = target.set.status.observedGeneration + 1;
      return { ...snapshot, target: { ...target, set: { ...target.set, generation } } };
    },
    told: 'RollingOut AwaitingController',
  },
  {
    step: '5: an earlier process may be at work',
    arranged: (snapshot) => {
      const because = { reason: 'AwaitingPredecessor', message: 'until later' } as const;
      return { ...snapshot, holds: [{ because }] };
    },
    told: 'RollingOut AwaitingPredecessor',
  },
  {
    step: '5: the API server has asked for patience',
    arranged: (snapshot, { now }) => {
      const until = after(now, seconds(20));
      const refused = { reason: 'ApiThrottled', message: 'later', until } as const;
      return { ...snapshot, evictions: { acceptedAt: undefined, refused } };
    },
    told: 'RollingOut ApiThrottled',
  },
  {
    step: '5: the interval is not over',
    arranged: (snapshot, { now }) => {
      const { resource } = snapshot;
      if (resource.spec.kind === 'invalid') return snapshot;
      const value = { ...resource.spec.value, evictionInterval: seconds(60) };
      const progress = { ...resource.progress, lastEviction: instant(now - 1_000) };
      return { ...snapshot, resource: { ...resource, progress, spec: { kind: 'valid', value } } };
    },
    told: 'RollingOut AwaitingInterval',
  },
  {
    step: '6: Consul cannot be asked',
    arranged: (snapshot) => {
      const discovery = { kind: 'unknown', code: 'ConsulUnavailable', message: 'refused' } as const;
      return { ...snapshot, discovery };
    },
    told: 'RollingOut ConsulUnavailable',
  },
  {
    step: '7: two budgets select the pods',
    arranged: (snapshot) => ({ ...snapshot, budgets: [...snapshot.budgets, budgetOf(2, 'other')] }),
    told: 'RollingOut MultipleBudgets',
  },
  {
    step: '8: the budget lets none go',
    arranged: (snapshot) => ({
      ...snapshot,
      budgets: snapshot.budgets.map((each) => ({ ...each, disruptionsAllowed: 0 })),
    }),
    told: 'RollingOut PDBBlocked',
  },
];

/** The plan with all of `some` in the way. */
function planWith(play: RolloutPlay, some: readonly Obstacle[]): RolloutPlan {
  return play.planOf(
    some.reduce((snapshot, { arranged }) => arranged(snapshot, play), play.snapshot()),
  );
}

function toldBy({ progress, because }: RolloutPlan): string {
  return `${progress.phase} ${because?.reason}`;
}

describe('of what keeps pods from going', () => {
  for (const [at, { step, told }] of obstacles.entries()) {
    test(`step ${step}: is told before all that comes after it [J.2]`, () => {
      const plan = planWith(written(), obstacles.slice(at));
      assert.equal(toldBy(plan), told);
      assert.equal(plan.action, undefined);
    });
  }

  test('nothing keeps the pods where nothing is there [J.2]', () => {
    assert.equal(toldBy(planWith(written(), [])), 'WaitingForReady PodsEvicted');
  });

  test('nothing is reported where no pod is left to go: what has gone is waited for (step 4) [J.2]', () => {
    const play = RolloutPlay.settled().edit({ percent: 20 }).want('v2');
    play.rest();
    const plan = planWith(play, obstacles.slice(1));
    assert.equal(toldBy(plan), 'WaitingForReady AwaitingPods');
  });
});

describe('the step that lets pods go', () => {
  test('names all of them in what is stored before any of them goes (steps 10 and 11) [J.2, B-7]', () => {
    const play = written();
    const { action, progress } = play.plan();
    assert.equal(action?.kind, 'evict');
    const pods = action?.kind === 'evict' ? action.pods : [];
    assert.deepEqual(
      progress.batch,
      pods.map(({ name, uid }) => ({ name, uid })),
    );
    assert.deepEqual([...progress.rotated], ['web-9', 'web-8']);
    assert.equal(progress.lastEviction, play.now);
  });

  test('is one pod where there is an interval, whatever the budget lets (step 7) [J.2]', () => {
    const play = written(RolloutPlay.settled().edit({ evictionInterval: seconds(10) }));
    const { action } = play.plan();
    assert.equal(action?.kind === 'evict' ? action.pods.length : 0, 1);
  });

  test('comes after the one that lowers the partition, where pods are pinned (step 9) [J.2]', () => {
    const play = RolloutPlay.settled().edit({ leakPolicy: 'Pin' });
    play.run();
    written(play);
    play.look();
    assert.deepEqual(play.done, ['partition 8']);
    play.look();
    assert.deepEqual(play.done, ['partition 8', 'evict 9 8']);
  });
});
