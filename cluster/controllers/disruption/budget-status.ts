import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { Instant } from '#base/units.ts';
import { timestamp } from '../../clock/timestamp.ts';
import { canonicalJson, numberAt, objectAt, objectsAt, textAt } from '../../json/read-json.ts';
import type { BudgetPlan } from './plan-budget.ts';
import type { BudgetView } from './views.ts';

const CONDITION = 'DisruptionAllowed';

/** Returns the status to write, or undefined where the stored one says it all (PD-4). */
export function budgetStatus(
  budget: BudgetView,
  plan: BudgetPlan['status'],
  now: Instant,
): JsonObject | undefined {
  const old = objectAt(budget.object, 'status');
  const next =
    plan.kind === 'failed'
      ? failedStatus(old, plan.message, now)
      : countedStatus(budget, plan, now);
  return canonicalJson(old) === canonicalJson(next) ? undefined : next;
}

function countedStatus(
  { generation, object }: BudgetView,
  { counts, disruptedPods }: Extract<BudgetPlan['status'], { kind: 'counted' }>,
  now: Instant,
): JsonObject {
  const open = [...disruptedPods].map(([pod, at]): readonly [string, string] => [
    pod,
    timestamp(at),
  ]);
  const isAllowed = counts.disruptionsAllowed > 0;
  const wanted = {
    status: isAllowed ? 'True' : 'False',
    reason: isAllowed ? 'SufficientPods' : 'InsufficientPods',
    message: '',
    observedGeneration: generation,
  };
  return {
    ...counts,
    ...(open.length === 0 ? {} : { disruptedPods: Object.fromEntries(open) }),
    observedGeneration: generation,
    conditions: conditionsOf(objectAt(object, 'status'), wanted, now),
  };
}

/** Returns the status while the count is unknown: nothing is allowed, and the generation is not observed. */
function failedStatus(old: JsonObject, message: string, now: Instant): JsonObject {
  const observedGeneration = numberAt(old, 'observedGeneration');
  const wanted = {
    status: 'False',
    reason: 'SyncFailed',
    message,
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
  };
  return { ...old, disruptionsAllowed: 0, conditions: conditionsOf(old, wanted, now) };
}

function conditionsOf(old: JsonObject, wanted: JsonObject, now: Instant): readonly JsonObject[] {
  const known = objectsAt(old, 'conditions');
  const before = known.find(({ type }) => type === CONDITION);
  const since = textAt(before, 'lastTransitionTime');
  const isSame = isJsonObject(before) && before['status'] === wanted['status'] && since !== '';
  const lastTransitionTime = isSame ? since : timestamp(now);
  const condition = { type: CONDITION, ...wanted, lastTransitionTime };
  return [...known.filter(({ type }) => type !== CONDITION), condition];
}
