import type { Instant } from '#base/units.ts';

/** Whether a pod may be disturbed right now, as far as all budgets and their ledgers are known. */
export type Permission =
  /** No budget governs the pod. */
  | { readonly kind: 'ungoverned' }
  /** Its reservation is stored, and nothing prevents it now. */
  | { readonly kind: 'given' }
  /** Nothing that is known prevents it: the ledger of its budget has to be asked. */
  | { readonly kind: 'to-ask' }
  /** A budget does not allow it now; `until` then if nothing else changes. */
  | {
      readonly kind: 'refused';
      readonly message: string;
      readonly until: Instant | undefined;
    }
  /** It cannot be known; nothing may be disturbed. `until` as above. */
  | {
      readonly kind: 'unclear';
      readonly message: string;
      readonly until: Instant | undefined;
    };
