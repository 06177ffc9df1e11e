import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { StatusError } from '../../errors/status-error.ts';
import {
  arrayField,
  metadataOf,
  numberField,
  objectField,
  textField,
} from '../../json/json-fields.ts';

/** What becomes of an eviction. */
export type EvictionVerdict =
  /** The budgets have no say. `isGuarded`: only while the pod is as it was read. */
  | { readonly kind: 'delete'; readonly isGuarded: boolean }
  /** It costs one disruption of `budget`. */
  | { readonly kind: 'consume'; readonly budget: JsonObject }
  | { readonly kind: 'refuse'; readonly error: StatusError }
  /** More than one budget (SU-10). */
  | { readonly kind: 'ambiguous' };

const MOST_DISRUPTED = 2_000;
const RETRY_SECONDS = 10;

function isReady(pod: JsonObject): boolean {
  return arrayField(objectField(pod, 'status'), 'conditions')
    .filter(isJsonObject)
    .some((condition) => condition['type'] === 'Ready' && condition['status'] === 'True');
}

/** Reports whether `pod` may be evicted, given the budgets that select it (SU-5…SU-10). */
export function judgeEviction(pod: JsonObject, budgets: readonly JsonObject[]): EvictionVerdict {
  const phase = textField(objectField(pod, 'status'), 'phase');
  const isLeaving = metadataOf(pod)['deletionTimestamp'] !== undefined;
  if (phase === 'Succeeded' || phase === 'Failed' || isLeaving) {
    return { kind: 'delete', isGuarded: false };
  }
  if (phase === 'Pending') return { kind: 'delete', isGuarded: true };
  if (budgets.length > 1) return { kind: 'ambiguous' };
  const [budget] = budgets;
  if (budget === undefined) return { kind: 'delete', isGuarded: false };
  if (!isReady(pod) && allowsUnready(budget)) return { kind: 'delete', isGuarded: true };
  const error = refusalOf(budget);
  return error === undefined ? { kind: 'consume', budget } : { kind: 'refuse', error };
}

/** Reports whether a pod that is not ready costs `budget` nothing (SU-7). */
function allowsUnready(budget: JsonObject): boolean {
  const policy = textField(objectField(budget, 'spec'), 'unhealthyPodEvictionPolicy');
  if (policy === 'AlwaysAllow') return true;
  const status = objectField(budget, 'status');
  const desired = numberField(status, 'desiredHealthy') ?? 0;
  return desired > 0 && (numberField(status, 'currentHealthy') ?? 0) >= desired;
}

/** Returns why `budget` allows no disruption now (SU-8). */
function refusalOf(budget: JsonObject): StatusError | undefined {
  const status = objectField(budget, 'status');
  const metadata = metadataOf(budget);
  const name = textField(metadata, 'name');
  const generation = numberField(metadata, 'generation') ?? 0;
  const count = (member: string): number => numberField(status, member) ?? 0;
  if (count('observedGeneration') < generation) {
    const cause = `The disruption budget ${name} is still being processed by the server.`;
    return violation(cause, RETRY_SECONDS);
  }
  if (count('disruptionsAllowed') < 0) {
    return forbidden(name, 'pdb disruptions allowed is negative');
  }
  if (Object.keys(objectField(status, 'disruptedPods')).length > MOST_DISRUPTED) {
    const why = 'DisruptedPods map too big - too many evictions not confirmed by PDB controller';
    return forbidden(name, why);
  }
  if (count('disruptionsAllowed') > 0) return undefined;
  const needs = `needs ${count('desiredHealthy')} healthy pods`;
  return violation(
    `The disruption budget ${name} ${needs} and has ${count('currentHealthy')} currently`,
  );
}

/** Returns 429 with the sentence that clients look for; without `retryAfterSeconds` the client chooses when to retry. */
export function violation(cause: string, retryAfterSeconds?: number): StatusError {
  const causes = [{ reason: 'DisruptionBudget', message: cause }];
  const details = retryAfterSeconds === undefined ? { causes } : { causes, retryAfterSeconds };
  return new StatusError(
    { code: 429, reason: 'TooManyRequests', details },
    "Cannot evict pod as it would violate the pod's disruption budget.",
  );
}

function forbidden(name: string, why: string): StatusError {
  const resource = 'poddisruptionbudget.policy';
  const details = { name, group: 'policy', kind: 'poddisruptionbudget' };
  return new StatusError(
    { code: 403, reason: 'Forbidden', details },
    `${resource} "${name}" is forbidden: ${why}`,
  );
}

/** Returns `budget` with one disruption fewer, which `pod` has taken at the API timestamp `now` (SU-9). */
export function withDisruption(
  budget: JsonObject,
  disruption: { readonly pod: string; readonly now: string },
): JsonObject {
  const status = objectField(budget, 'status');
  const disruptionsAllowed = (numberField(status, 'disruptionsAllowed') ?? 0) - 1;
  const disruptedPods = {
    ...objectField(status, 'disruptedPods'),
    [disruption.pod]: disruption.now,
  };
  const counted = { ...status, disruptedPods, disruptionsAllowed };
  if (disruptionsAllowed > 0) return { ...budget, status: counted };
  const conditions = exhaustedConditions(status, disruption.now);
  return { ...budget, status: { ...counted, conditions } };
}

/** Returns the conditions after the last disruption, which turns one without waiting for the controller, as upstream. */
function exhaustedConditions(status: JsonObject, now: string): readonly JsonValue[] {
  const conditions = arrayField(status, 'conditions');
  const isOurs = (condition: JsonValue): condition is JsonObject =>
    isJsonObject(condition) && condition['type'] === 'DisruptionAllowed';
  const before = conditions.find(isOurs);
  const isTurned = before?.['status'] !== 'False';
  const { observedGeneration } = status;
  const condition = {
    type: 'DisruptionAllowed',
    status: 'False',
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    lastTransitionTime: isTurned ? now : (before['lastTransitionTime'] ?? now),
    reason: 'InsufficientPods',
    message: '',
  };
  return before === undefined
    ? [...conditions, condition]
    : conditions.map((each) => (isOurs(each) ? condition : each));
}

/** Returns `pod` with the condition that says why it goes (SU-9). */
export function withDisruptionTarget(pod: JsonObject, now: string): JsonObject {
  const status = objectField(pod, 'status');
  const others = arrayField(status, 'conditions').filter(
    (condition) => !isJsonObject(condition) || condition['type'] !== 'DisruptionTarget',
  );
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: now,
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  };
  return { ...pod, status: { ...status, conditions: [...others, condition] } };
}
