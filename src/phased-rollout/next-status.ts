import type { JsonObject } from '#base/json.ts';
import type { Instant } from '#base/units.ts';
import { formatUtcSeconds } from '#base/utc-seconds.ts';
import { conditionsIn, type RolloutView } from './parse-resource.ts';
import type { PhasedPlan, WantedCondition } from './plan-decision.ts';
import { formatStatus } from './status.ts';

/** Longest message that a condition may have (§1.3). */
const longestMessage = 32_768;

/**
 * Returns `status` as `plan` wants it, conditions and all: those that the plan sets, the others as they stand there (C8).
 * A condition tells since when its status is what it is, whatever becomes of its message (C7).
 */
export function nextStatus(rollout: RolloutView, plan: PhasedPlan, now: Instant): JsonObject {
  const written = conditionsIn(rollout.writtenStatus);
  const wanted = Object.entries(plan.conditions);
  const kept = written.map((each) => {
    const found = wanted.find(([type]) => type === each['type']);
    return found === undefined ? each : conditionOf(found, { rollout, before: each, now });
  });
  const added = wanted
    .filter(([type]) => written.every((each) => each['type'] !== type))
    .map((each) => conditionOf(each, { rollout, before: undefined, now }));
  const conditions = [...kept, ...added];
  return { ...(conditions.length > 0 && { conditions }), ...formatStatus(plan.status) };
}

function conditionOf(
  [type, { status, because }]: readonly [string, WantedCondition],
  {
    rollout,
    before,
    now,
  }: {
    readonly rollout: RolloutView;
    readonly before: JsonObject | undefined;
    readonly now: Instant;
  },
): JsonObject {
  const since = before?.['status'] === status ? before['lastTransitionTime'] : undefined;
  return {
    type,
    status,
    observedGeneration: rollout.generation,
    lastTransitionTime: typeof since === 'string' ? since : formatUtcSeconds(now),
    reason: because.reason,
    message: because.message.slice(0, longestMessage),
  };
}
