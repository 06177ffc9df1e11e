/** The ledger of LN-4: where the embedded cluster answers differently, and why that may stay. */
import type { Difference } from './compare.ts';

/** One accepted difference. */
export interface AcceptedDifference {
  readonly id: string;
  /** What the real server does. */
  readonly rule: string;
  /** Why the embedded one need not. */
  readonly reason: string;
  readonly covers: (difference: Difference) => boolean;
}

/** All of them; each is printed with the number of places that it covers. */
export const acceptedDifferences: readonly AcceptedDifference[] = [];
