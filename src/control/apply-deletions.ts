import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import type { Monotonic } from '#base/units.ts';
import {
  isConflict,
  isNotFound,
  isOutcomeUnknown,
  isRequestFailure,
} from '#kubernetes/api-error.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Freshness } from '#kubernetes/freshness.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { ageOf, type Basis, isFresh, StaleBasisError, type TypeBasis } from './basis.ts';
import type { DeletePod, PodRef } from './decision.ts';
import type { OpenDisruptions } from './open-disruptions.ts';

/** Requests of one batch under way at once. */
const maxConcurrent = 32;

/** What deletions go through. */
export interface DeletionPorts {
  readonly client: Client;
  readonly clock: Clock;
  /** Freshness of the pod cache; learns of our writes. */
  readonly pods: Freshness;
  readonly open: OpenDisruptions;
  readonly log: Logger;
  /** Throws when `deletion` may not be sent any more; called synchronously just before it would be. */
  recheck(deletion: DeletePod): void;
}

/** How a batch of deletions ended. */
export interface DeletionReport {
  readonly deleted: readonly DeletePod[];
  /** Answered 404 or 409, or not sent as the world has moved: plan again. */
  readonly outrun: number;
  /** Set when one was not sent as the basis had become too old. */
  readonly stale: StaleBasisError | undefined;
  /** The first failure that is not an answer about the pod; the rest of the batch was not sent. */
  readonly error: unknown;
}

/**
 * Sends `deletions`, which rest on `basis`, side by side. Each names the uid and resourceVersion that it was
 * decided on (REV-1), and leaves only while the basis is fresh (D-3). 404 and 409 are answers, not errors.
 */
export async function applyDeletions(
  work: { readonly deletions: readonly DeletePod[]; readonly basis: Basis },
  ports: DeletionPorts,
  signal: AbortSignal,
): Promise<DeletionReport> {
  const waiting = [...work.deletions];
  const deleted: DeletePod[] = [];
  let outrun = 0;
  let stale: StaleBasisError | undefined;
  let error: unknown;
  const sendNext = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      try {
        await sendDeletion({ deletion: next, basis: work.basis }, ports, signal);
        deleted.push(next);
      } catch (failure) {
        if (failure instanceof StaleBasisError) stale ??= failure;
        if (isOutrun(failure)) {
          outrun += 1;
          continue;
        }
        error ??= failure;
        waiting.length = 0;
      }
    }
  };
  const lanes = Math.min(maxConcurrent, waiting.length);
  await Promise.all(Array.from({ length: lanes }, sendNext));
  return { deleted, outrun, stale, error };
}

/** @throws what {@link isOutrun} tells from a failure, unless the pod is going */
async function sendDeletion(
  work: { readonly deletion: DeletePod; readonly basis: Basis },
  ports: DeletionPorts,
  signal: AbortSignal,
): Promise<void> {
  const { pod } = work.deletion;
  let sentAt: Monotonic | undefined;
  const beforeSend = (): void => {
    signal.throwIfAborted();
    ports.recheck(work.deletion);
    const now = ports.clock.monotonic();
    if (!isFresh(work.basis, now)) throw new StaleBasisError(ageOf(work.basis, now));
    sentAt = now;
    ports.open.sent(pod, now);
    ports.log.info('deleting pod', statementOf(work.deletion, work.basis, now));
    ports.log.flush();
  };
  try {
    const { namespace, name, uid, resourceVersion } = pod;
    const answer = await ports.client.delete(
      resourceTypes.pods,
      { namespace, name },
      { preconditions: { uid, resourceVersion }, beforeSend, signal },
    );
    settle({ pod, sentAt }, answer?.metadata.resourceVersion, ports);
  } catch (error) {
    // What is not proven to be without effect may have had it: also a fault of ours that follows a good answer.
    if (sentAt !== undefined) settleFailed(pod, error, ports.open);
    throw error;
  }
}

/** A pod that the server does not have any more counts as leaving until the cache shows that, too. */
function settleFailed(pod: PodRef, error: unknown, open: OpenDisruptions): void {
  if (isNotFound(error)) open.accepted(pod);
  else if (isWithoutEffect(error)) open.void(pod);
  else open.unanswered(pod);
}

/** Whether `error` tells that the server did nothing, although the request was handed to the connection. */
function isWithoutEffect(error: unknown): boolean {
  if (error instanceof StaleBasisError || error instanceof OverruledError) return true;
  return isRequestFailure(error) && !isOutcomeUnknown(error);
}

/** Thrown by `recheck` when a deletion may not be sent any more; the key is planned again. */
export class OverruledError extends Error {
  override readonly name = 'OverruledError';
}

function isOutrun(error: unknown): boolean {
  return (
    isNotFound(error) ||
    isConflict(error) ||
    error instanceof StaleBasisError ||
    error instanceof OverruledError
  );
}

/** Counts the pod as leaving until the cache shows the revision of the answer, which proves the cache too (D-5). */
function settle(
  sent: { readonly pod: PodRef; readonly sentAt: Monotonic | undefined },
  answered: string | undefined,
  ports: DeletionPorts,
): void {
  const { pod, sentAt } = sent;
  if (answered === undefined || answered === pod.resourceVersion || sentAt === undefined) {
    ports.open.accepted(pod);
    return;
  }
  ports.open.answered(pod, answered);
  ports.pods.ownWrite({ sentAt, before: pod.resourceVersion, answered });
}

/** What the request rests on, in the log, so that others can check it from the server's side (D-7). */
function statementOf(
  deletion: DeletePod,
  basis: Basis,
  now: Monotonic,
): Record<string, string | number> {
  return {
    pod: deletion.pod.name,
    statefulset: deletion.set.name,
    reason: deletion.because.reason,
    because: deletion.because.message,
    uid: deletion.pod.uid,
    view_pods: viewText(basis.pods),
    view_statefulsets: viewText(basis.statefulSets),
    proof_pods: basis.pods.proof,
    proof_statefulsets: basis.statefulSets.proof,
    age_ms: Math.round(ageOf(basis, now)),
  };
}

function viewText({ view }: TypeBasis): string {
  return typeof view === 'string'
    ? view
    : Object.entries(view)
        .map(([set, revision]) => `${set}=${revision}`)
        .join(',');
}
