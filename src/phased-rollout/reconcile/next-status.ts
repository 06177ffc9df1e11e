import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '#base/json.ts';
import type { Instant } from '#base/units.ts';
import { nextConditions } from '#kubernetes/custom-resource/conditions.ts';
import type { RolloutView } from '../parse-resource.ts';
import type { PhasedPlan } from '../plan/plan-decision.ts';
import type { PhasedSnapshot } from '../snapshot.ts';
import { formatStatus } from '../status.ts';

/** Returns the status as `plan` wants it: the conditions that the plan sets, the others as they are there. */
function nextStatus(
  { writtenStatus, generation }: RolloutView,
  plan: PhasedPlan,
  now: Instant,
): JsonObject {
  const conditions = nextConditions(writtenStatus, plan.conditions, { generation, now });
  return { ...(conditions.length > 0 && { conditions }), ...formatStatus(plan.status) };
}

/** Returns the status that `plan` wants stored; undefined where it is there already. */
export function statusAfter(
  {
    rollout,
    snapshot,
    now,
  }: { readonly rollout: RolloutView; readonly snapshot: PhasedSnapshot; readonly now: Instant },
  plan: PhasedPlan,
): JsonObject | undefined {
  const isPlanned =
    plan.status !== snapshot.resource.status || Object.keys(plan.conditions).length > 0;
  if (!isPlanned) return undefined;
  const status = nextStatus(rollout, plan, now);
  return isDeepStrictEqual(status, rollout.writtenStatus) ? undefined : status;
}
