/** What the eviction webhook says: to who evicts, and to the metrics. */
import { assertNever } from '#base/assert-never.ts';
import { formatUtcSeconds } from '#base/time/utc-seconds.ts';
import type { BudgetRef } from '#disruption/budget.ts';
import type { Denial } from '#disruption/decision/denial.ts';
import { explain } from '#disruption/decision/denial-text.ts';
import type { EvictionVerdict } from '#disruption-budget/eviction/eviction-budgets.ts';
import { allowedOutcome, outcomeOfDenial } from '#disruption-budget/eviction/request-outcome.ts';
import type { RequestOutcome, RequestReason } from '#telemetry/metrics/budget-metrics.ts';
import { denyForFailure, overloadText } from '../review/dependency.ts';
import {
  type AdmissionRequest,
  allow,
  allowWithWarning,
  type ReasonedRefusal,
  type ReviewDecision,
} from '../review/review.ts';

/** The answer to an eviction, and how it is counted. */
export interface EvictionAnswer {
  readonly decision: ReviewDecision;
  readonly outcome: RequestOutcome;
}

/** Returns the answer where nothing prevents it, and nothing is recorded. */
export function passed(reason: 'pod-not-in-scope' | 'pod-not-found'): EvictionAnswer {
  return { decision: allow, outcome: { reason, status: 200 } };
}

/** The pod serves no client, so that no budget counts on it. */
export const notReady: EvictionAnswer = Object.freeze({
  decision: allowWithWarning('pod is not ready'),
  outcome: { reason: 'pod-not-ready', status: 200 } as const,
});

/** Returns the answer to what is no eviction, whenever it is asked again. */
export function notAnEviction(message: string): EvictionAnswer {
  return refused('invalid-request', {
    message,
    code: 400,
    causes: [{ reason: 'InvalidRequest', message }],
  });
}

/** Returns the answer where the pod is there, but not in the view by which budgets count. */
export function notSeenYet(request: AdmissionRequest): EvictionAnswer {
  const why = 'the pod, as it is now, has not been seen by this operator yet';
  return refused('pod-not-found', {
    message: `${evictionText(request)}: ${why}`,
    code: 429,
    causes: [{ reason: 'PodNotSeen', message: why }],
    doubt: 'NotKnownYet',
  });
}

/** Returns the answer while too much is under way (D-30). */
export function overloaded({ namespace, name }: AdmissionRequest): EvictionAnswer {
  const message = overloadText(`eviction of pod ${namespace}/${name}`);
  return refused('overloaded', {
    message,
    code: 429,
    causes: [{ reason: 'Overloaded', message }],
    doubt: 'Overloaded',
  });
}

/**
 * Returns the answer where something that was asked failed, or did not answer in time: who evicts shall come back, also
 * where our Role is to blame, which may be corrected meanwhile.
 */
export function failed(
  request: AdmissionRequest,
  { what, error }: { readonly what: 'pod' | 'budgets'; readonly error: unknown },
): EvictionAnswer {
  const failure = what === 'pod' ? 'the pod cannot be read' : 'the budgets cannot be asked';
  const denied = denyForFailure(`${evictionText(request)}: ${failure}`, error);
  const reason = what === 'pod' ? 'pod-not-found' : 'not-determined';
  return refused(reason, { ...denied, code: 429 });
}

/** Returns what the budgets say. */
export function answerOf(request: AdmissionRequest, verdict: EvictionVerdict): EvictionAnswer {
  switch (verdict.kind) {
    case 'not-governed':
      return passed('pod-not-in-scope');
    case 'allowed':
      return { decision: allow, outcome: allowedOutcome };
    case 'denied':
      return denied(verdict.denial, verdict.budget);
    case 'ambiguous':
      return ambiguous(verdict);
    case 'no-set':
      return withoutSet(verdict);
    case 'unclear':
      return unclear(request, verdict);
    default:
      return assertNever(verdict);
  }
}

type VerdictOf<Kind extends EvictionVerdict['kind']> = Extract<EvictionVerdict, { kind: Kind }>;

const causeReasons = {
  'nothing-allowed': 'NothingAllowed',
  'sets-unreadable': 'StatefulSetsUnreadable',
  'too-few-sets': 'TooFewStatefulSets',
  'pods-unreadable': 'PodsUnreadable',
  'set-not-governed': 'StatefulSetNotSelected',
  'pod-not-seen': 'PodNotSeen',
  'no-partition': 'PartitionUnknown',
  'no-zone': 'ZoneUnknown',
  disturbed: 'BudgetExhausted',
  unused: 'PermissionUnused',
  'ledger-full': 'LedgerFull',
} as const satisfies Record<Denial['kind'], string>;

/** Returns the denial in the words that the peer's clients know, which come first, and then in ours. */
function denied(denial: Denial, budget: BudgetRef): EvictionAnswer {
  const message = explain(denial, budget);
  const { reason, status } = outcomeOfDenial(denial);
  const causes = [{ reason: causeReasons[denial.kind], message }];
  return refused(reason, { message, code: status, causes });
}

function ambiguous({ text, budgets }: VerdictOf<'ambiguous'>): EvictionAnswer {
  const named = budgets.length > 1 ? ` (${budgets.join(', ')})` : '';
  const message = `${text}${named}`;
  const causes = [{ reason: 'BudgetUnclear', message }];
  return refused('cfg-not-found', { message, code: 400, causes });
}

/**
 * Returns the answer where no set controls the pod. There is nothing to wait for: who controls a pod never changes but by
 * hand.
 */
function withoutSet({ text, budget }: VerdictOf<'no-set'>): EvictionAnswer {
  const message = `${text} (${budgetText(budget)})`;
  const causes = [{ reason: 'NoStatefulSet', message }];
  return refused('sts-no-found', { message, code: 403, causes });
}

function unclear(
  request: AdmissionRequest,
  { why, until, budget }: VerdictOf<'unclear'>,
): EvictionAnswer {
  const end = until === undefined ? '' : `, until ${formatUtcSeconds(until)} at the latest`;
  const by = budget === undefined ? '' : ` (${budgetText(budget)})`;
  return refused('not-determined', {
    message: `${evictionText(request)} yet: ${why}${end}${by}`,
    code: 429,
    causes: [{ reason: 'NotDetermined', message: `${why}${end}` }],
    doubt: 'NotKnownYet',
  });
}

function budgetText({ kind, name }: BudgetRef): string {
  return `${kind} ${name}`;
}

function evictionText({ namespace, name }: AdmissionRequest): string {
  return `eviction of pod ${namespace}/${name} is not allowed`;
}

/**
 * Returns the answer of a refusal, never without a code, which the API server would take for 400, and who evicts would give
 * up.
 */
function refused(
  reason: RequestReason,
  refusal: Omit<ReasonedRefusal, 'isAllowed'>,
): EvictionAnswer {
  return {
    decision: { isAllowed: false, ...refusal },
    outcome: { reason, status: refusal.code },
  };
}
