import type { Instant } from '#base/units.ts';
import { isReady, type SetFacts } from '../../history/facts.ts';
import type { History, View } from '../../history/history.ts';
import { outdatedSlots } from './completion.ts';

/** What the operator says of a group that does not move: status, Event or gauge, as the harness read it. */
export interface StallStatement {
  /** From when on it is said; it holds until the next statement about the group. */
  readonly at: Instant;
  readonly namespace: string;
  readonly group: string;
  /** A reason of the operator's catalogue; empty: it says nothing any more. */
  readonly reason: string;
  /** The StatefulSet that the reason is about, where it names one. */
  readonly set?: string;
}

/** What is true of one zone. */
export interface ZoneTruth {
  readonly set: SetFacts;
  readonly unavailable: readonly number[];
  /** Slots whose pod is there and does not run the target. */
  readonly outdated: readonly number[];
  /** Slots whose pod is ready, but not yet for `minReadySeconds`. */
  readonly ripening: readonly number[];
}

/** Whether a reason is true of a group; `zones` are all of it, paused ones too. */
export type ReasonPredicate = (zones: readonly ZoneTruth[], said: StallStatement) => boolean;

/** Returns what is true of `set` in `view`. */
export function zoneTruth(set: SetFacts, history: History, view: View): ZoneTruth {
  const unavailable = history.unavailableSlots(set, view);
  const ripening = unavailable.filter((ordinal) => {
    const pod = history.slotPod(set, ordinal, view);
    return pod !== undefined && isReady(pod, set);
  });
  return { set, unavailable, ripening, outdated: outdatedSlots(set, history, view) };
}

/** Returns whether some zone that the statement may be about (all, unless it names one) fulfils `claim`. */
function some(claim: (zone: ZoneTruth) => boolean): ReasonPredicate {
  return (zones, said) =>
    zones.some((zone) => (said.set === undefined || said.set === zone.set.name) && claim(zone));
}

/** The reasons that are known here; a harness adds the rest of the operator's catalogue. */
export const reasonPredicates: Readonly<Record<string, ReasonPredicate>> = {
  MultipleZonesUnavailable: (zones) =>
    zones.filter((zone) => zone.unavailable.length > 0).length >= 2,
  ZoneNotReady: some((zone) => zone.unavailable.length > 0),
  MaxUnavailableReached: some(
    (zone) => zone.outdated.length > 0 && zone.unavailable.length >= zone.set.limit,
  ),
  Paused: some((zone) => zone.set.isPaused),
  MinReadySecondsPending: some((zone) => zone.ripening.length > 0),
  ZoneSettling: some((zone) => zone.ripening.length > 0),
  PausedZoneUnavailable: some((zone) => zone.set.isPaused && zone.unavailable.length > 0),
  RevisionUnknown: some((zone) => zone.set.target === undefined),
  WrongUpdateStrategy: some((zone) => zone.set.updateStrategy !== 'OnDelete'),
};
