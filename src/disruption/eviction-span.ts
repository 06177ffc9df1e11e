import { type Millis, type Monotonic, millis, minutes } from '#base/units.ts';
import type { CountedSpan } from './decision/denial.ts';
import type { SlotRef } from './reservation.ts';
import type { Standing } from './standing.ts';

/** Slots whose evictions keep others out together: those of a zone, of a partition, or of the whole budget. */
export interface EvictionSpan {
  /** The same text for the same span of one budget. */
  readonly key: string;
  /** Undefined: all that the budget governs. */
  readonly slots: CountedSpan | undefined;
  /** How long its evictions may be allowed at first while none of its pods goes. */
  readonly longest: Millis;
  /** The same for a span whose permissions came to nothing before. */
  readonly afterStrike: Millis;
}

/**
 * For how long the pods of a span have been given to evictions, of which none came to anything. The evictions of a span rest
 * from the end of that time until others have had their turn.
 */
export interface EvictionTurn {
  /** When the first of them was given. */
  readonly since: Monotonic;
  /** How long that may go on. */
  readonly allowed: Millis;
  /** Since when none of its pods is given to an eviction; undefined while one is. */
  readonly freeSince: Monotonic | undefined;
}

/** How long evictions of a zone or partition may be allowed again and again although its pods stay. */
const longestUnused: Millis = minutes(5);

/** How long others have then, before a pod of it is granted again. */
export const othersTurn: Millis = minutes(1);

/**
 * Returns the spans of `slot`. Where zones exclude each other, evictions of one zone after the other could keep a rollout
 * out for ever, each within its own time: so the whole budget is a span, too, with the time of two zones.
 */
export function spansOf(slot: SlotRef, standing: Standing): readonly EvictionSpan[] {
  if (standing.budget.mode.kind === 'partitions') {
    const partition = standing.places.get(slot.pod)?.partition;
    return partition === undefined ? [] : [oneOf({ kind: 'partition', partition })];
  }
  const zone = standing.places.get(slot.pod)?.slot.zone ?? slot.zone;
  return zone === undefined ? [whole] : [oneOf({ kind: 'zone', zone }), whole];
}

const whole: EvictionSpan = {
  key: 'budget',
  slots: undefined,
  longest: millis(2 * longestUnused),
  afterStrike: millis(2 * othersTurn),
};

function oneOf(slots: CountedSpan): EvictionSpan {
  const name = slots.kind === 'zone' ? slots.zone : slots.partition;
  return {
    key: `${slots.kind} ${name ?? ''}`,
    slots,
    longest: longestUnused,
    afterStrike: othersTurn,
  };
}
