import type { Denial } from '#disruption/decision/denial.ts';
import type { RequestOutcome } from '#telemetry/metrics/budget-metrics.ts';

/** The outcome of a question that a budget says yes to. */
export const allowedOutcome: RequestOutcome = Object.freeze({ reason: 'allowed', status: 200 });

const outcomes = {
  'nothing-allowed': { reason: 'max-unavailable-0', status: 403 },
  'too-few-sets': { reason: 'min-sts-not-found', status: 400 },
  'no-partition': { reason: 'partition-not-identified', status: 400 },
  'sets-unreadable': { reason: 'min-sts-not-found', status: 429 },
  'pods-unreadable': { reason: 'err: sts-pod-status-not-determined', status: 429 },
  // It may be that the set, or its labels, have not been seen yet.
  'set-not-governed': { reason: 'sts-no-found', status: 429 },
  'pod-not-seen': { reason: 'pod-not-found', status: 429 },
  'no-zone': { reason: 'not-determined', status: 429 },
  disturbed: { reason: 'denied', status: 429 },
  unused: { reason: 'denied', status: 429 },
  'ledger-full': { reason: 'denied', status: 429 },
} as const satisfies Record<Denial['kind'], RequestOutcome>;

/**
 * Returns the code of a denial, and how it is counted: by the peer's word for it, with the code by which drainers know what
 * to do. 429 makes them come back; only what a person has to change first is 400, or 403 where that is the budget's own
 * will.
 */
export function outcomeOfDenial({
  kind,
}: Denial): RequestOutcome & { readonly status: 400 | 403 | 429 } {
  return outcomes[kind];
}
