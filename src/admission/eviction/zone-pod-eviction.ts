import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import { SparseLog } from '#base/sparse-log.ts';
import type { Client } from '#kubernetes/client.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { isPathName } from '#kubernetes/resource-path.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { isNotFound } from '#kubernetes/transport/api-error.ts';
import { parsePod } from '#statefulset/parse-pod.ts';
import type { PodView } from '#statefulset/view.ts';
import {
  refusalsIn,
  type ZoneBudgetVerdict,
} from '#zone-disruption-budget/eviction/eviction-verdict.ts';
import type { ConcurrencyLimit } from '../review/concurrency-limit.ts';
import { callOf } from '../review/deadline.ts';
import { failureKind } from '../review/dependency.ts';
import type { AdmissionRequest, ReviewContext, Webhook } from '../review/review.ts';
import { webhookPaths } from '../webhook-configuration/webhook-paths.ts';
import { demandedUid, isDryRun } from './eviction-request.ts';
import {
  answerByZones,
  failedFor,
  noEviction,
  noPodName,
  passedFor,
  tooMany,
  unseenPod,
  type ZoneEvictionAnswer,
  type ZoneEvictionReason,
} from './zone-eviction-answer.ts';

/** ZoneDisruptionBudgets as evictions ask them, on any replica. */
export interface ZoneEvictionBudgets {
  /** Returns the pod in the cache; undefined where the cache has none of that name. */
  pod(namespace: string, name: string): PodView | undefined;
  /**
   * Returns what all budgets over `pod` say to its eviction, by name; none where there is none. What they allow is stored by
   * then, but for dry runs; what goes whatever they say, as `isExempt`, is stored, too.
   *
   * @throws the reason of `signal` when that aborts first; what the API server fails with
   */
  judgeEviction(
    pod: PodView,
    options: { readonly isDryRun: boolean; readonly isExempt?: boolean },
    signal: AbortSignal,
  ): Promise<readonly ZoneBudgetVerdict[]>;
}

/** What {@link zonePodEviction} works with. */
export interface ZonePodEvictionOptions {
  readonly budgets: ZoneEvictionBudgets;
  /** Its own, so that no other webhook can starve it, with equal reads shared. */
  readonly client: Client;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Logger;
  readonly limits: {
    /** Limits reviews that read a pod. */
    readonly reads: ConcurrencyLimit;
    /** Limits reviews that the budgets judge. */
    readonly judgements: ConcurrencyLimit;
  };
  /** Counts an answer (OPS-1). */
  count(status: 'allowed' | 'denied', reason: ZoneEvictionReason): void;
}

/**
 * Lets pods be evicted as far as ZoneDisruptionBudgets allow, in the order and the words of the peer.
 * A pod that is not ready goes whatever the budgets say (EV-8), once that is read and not only cached. Every denial has a code
 * and a cause, and the code is 429 wherever the answer may be another one later (HOOK-1, D-37).
 */
export function zonePodEviction(options: ZonePodEvictionOptions): Webhook {
  const { log, clock } = options;
  const ports = { ...options, failures: new SparseLog(log, clock) };
  return {
    path: webhookPaths.zonePodEviction,
    patience: undefined,
    objects: 'eviction',
    judge: async (request, context) => {
      const { decision, reason } = await answerTo({ request, context }, ports);
      options.count(decision.isAllowed ? 'allowed' : 'denied', reason);
      return decision;
    },
  };
}

interface Ports extends Pick<ZonePodEvictionOptions, 'budgets' | 'client' | 'limits'> {
  /** Any client may cause failures, by evictions of what the Role does not permit reading. */
  readonly failures: SparseLog;
}

interface Case {
  readonly request: AdmissionRequest;
  readonly context: ReviewContext;
}

function answerTo(review: Case, ports: Ports): ZoneEvictionAnswer | Promise<ZoneEvictionAnswer> {
  const { request } = review;
  const { namespace, name } = request;
  if (request.operation !== 'CREATE') return passedFor('NoCreateRequest');
  if (request.subResource !== 'eviction') return passedFor('NoEvictionRequest');
  if (!isEviction(request)) return noEviction(request);
  if (![namespace, name].every(isPathName)) return noPodName(request);
  const pod = ports.budgets.pod(namespace, name);
  const isAnother = pod !== undefined && (demandedUid(request) ?? pod.uid) !== pod.uid;
  // Its successor of the same name may serve already, and be what the API server would evict.
  return pod === undefined || isAnother || exemptionOf(pod) !== undefined
    ? byReading(review, ports)
    : byJudging(pod, review, ports);
}

function isEviction({ kind: { group, version, kind } }: AdmissionRequest): boolean {
  const isKnown = version === 'v1' || version === 'v1beta1';
  return group === 'policy' && kind === 'Eviction' && isKnown;
}

/** Returns why a pod goes whatever the budgets say (EV-8); undefined: they are asked. */
function exemptionOf({
  phase,
  isTerminating,
  unready,
}: PodView): 'canIgnoreZdb' | 'NotReadyPod' | undefined {
  const isOver = phase === 'Succeeded' || phase === 'Failed' || phase === 'Pending';
  if (isTerminating || isOver) return 'canIgnoreZdb';
  return unready === undefined ? undefined : 'NotReadyPod';
}

/** Reports whether a pod that does not serve now may do so by the time that the API server evicts it. */
function mayServe({ phase, isTerminating }: PodView): boolean {
  return !isTerminating && phase !== 'Succeeded' && phase !== 'Failed';
}

/**
 * Lets `pod` go once that is stored under all budgets over it: if it serves by the time that it goes, no pod of another zone may go
 * with it.
 */
async function byNoting(
  pod: PodView,
  { review, exemption }: { readonly review: Case; readonly exemption: ZoneEvictionReason },
  { budgets }: Ports,
): Promise<ZoneEvictionAnswer> {
  const { request, context } = review;
  if (isDryRun(request)) return passedFor(exemption);
  const options = { isDryRun: false, isExempt: true };
  const verdicts = await budgets.judgeEviction(pod, options, context.deadline().signal);
  // Under a budget that cannot be read nothing else goes either.
  const refused = refusalsIn(verdicts).filter(({ kind }) => kind !== 'unreadable');
  if (refused.length === 0) return passedFor(exemption);
  return answerByZones(request, refused, { isDryRun: false });
}

/** Reads whether a pod that may go without being judged is there, and as the cache has it. */
async function byReading(review: Case, ports: Ports): Promise<ZoneEvictionAnswer> {
  const { request } = review;
  const leave = ports.limits.reads.acquire();
  if (leave === undefined) return unlessDry(request, tooMany(request));
  try {
    return await readPod(review, ports, (live) => {
      const demanded = demandedUid(request);
      // The API server evicts no other pod than that, and says so with its 409.
      if (demanded !== undefined && demanded !== live.metadata.uid) return passedFor('GetPodError');
      const read = parsePod(live);
      const exemption = exemptionOf(read);
      if (exemption === undefined) return unlessDry(request, unseenPod(request));
      return mayServe(read) ? byNoting(read, { review, exemption }, ports) : passedFor(exemption);
    });
  } finally {
    leave();
  }
}

/** Answers what `judge` says of the pod of a review as it is by now. */
async function readPod(
  { request, context }: Case,
  { client, failures }: Ports,
  judge: (live: KubernetesObject) => ZoneEvictionAnswer | Promise<ZoneEvictionAnswer>,
): Promise<ZoneEvictionAnswer> {
  const { namespace, name } = request;
  const deadline = context.deadline();
  try {
    const live = await client.get(resourceTypes.pods, { namespace, name }, callOf(deadline));
    return await judge(live);
  } catch (thrown) {
    // There is nothing to evict, as the API server will say, which drainers take for done.
    if (isNotFound(thrown)) return passedFor('GetPodError');
    const error: unknown = deadline.signal.aborted ? deadline.signal.reason : thrown;
    const fields = { namespace, name, err: errorOf(error) };
    failures.warn(`pod ${failureKind(error)}`, 'a pod to evict cannot be read', fields);
    return unlessDry(request, failedFor(request, 'GetPodError', error));
  }
}

async function byJudging(pod: PodView, review: Case, ports: Ports): Promise<ZoneEvictionAnswer> {
  const { request, context } = review;
  const leave = ports.limits.judgements.acquire();
  if (leave === undefined) return unlessDry(request, tooMany(request));
  const { signal } = context.deadline();
  const dryRun = { isDryRun: isDryRun(request) };
  try {
    const verdicts = await ports.budgets.judgeEviction(pod, dryRun, signal);
    const answer = answerByZones(request, verdicts, dryRun);
    const isGiven = verdicts.some((each) => each.kind === 'allowed' && !each.isDryRun);
    const isToBeProven = answer.decision.isAllowed && isGiven && !dryRun.isDryRun;
    return isToBeProven ? await byProof(pod, { review, answer }, ports) : answer;
  } catch (thrown) {
    const error: unknown = signal.aborted ? signal.reason : thrown;
    const { namespace, name } = request;
    const fields = { namespace, name, err: errorOf(error) };
    ports.failures.warn(`budgets ${failureKind(error)}`, 'an eviction cannot be judged', fields);
    return unlessDry(request, failedFor(request, 'GetZdbError', error));
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
  { review, answer }: { readonly review: Case; readonly answer: ZoneEvictionAnswer },
  ports: Ports,
): ZoneEvictionAnswer | Promise<ZoneEvictionAnswer> {
  const { request } = review;
  if (demandedUid(request) === pod.uid) return answer;
  return readPod(review, ports, ({ metadata: { uid } }) =>
    uid === pod.uid ? answer : unseenPod(request),
  );
}

/** Returns the answer, but refuses nothing to a dry run, as nothing comes of it (EV-7, EV-9, W-16). */
function unlessDry(request: AdmissionRequest, answer: ZoneEvictionAnswer): ZoneEvictionAnswer {
  return isDryRun(request) ? passedFor('DryRun') : answer;
}
