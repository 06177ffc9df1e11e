/** What the eviction webhook of ZoneDisruptionBudgets says: to who evicts, in the words of the peer, and to the metrics. */
import { assertNever } from '#base/assert-never.ts';
import { errorOf } from '#base/error-of.ts';
import { formatUtcSeconds } from '#base/time/utc-seconds.ts';
import type { Denial } from '#disruption/decision/denial.ts';
import { explain } from '#disruption/decision/denial-text.ts';
import {
  refusalsIn,
  type ZoneBudgetRefusal,
  type ZoneBudgetVerdict,
} from '#zone-disruption-budget/eviction/eviction-verdict.ts';
import { overloadText } from '../review/dependency.ts';
import {
  type AdmissionRequest,
  allow,
  type Cause,
  type Doubt,
  type ReviewDecision,
} from '../review/review.ts';

/** Why an eviction was answered as it was, in the words of the peer (OPS-1), odd spelling and all. */
export type ZoneEvictionReason =
  | 'NoCreateRequest'
  | 'NoEvictionRequest'
  | 'GetDryRunOptionError'
  | 'GetPodError'
  | 'canIgnoreZdb'
  | 'NotReadyPod'
  | 'GetZdbError'
  | 'NoZdb'
  | 'AlreadyDisrupted'
  | 'DisruptionAllowed'
  | 'DeniedByZdb'
  | 'DryRun';

/** The answer to an eviction, and how it is counted. */
export interface ZoneEvictionAnswer {
  readonly decision: ReviewDecision;
  readonly reason: ZoneEvictionReason;
}

/** Lets it go without a budget having said so. */
export function passedFor(reason: ZoneEvictionReason): ZoneEvictionAnswer {
  return { decision: allow, reason };
}

/** Refuses what is no Eviction, whenever it is sent again (EV-6). */
export function noEviction({ kind }: AdmissionRequest): ZoneEvictionAnswer {
  const named = [kind.group, kind.version, kind.kind].filter((part) => part !== '').join('/');
  const message = `the object is not an Eviction of policy/v1 or policy/v1beta1: got ${named || 'nothing'}`;
  const causes = [{ reason: 'InvalidRequest', message }];
  const decision = { isAllowed: false, message, code: 400, causes } as const;
  return { decision, reason: 'GetDryRunOptionError' };
}

/** Refuses what can be the eviction of no pod, no matter who posted it: a path made of such names leads elsewhere. */
export function noPodName({ namespace, name }: AdmissionRequest): ZoneEvictionAnswer {
  const got = JSON.stringify(`${namespace}/${name}`);
  const message = `the request does not name both a namespace and a pod: got ${got}`;
  const causes = [{ reason: 'InvalidRequest', message }];
  const decision = { isAllowed: false, message, code: 400, causes } as const;
  return { decision, reason: 'GetPodError' };
}

/** Refuses a pod that is there, but not as budgets see it yet. */
export function unseenPod(request: AdmissionRequest): ZoneEvictionAnswer {
  const message = 'the pod, as it is now, has not been seen by this operator yet';
  const cause = { reason: 'PodNotSeen', message };
  return refused(request, { reason: 'GetPodError', code: 429, cause, doubt: 'NotKnownYet' });
}

/** Refuses for now, as too much is under way (D-30). */
export function tooMany(request: AdmissionRequest): ZoneEvictionAnswer {
  const message = overloadText('it');
  const cause = { reason: 'Overloaded', message };
  return refused(request, { reason: 'GetZdbError', code: 429, cause, doubt: 'Overloaded' });
}

/** Refuses for now, as something that was asked failed, or did not answer in time: never with 5xx (HOOK-1, D-25). */
export function failedFor(
  request: AdmissionRequest,
  reason: 'GetPodError' | 'GetZdbError',
  error: unknown,
): ZoneEvictionAnswer {
  const what = reason === 'GetPodError' ? 'the pod cannot be read' : 'the budgets cannot be asked';
  const message = `${what}: ${errorOf(error).message}`;
  const cause = { reason: 'DependencyFailed', message };
  return refused(request, { reason, code: 429, cause, doubt: 'DependencyFailed' });
}

/**
 * Answers what the budgets over a pod say: all must allow it (W-19). One that is a dry run, and any in a dry run of the request,
 * refuses nothing (EV-10, EV-12).
 */
export function answerByZones(
  request: AdmissionRequest,
  verdicts: readonly ZoneBudgetVerdict[],
  { isDryRun }: { readonly isDryRun: boolean },
): ZoneEvictionAnswer {
  if (verdicts.length === 0) return passedFor('NoZdb');
  if (!isDryRun) {
    const refusals = refusalsIn(verdicts).map((refusal) => refusalOf(request, refusal));
    // A retry would be in vain while another budget has to be corrected first.
    const [first] = refusals.toSorted((one, other) => codeOf(one) - codeOf(other));
    if (first !== undefined) return first;
  }
  if (verdicts.some(({ kind }) => kind !== 'allowed')) return passedFor('DryRun');
  const isNew = verdicts.some((verdict) => verdict.kind === 'allowed' && !verdict.isRepeated);
  return passedFor(isNew ? 'DisruptionAllowed' : 'AlreadyDisrupted');
}

function codeOf({ decision }: ZoneEvictionAnswer): number {
  return decision.isAllowed ? 200 : (decision.code ?? 0);
}

function refusalOf(request: AdmissionRequest, refusal: ZoneBudgetRefusal): ZoneEvictionAnswer {
  const { budget } = refusal;
  const by = `(${budget.kind} ${budget.name})`;
  switch (refusal.kind) {
    case 'denied': {
      const { kind } = refusal.denial;
      const message = deniedText(refusal);
      const cause = { reason: causeReasons[kind], message };
      return refused(request, { reason: 'DeniedByZdb', code: denialCodes[kind], cause });
    }
    case 'unreadable': {
      const cause = {
        reason: 'BudgetUnclear',
        message: `the budget cannot be read ${by}: ${refusal.why}`,
      };
      return refused(request, { reason: 'DeniedByZdb', code: 403, cause });
    }
    case 'unclear': {
      const { why, until } = refusal;
      const end = until === undefined ? '' : `, until ${formatUtcSeconds(until)} at the latest`;
      const cause = { reason: 'NotDetermined', message: `${why}${end} ${by}` };
      return refused(request, { reason: 'DeniedByZdb', code: 429, cause, doubt: 'NotKnownYet' });
    }
    default:
      return assertNever(refusal);
  }
}

/** Returns the words of the ledger, but for those that would speak of another kind of budget. */
function deniedText({
  denial,
  budget,
}: {
  readonly denial: Denial;
  readonly budget: ZoneBudgetRefusal['budget'];
}): string {
  const by = `(${budget.kind} ${budget.name})`;
  if (denial.kind !== 'sets-unreadable') return explain(denial, budget);
  return `a pod that the budget selects is not controlled by a StatefulSet that this operator sees, so the expected number of pods is unknown ${by}`;
}

/** Only where the budget itself says so, nothing changes by waiting (D-37); all else a drainer shall ask again. */
const denialCodes = {
  'nothing-allowed': 403,
  'too-few-sets': 429,
  'no-partition': 429,
  'sets-unreadable': 429,
  'pods-unreadable': 429,
  'set-not-governed': 429,
  'pod-not-seen': 429,
  'no-zone': 429,
  disturbed: 429,
  unused: 429,
  'ledger-full': 429,
} as const satisfies Record<Denial['kind'], 403 | 429>;

const causeReasons = {
  'nothing-allowed': 'NothingAllowed',
  'too-few-sets': 'TooFewStatefulSets',
  'no-partition': 'PartitionUnknown',
  'sets-unreadable': 'StatefulSetsUnreadable',
  'pods-unreadable': 'PodsUnreadable',
  'set-not-governed': 'StatefulSetNotSelected',
  'pod-not-seen': 'PodNotSeen',
  'no-zone': 'ZoneUnknown',
  disturbed: 'BudgetExhausted',
  unused: 'PermissionUnused',
  'ledger-full': 'LedgerFull',
} as const satisfies Record<Denial['kind'], string>;

interface Refusing {
  readonly reason: ZoneEvictionReason;
  readonly code: 403 | 429;
  readonly cause: Cause;
  readonly doubt?: Doubt;
}

/** Returns the refusal: first the text of the peer, then ours (W-36). */
function refused(
  { name }: AdmissionRequest,
  { reason, code, cause, doubt }: Refusing,
): ZoneEvictionAnswer {
  const message = `denying pod eviction for ${name}: ${cause.message}`;
  const decision: ReviewDecision = {
    isAllowed: false,
    message,
    code,
    causes: [cause],
    ...(doubt !== undefined && { doubt }),
  };
  return { decision, reason };
}
