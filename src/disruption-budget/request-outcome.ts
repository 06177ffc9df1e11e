import { assertNever } from '#base/assert-never.ts';
import type { Denial } from '#disruption/denial.ts';
import type { RequestOutcome } from '#telemetry/budget-metrics.ts';

/** The outcome of a question that a budget says yes to. */
export const allowedOutcome: RequestOutcome = Object.freeze({ reason: 'allowed', status: 200 });

/**
 * The code of a denial, and how it is counted: by the peer's word for it (§5), with the code by which drainers know what to
 * do. 429 makes them come back; only what a person has to change first is 400, or 403 where that is the budget's own will.
 */
export function outcomeOfDenial(denial: Denial): RequestOutcome {
  switch (denial.kind) {
    case 'nothing-allowed':
      return { reason: 'max-unavailable-0', status: 403 };
    case 'too-few-sets':
      return { reason: 'min-sts-not-found', status: 400 };
    case 'no-partition':
      return { reason: 'partition-not-identified', status: 400 };
    case 'sets-unreadable':
      return { reason: 'min-sts-not-found', status: 429 };
    case 'pods-unreadable':
      return { reason: 'err: sts-pod-status-not-determined', status: 429 };
    // It may be that the set, or its labels, have not been seen yet.
    case 'set-not-governed':
      return { reason: 'sts-no-found', status: 429 };
    case 'pod-not-seen':
      return { reason: 'pod-not-found', status: 429 };
    case 'no-zone':
      return { reason: 'not-determined', status: 429 };
    case 'disturbed':
    case 'ledger-full':
      return { reason: 'denied', status: 429 };
    default:
      return assertNever(denial);
  }
}
