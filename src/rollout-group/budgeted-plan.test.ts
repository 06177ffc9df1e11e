/** What becomes of the plan of a rollout under a disruption budget: scenarios 8 to 12 of spec rollout-groups. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after, monotonic, seconds } from '#base/units.ts';
import {
  type GroupBudgets,
  noBudgets,
  type WantedDisruption,
} from '#control/budget/group-budgets.ts';
import type { GroupMoment } from '#control/plan/group-moment.ts';
import { type GovernedPlan, governedPlan } from '#control/plan/plan-permissions.ts';
import type { Permission } from '#disruption/decision/permission.ts';
import { type StatefulSetOverrides, T0 } from '#support/objects/views.ts';
import { group, line, zone } from '#support/rollouts/rollout-zones.ts';
import { planRolloutGroup } from './plan.ts';
import type { GroupSnapshot } from './snapshot.ts';

const prev: StatefulSetOverrides['status'] = { currentRevision: 'prev-hash' };
const allOld = ['old', 'old', 'old'] as const;

/** `none` governs every pod that `answers` do not name. */
function budgets(
  answers: Readonly<Record<string, Permission['kind']>>,
  asked: WantedDisruption[] = [],
): GroupBudgets {
  const until = after(T0, seconds(5));
  const judge = (wanted: readonly WantedDisruption[]): readonly Permission[] =>
    wanted.map((each): Permission => {
      asked.push(each);
      const kind = answers[each.pod.name.slice('ingester-zone-'.length)] ?? 'ungoverned';
      const message = `a budget protects ${each.pod.name}`;
      return kind === 'refused' || kind === 'unclear' ? { kind, message, until } : { kind };
    });
  return { ...noBudgets, judge };
}

function governed(snapshot: GroupSnapshot, given: GroupBudgets): GovernedPlan {
  const { sets, leaving, conflicts } = snapshot;
  const proof = {
    pods: undefined,
    statefulSets: undefined,
    budgets: { kind: 'unproven' },
  } as const;
  const moment: GroupMoment = {
    key: 'test/ingester',
    now: T0,
    monotonic: monotonic(0),
    sets,
    leaving,
    conflicts,
    proof,
  };
  return governedPlan(planRolloutGroup(snapshot, T0), moment, given);
}

function lines({ plan }: GovernedPlan): readonly string[] {
  return plan.decisions.map(line);
}

const oneOld = (): GroupSnapshot =>
  group([zone('a'), zone('b', { status: prev, pods: allOld }), zone('c')]);

const cases: Record<
  string,
  {
    readonly given?: GroupSnapshot;
    readonly answers: Readonly<Record<string, Permission['kind']>>;
    readonly want: readonly string[];
  }
> = {
  '[scenario 8] without a pod that a budget refuses': {
    answers: { 'b-1': 'refused' },
    want: ['delete b-0 PodOutdated'],
  },
  '[scenario 9] [zpdb 116] with the second pod when the first is refused, and no third': {
    answers: { 'b-0': 'refused' },
    want: ['delete b-1 PodOutdated'],
  },
  '[scenario 10] without any deletion, and later zones wait, when a budget refuses every pod': {
    given: group([
      zone('a', { status: prev, pods: allOld }),
      zone('b', { status: prev, pods: allOld }),
    ]),
    answers: { 'a-0': 'refused', 'a-1': 'refused' },
    want: ['hold a BudgetRefused', 'hold b ZoneOrder'],
  },
  '[scenario 12] [zpdb 118] without any deletion when it is unclear which budget governs': {
    answers: { 'b-0': 'unclear', 'b-1': 'unclear' },
    want: ['hold b BudgetUnclear'],
  },
  'as it is while its reservations are still to be asked for': {
    answers: { 'b-0': 'to-ask', 'b-1': 'given' },
    want: ['delete b-0 PodOutdated', 'delete b-1 PodOutdated'],
  },
  'with a stuck pod, which takes nothing from anybody, and no other': {
    given: group([zone('a', { status: prev, pods: ['old', 'old-stuck', 'old'] }), zone('b')]),
    answers: { 'a-0': 'refused', 'a-1': 'refused', 'a-2': 'refused' },
    want: ['hold a BudgetRefused', 'delete a-1 StuckPodReplaced'],
  },
};

for (const [fact, { given = oneOld(), answers, want }] of Object.entries(cases)) {
  test(`governedPlan() leaves the plan ${fact}`, () => {
    assert.deepEqual(lines(governed(given, budgets(answers))), want);
  });
}

test('governedPlan() names each cause once, and looks again when the first has ended, at the latest 10 s later', () => {
  const { plan } = governed(oneOld(), budgets({ 'b-0': 'refused', 'b-1': 'refused' }));
  const hold = plan.decisions.find(({ kind }) => kind === 'hold');
  assert.equal(
    hold?.because.message,
    'ingester-zone-b-0 may not go: a budget protects ingester-zone-b-0; ingester-zone-b-1 may not go: a budget protects ingester-zone-b-1',
  );
  assert.deepEqual(plan.requeue, { kind: 'at', at: after(T0, seconds(5)) });
});

test('governedPlan() looks again 10 s after a refusal that nothing is known to end', () => {
  const { plan } = governed(oneOld(), budgets({ 'b-1': 'refused' }));
  assert.deepEqual(plan.requeue, { kind: 'at', at: after(T0, seconds(10)) });
});

test('governedPlan() fails the pass where a person has to mend something, and not for a refusal (ME-11)', () => {
  assert.equal(governed(oneOld(), budgets({ 'b-0': 'refused' })).plan.failure, undefined);
  const { plan } = governed(oneOld(), budgets({ 'b-0': 'unclear', 'b-1': 'unclear' }));
  assert.equal(plan.failure, 'a budget protects ingester-zone-b-0');
});

test('governedPlan() says which deletions wait for a reservation', () => {
  const { plan, unpermitted } = governed(oneOld(), budgets({ 'b-1': 'to-ask' }));
  const waiting = plan.decisions.filter((decision) => unpermitted.has(decision));
  assert.deepEqual(waiting.map(line), ['delete b-1 PodOutdated']);
});

test('[scenario 11] the budgets hear the limit of the set, and 1 where that cannot be read', () => {
  const asked: WantedDisruption[] = [];
  governed(oneOld(), budgets({}, asked));
  const annotations = { 'rollout-max-unavailable': 'xxx' };
  governed(group([zone('a', { status: prev, pods: allOld, annotations })]), budgets({}, asked));
  assert.deepEqual(
    asked.map(({ maxUnavailable }) => maxUnavailable),
    [2, 2, 1],
  );
});
