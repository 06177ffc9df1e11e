import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import { SparseLog } from '#base/sparse-log.ts';
import type { EvictionBudgets } from '#disruption-budget/eviction/eviction-budgets.ts';
import type { Client } from '#kubernetes/client.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { isPathName } from '#kubernetes/resource-path.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { isNotFound } from '#kubernetes/transport/api-error.ts';
import { parsePod } from '#statefulset/parse-pod.ts';
import type { PodView } from '#statefulset/view.ts';
import type { BudgetMetrics, RequestOutcome } from '#telemetry/metrics/budget-metrics.ts';
import type { ConcurrencyLimit } from '../review/concurrency-limit.ts';
import { callOf, type Deadline } from '../review/deadline.ts';
import { failureKind } from '../review/dependency.ts';
import type { AdmissionRequest, ReviewContext, Webhook } from '../review/review.ts';
import { webhookPaths } from '../webhook-configuration/webhook-paths.ts';
import {
  answerOf,
  type EvictionAnswer,
  failed,
  notAnEviction,
  notReady,
  notSeenYet,
  overloaded,
  passed,
} from './eviction-answer.ts';
import { demandedUid, isDryRun } from './eviction-request.ts';

/** What {@link podEviction} works with. */
export interface PodEvictionOptions {
  readonly budgets: EvictionBudgets;
  /** Its own, so that no other webhook can starve it, with equal reads shared. */
  readonly client: Client;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Logger;
  readonly metrics: BudgetMetrics;
  readonly limits: {
    /** Limits reviews that read a pod. */
    readonly reads: ConcurrencyLimit;
    /** Limits reviews that the budgets judge: those that are denied call nothing, and only take room. */
    readonly judgements: ConcurrencyLimit;
  };
}

/**
 * Lets pods be evicted as far as disruption budgets allow. They judge by caches, so that a denial costs no request; the
 * pod is read only where it would be let go, unjudged or because it is given away. A dry run is judged, and nothing is
 * stored for it. Every denial has a code and a cause, and the code is 429 wherever the answer may be another one later
 * (HOOK-1).
 */
export function podEviction(options: PodEvictionOptions): Webhook {
  const { metrics, log, clock } = options;
  const ports = { ...options, failures: new SparseLog(log, clock) };
  return {
    path: webhookPaths.podEviction,
    patience: undefined,
    objects: 'eviction',
    judge: async (request, context) => {
      const end = metrics.beginRequest();
      let outcome: RequestOutcome = { reason: 'not-determined', status: 429 };
      try {
        const answer = await evictionAnswer({ request, context }, ports);
        ({ outcome } = answer);
        return answer.decision;
      } finally {
        end(outcome);
      }
    },
  };
}

interface Ports extends Omit<PodEvictionOptions, 'log' | 'metrics' | 'clock'> {
  /** Any client may cause failures, by evictions of what the Role does not permit reading. */
  readonly failures: SparseLog;
}

interface Case {
  readonly request: AdmissionRequest;
  readonly context: ReviewContext;
}

function evictionAnswer(review: Case, ports: Ports): EvictionAnswer | Promise<EvictionAnswer> {
  const { request } = review;
  const problem = problemOf(request);
  if (problem !== undefined) return notAnEviction(problem);
  const { namespace, name } = request;
  const pod = ports.budgets.pod(namespace, name);
  const passes = pod !== undefined && isUncounted(pod);
  if (!ports.budgets.mayGovern(namespace)) return passes ? notReady : passed('pod-not-in-scope');
  const demanded = demandedUid(request);
  const isAnother = pod !== undefined && demanded !== undefined && demanded !== pod.uid;
  // Its successor of the same name may serve already, and be what the API server would evict.
  return pod === undefined || passes || isAnother
    ? byReading(review, ports)
    : byJudging(pod, review, ports);
}

/** Returns why a request is no eviction, in the words of the peer; undefined where it is one. */
function problemOf({
  operation,
  subResource,
  namespace,
  name,
}: AdmissionRequest): string | undefined {
  if (operation !== 'CREATE') return `request operation is not create, got: ${operation}`;
  if (subResource !== 'eviction') {
    return `request SubResource is not eviction, got: ${subResource}`;
  }
  const isNamed = [namespace, name].every(isPathName);
  return isNamed ? undefined : 'request did not include both a namespace and a name';
}

/** Reports whether no budget counts on a pod, so that the peer lets it go whatever governs it. */
function isUncounted({ phase, isTerminating }: PodView): boolean {
  return isTerminating || phase === 'Succeeded' || phase === 'Failed' || phase === 'Pending';
}

/** Reads whether a pod that may go without being judged is there, and as the cache has it. */
async function byReading(review: Case, ports: Ports): Promise<EvictionAnswer> {
  const { request } = review;
  const leave = ports.limits.reads.acquire();
  if (leave === undefined) return overloaded(request);
  try {
    return await readPod(review, ports, (live) => {
      const demanded = demandedUid(request);
      // The API server evicts no other pod than that, and says so with its 409.
      if (demanded !== undefined && demanded !== live.metadata.uid) return passed('pod-not-found');
      return isUncounted(parsePod(live)) ? notReady : notSeenYet(request);
    });
  } finally {
    leave();
  }
}

/** Answers what `judge` says of the pod of a review as it is by now. */
async function readPod(
  { request, context }: Case,
  { client, failures }: Ports,
  judge: (live: KubernetesObject) => EvictionAnswer,
): Promise<EvictionAnswer> {
  const { namespace, name } = request;
  const deadline = context.deadline();
  try {
    const key = { namespace, name };
    return judge(await client.get(resourceTypes.pods, key, callOf(deadline)));
  } catch (thrown) {
    // There is nothing to evict, as the API server will say, which drainers take for done.
    if (isNotFound(thrown)) return passed('pod-not-found');
    const error = failureOf(thrown, deadline);
    const fields = { namespace, name, err: errorOf(error) };
    failures.warn(`pod ${failureKind(error)}`, 'a pod to evict cannot be read', fields);
    return failed(request, { what: 'pod', error });
  }
}

async function byJudging(pod: PodView, review: Case, ports: Ports): Promise<EvictionAnswer> {
  const { request, context } = review;
  const leave = ports.limits.judgements.acquire();
  if (leave === undefined) return overloaded(request);
  const { signal } = context.deadline();
  const isForNothing = isDryRun(request);
  try {
    const verdict = await ports.budgets.judgeEviction(pod, { isDryRun: isForNothing }, signal);
    const isToBeProven = verdict.kind === 'allowed' && !isForNothing;
    if (!isForNothing && verdict.kind === 'not-governed' && verdict.isSetGoverned) {
      return await byLabels(review, ports);
    }
    return isToBeProven
      ? await byProof(pod, { review, allowed: answerOf(request, verdict) }, ports)
      : answerOf(request, verdict);
  } catch (thrown) {
    const error = failureOf(thrown, { signal });
    const { namespace, name } = request;
    const fields = { namespace, name, err: errorOf(error) };
    ports.failures.warn(`budgets ${failureKind(error)}`, 'an eviction cannot be judged', fields);
    return failed(request, { what: 'budgets', error });
  } finally {
    leave();
  }
}

/**
 * Returns the permission for `pod`, once it is proven to have been there after that was stored. The API server evicts
 * whatever has that name by then; and once its successor is up, the reservation of `pod` ends, and another zone may be given
 * away.
 */
function byProof(
  pod: PodView,
  { review, allowed }: { readonly review: Case; readonly allowed: EvictionAnswer },
  ports: Ports,
): EvictionAnswer | Promise<EvictionAnswer> {
  const { request } = review;
  if (demandedUid(request) === pod.uid) return allowed;
  return readPod(review, ports, ({ metadata: { uid } }) =>
    uid === pod.uid ? allowed : notSeenYet(request),
  );
}

/** Reads whether a pod that no budget selects, unlike its set, is still such a one: its successor may have other labels. */
function byLabels(review: Case, ports: Ports): Promise<EvictionAnswer> {
  return readPod(review, ports, (live) =>
    ports.budgets.governs(parsePod(live)) ? notSeenYet(review.request) : passed('pod-not-in-scope'),
  );
}

/** Returns what failed; that the time was over, where that ended it. */
function failureOf(error: unknown, { signal }: Pick<Deadline, 'signal'>): unknown {
  return signal.aborted ? signal.reason : error;
}
