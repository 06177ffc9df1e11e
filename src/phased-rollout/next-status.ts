import type { JsonObject } from '#base/json.ts';
import type { Instant } from '#base/units.ts';
import { nextConditions } from '#kubernetes/conditions.ts';
import type { RolloutView } from './parse-resource.ts';
import type { PhasedPlan } from './plan-decision.ts';
import { formatStatus } from './status.ts';

/** Returns `status` as `plan` wants it: the conditions that the plan sets, the others as they stand there (C7, C8). */
export function nextStatus(
  { writtenStatus, generation }: RolloutView,
  plan: PhasedPlan,
  now: Instant,
): JsonObject {
  const conditions = nextConditions(writtenStatus, plan.conditions, { generation, now });
  return { ...(conditions.length > 0 && { conditions }), ...formatStatus(plan.status) };
}
