import { assertNever } from '#base/assert-never.ts';
import { problemText } from '#base/parsed.ts';
import { after, type Instant, type Millis, millis } from '#base/units.ts';
import type { BudgetRef } from '#disruption/budget.ts';
import { emptyLedger, type Ledger } from '#disruption/ledger.ts';
import type { StoredLedger } from '#disruption/parse-ledger.ts';

/** Whether what is stored says what is given away under a budget. */
export type Trust =
  | { readonly kind: 'trusted'; readonly ledger: Ledger }
  /** It is unknown what was given away: nothing is until then, when all of that has happened or never will (D-34). */
  | { readonly kind: 'waiting'; readonly until: Instant; readonly why: string }
  /** Only a person, or another program, can end it. */
  | { readonly kind: 'refused'; readonly why: string };

/** What is known of the ledger of a budget. */
export interface LedgerSight {
  readonly budget: BudgetRef;
  /** Names where it is stored, such as `ConfigMap ops/ledger-of-ingester`. */
  readonly object: string;
  /** Undefined: there is no ConfigMap. */
  readonly stored: StoredLedger | undefined;
  /** Whether this process saw the budget being made, and no other can have given anything away under it since. */
  readonly sawCreation: boolean;
  /** How long this process has seen that no ledger can be read there, without a break. */
  readonly unreadableFor: Millis;
  /** How long a permission may still be used (D-50). */
  readonly horizon: Millis;
  readonly now: Instant;
}

/**
 * Says what is given away under a budget, as far as that can be trusted. A ledger that is missing is empty where this
 * process saw the budget being made; otherwise, and where it was cut off or edited, what was given away shows in the pods
 * once the horizon has passed. What a former budget of the name gave away still counts. One that a newer program wrote is
 * left alone.
 */
export function trustOf(sight: LedgerSight): Trust {
  const { stored, sawCreation, object } = sight;
  if (stored === undefined) {
    return sawCreation ? empty(sight) : waited(sight, `there is no ${object}`);
  }
  switch (stored.kind) {
    case 'ledger':
      return { kind: 'trusted', ledger: stored.ledger };
    case 'of-another-budget':
      return sawCreation
        ? { kind: 'trusted', ledger: stored.ledger }
        : waited(sight, problemText(stored.problem), stored.ledger);
    case 'truncated':
    case 'edited':
      return waited(sight, problemText(stored.problem));
    case 'from-the-future':
      return { kind: 'refused', why: problemText(stored.problem) };
    default:
      return assertNever(stored);
  }
}

function empty({ budget }: LedgerSight): Trust {
  return { kind: 'trusted', ledger: emptyLedger(budget) };
}

/** @param ledger what is trusted once the wait is over; otherwise nothing is given away then */
function waited(sight: LedgerSight, why: string, ledger = emptyLedger(sight.budget)): Trust {
  const { unreadableFor, horizon, now } = sight;
  if (unreadableFor >= horizon) return { kind: 'trusted', ledger };
  return { kind: 'waiting', until: after(now, millis(horizon - unreadableFor)), why };
}
