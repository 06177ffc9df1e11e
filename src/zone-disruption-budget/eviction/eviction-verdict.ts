import type { Instant } from '#base/units.ts';
import type { BudgetRef } from '#disruption/budget.ts';
import type { Denial } from '#disruption/decision/denial.ts';

/** What one budget says to the eviction of a pod that it selects. */
export type ZoneBudgetVerdict = {
  readonly budget: BudgetRef;
  /** Whether the budget itself is a dry run: it refuses nothing then, and nothing is recorded for it (EV-10). */
  readonly isDryRun: boolean;
} & (
  | {
      readonly kind: 'allowed';
      /** Whether the pod was given away before, so that nothing was counted again (EV-11). */
      readonly isRepeated: boolean;
    }
  | { readonly kind: 'denied'; readonly denial: Denial }
  /** Its spec cannot be read: a user has to mend that. */
  | { readonly kind: 'unreadable'; readonly why: string }
  /** It cannot be known now: `why`, and `until` when at the latest if that is known. */
  | { readonly kind: 'unclear'; readonly why: string; readonly until: Instant | undefined }
);

/** A {@link ZoneBudgetVerdict} that lets nothing go. */
export type ZoneBudgetRefusal = Exclude<ZoneBudgetVerdict, { readonly kind: 'allowed' }>;

/** Returns those of `verdicts` that say no, and are no dry run. */
export function refusalsIn(verdicts: readonly ZoneBudgetVerdict[]): readonly ZoneBudgetRefusal[] {
  return verdicts
    .filter((verdict) => verdict.kind !== 'allowed')
    .filter(({ isDryRun }) => !isDryRun);
}
