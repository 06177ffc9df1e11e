import type { Instant } from '#base/units.ts';
import { endsAt } from '#disruption/release.ts';
import { failSafeStatus, isSameZoneStatus, type ZoneBudgetStatus } from '../status.ts';
import { projectStatus, type Shown } from './project-status.ts';

/** What there is to be done for the status of a budget. */
export interface StatusPlan {
  /** What is to be written; undefined where that is there already. */
  readonly write: ZoneBudgetStatus | undefined;
  /** When it changes by time alone, at the earliest; undefined: it does not (ZDB-14). */
  readonly lookAgainAt: Instant | undefined;
}

/**
 * Plans what is written in the place of `before`: what the ledger and the pods show, or while that is unknown that, no more
 * than that nothing may go (W-09).
 *
 * @param shown undefined where the spec cannot be read, or it is unknown what is given away
 */
export function planStatus(before: ZoneBudgetStatus, shown: Shown | undefined): StatusPlan {
  const next = (shown && projectStatus(shown)) ?? failSafeStatus(before);
  return {
    write: isSameZoneStatus(before, next) ? undefined : next,
    lookAgainAt: shown && changesAt(shown),
  };
}

function changesAt({ standing, held, moment }: Shown): Instant | undefined {
  const ends = held.flatMap(
    (reservation) => endsAt(reservation, standing.places.get(reservation.slot.pod), moment) ?? [],
  );
  const [first] = [...ends, ...(standing.changesAt === undefined ? [] : [standing.changesAt])]
    .filter((at) => at > moment.now)
    .toSorted((one, other) => one - other);
  return first;
}
