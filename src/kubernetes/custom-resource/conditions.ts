import type { Because } from '#base/because.ts';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { visible } from '#base/text/visible.ts';
import { formatUtcSeconds } from '#base/time/utc-seconds.ts';
import type { Instant } from '#base/units.ts';

/** A condition as it is to be, but for its times. */
export interface WantedCondition<Reason extends string = string> {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly because: Because<Reason>;
}

/** Longest message that a condition may have, by the API's own schema of conditions. */
const longestMessage = 32_768;

/** Returns the conditions of `status` as they are there; what is no condition is left out. */
function conditionsIn({ conditions }: JsonObject): readonly JsonObject[] {
  return Array.isArray(conditions) ? conditions.filter(isJsonObject) : [];
}

/**
 * Returns the conditions of `status` with those of `wanted`, by type, in their place or after them. A condition shows since
 * when its status is what it is, whatever becomes of its message.
 *
 * @param at the generation that they are about, and when they are written
 */
export function nextConditions(
  status: JsonObject,
  wanted: Readonly<Record<string, WantedCondition>>,
  at: { readonly generation: number; readonly now: Instant },
): readonly JsonObject[] {
  const written = conditionsIn(status);
  const kept = written.map((before) => {
    const found = Object.entries(wanted).find(([type]) => type === before['type']);
    return found === undefined ? before : conditionOf(found, { ...at, before });
  });
  const added = Object.entries(wanted)
    .filter(([type]) => written.every((each) => each['type'] !== type))
    .map((each) => conditionOf(each, at));
  return [...kept, ...added];
}

function conditionOf(
  [type, { status, because }]: readonly [string, WantedCondition],
  {
    generation,
    now,
    before,
  }: { readonly generation: number; readonly now: Instant; readonly before?: JsonObject },
): JsonObject {
  const since = before?.['status'] === status ? before['lastTransitionTime'] : undefined;
  return {
    type,
    status,
    observedGeneration: generation,
    lastTransitionTime: typeof since === 'string' ? since : formatUtcSeconds(now),
    reason: because.reason,
    message: visible(because.message).slice(0, longestMessage),
  };
}
