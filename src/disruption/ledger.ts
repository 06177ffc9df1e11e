/**
 * Who may take which pod away, and what has been given already: one ledger a budget. The room is pure; the ledger is
 * stored by `control/`, and which pods a budget is about is known by the rooms of budgets.
 */
import type { BudgetRef } from './budget.ts';
import type { Reservation } from './reservation.ts';

/**
 * The ledger of voluntary disruption under one budget (D-33): which pods are granted, and to which client. It is stored by
 * compare-and-swap, so that all who ask are answered from one order of ledgers (BUDG-3). Immutable.
 */
export interface Ledger {
  readonly budget: BudgetRef;
  /** Keyed by the uid of the pod, in the order in which they were given. */
  readonly reservations: ReadonlyMap<string, Reservation>;
}

/** Returns the ledger of a budget under which nothing is given away. */
export function emptyLedger(budget: BudgetRef): Ledger {
  return { budget, reservations: new Map() };
}
