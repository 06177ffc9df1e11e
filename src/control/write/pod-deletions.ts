import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import type { Monotonic } from '#base/units.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Freshness } from '#kubernetes/informer/freshness.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import {
  isConflict,
  isNotFound,
  isOutcomeUnknown,
  isRequestFailure,
} from '#kubernetes/transport/api-error.ts';
import { TransportError } from '#kubernetes/transport/transport.ts';
import { type Basis, StaleBasisError } from '../consistent-read/basis.ts';
import type { DeletePod, PodRef } from '../decision/decision.ts';
import type { OpenDisruptions } from './open-disruptions.ts';
import { statementOf } from './statement.ts';
import { unlessSent } from './unless-sent.ts';

/** Requests for the pods of one group under way at once. */
const maxUnderWay = 32;

/** How a deletion that was begun ended. */
export type DeletionEnd =
  | { readonly kind: 'deleted' }
  /** Answered 404 or 409, or not sent as the world has moved: plan again. */
  | { readonly kind: 'outrun'; readonly answer: Error | undefined }
  /** Not sent as what it rests on was proven too long ago. */
  | { readonly kind: 'stale'; readonly error: StaleBasisError }
  | { readonly kind: 'failed'; readonly error: Error };

/** A deletion that is not under way any more. */
export interface EndedDeletion {
  readonly deletion: DeletePod;
  readonly end: DeletionEnd;
  /** Whether further deletions may have had to wait for its place. */
  readonly wasFull: boolean;
}

/** What deletions go through. */
export interface DeletionPorts {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  /** Freshness of the pod cache; learns of our writes. */
  readonly pods: Freshness;
  readonly open: OpenDisruptions;
}

/** What one group says of its deletions. */
export interface DeletionOwner {
  readonly key: string;
  /**
   * Plans the group again, exactly when `deletion` would leave (D-49).
   * @returns what the new plan, which still contains it, rests on
   * @throws OverruledError when the plan does not contain it any more, StaleBasisError when its view is not fresh
   */
  approve(deletion: DeletePod): Basis;
  /** Takes note of how each ended. */
  ended(ended: EndedDeletion): void;
}

/** Thrown by `approve` when a disruption may not be sent any more; the key is planned again. */
export class OverruledError extends Error {
  override readonly name = 'OverruledError';
}

/**
 * Deletions of pods under way. Nothing waits for their answers: what is sent counts as leaving in every plan made from
 * then on, and what waits for a rate limiter or a connection is planned again when it is sent (D-49).
 */
export class PodDeletions {
  readonly #ports: DeletionPorts;
  /** uids of the pods, by key of the group. */
  readonly #underWay = new Map<string, Set<string>>();
  readonly #running = new Set<Promise<void>>();

  constructor(ports: DeletionPorts) {
    this.#ports = ports;
  }

  /** Begins those of `deletions` that are not under way yet, as far as there is room, and returns at once. */
  begin(deletions: readonly DeletePod[], owner: DeletionOwner, signal: AbortSignal): void {
    const underWay = this.#underWay.get(owner.key) ?? new Set();
    for (const deletion of deletions) {
      if (underWay.size >= maxUnderWay) break;
      if (underWay.has(deletion.pod.uid)) continue;
      underWay.add(deletion.pod.uid);
      this.#underWay.set(owner.key, underWay);
      const running = this.#run(deletion, owner, signal);
      this.#running.add(running);
      void running.finally(() => this.#running.delete(running));
    }
  }

  /** Reports whether a deletion of the pod was begun, and has not ended. */
  isUnderWay(uid: string): boolean {
    return [...this.#underWay.values()].some((uids) => uids.has(uid));
  }

  /** Resolves when no request is under way; those that begin meanwhile included. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  async #run(deletion: DeletePod, owner: DeletionOwner, signal: AbortSignal): Promise<void> {
    const { key } = owner;
    const end = await this.#send(deletion, owner, signal).then(
      (): DeletionEnd => ({ kind: 'deleted' }),
      (error: unknown) => endOf(named(error, deletion)),
    );
    const underWay = this.#underWay.get(key);
    const wasFull = underWay !== undefined && underWay.size >= maxUnderWay;
    underWay?.delete(deletion.pod.uid);
    if (underWay?.size === 0) this.#underWay.delete(key);
    owner.ended({ deletion, end, wasFull });
  }

  /**
   * Sends one deletion, which names the uid and resourceVersion that it was decided on (REV-1).
   * @throws whatever keeps it from being sent or answered well
   */
  async #send(deletion: DeletePod, owner: DeletionOwner, signal: AbortSignal): Promise<void> {
    const { pod } = deletion;
    const { clock, open, log, client } = this.#ports;
    let sentAt: Monotonic | undefined;
    const sending = unlessSent(signal, () => {
      const basis = owner.approve(deletion);
      const now = clock.monotonic();
      sentAt = now;
      open.sent(pod, now);
      log.info('deleting pod', statementOf(deletion, basis, now));
      log.flush();
    });
    const { namespace, name, uid, resourceVersion } = pod;
    try {
      const preconditions = { uid, resourceVersion };
      const options = { preconditions, ...sending };
      const answer = await client.delete(resourceTypes.pods, { namespace, name }, options);
      this.#settle({ pod, sentAt }, answer?.metadata.resourceVersion);
    } catch (error) {
      // What is not proven to be without effect may have had it: also a fault of ours that follows a good answer.
      if (sentAt !== undefined) settleFailed(pod, error, open);
      throw error;
    }
  }

  /** Counts the pod as leaving until the cache shows the revision of the answer, which proves the cache too (D-5). */
  #settle(
    sent: { readonly pod: PodRef; readonly sentAt: Monotonic | undefined },
    answered: string | undefined,
  ): void {
    const { pod, sentAt } = sent;
    const { open, pods } = this.#ports;
    if (answered === undefined || answered === pod.resourceVersion || sentAt === undefined) {
      open.accepted(pod);
      return;
    }
    open.answered(pod, answered);
    pods.ownWrite({ sentAt, before: pod.resourceVersion, answered });
  }
}

/** Counts a pod that the server does not have any more as leaving, until the cache shows that, too. */
function settleFailed(pod: PodRef, error: unknown, open: OpenDisruptions): void {
  if (isNotFound(error)) open.accepted(pod);
  else if (isWithoutEffect(error)) open.void(pod);
  else open.unanswered(pod);
}

/** Reports whether `error` says that the server did nothing, although the request was handed to the connection. */
function isWithoutEffect(error: unknown): boolean {
  if (error instanceof StaleBasisError || error instanceof OverruledError) return true;
  return isRequestFailure(error) && !isOutcomeUnknown(error);
}

/** What a connection fails with does not say of what request. */
function named(error: unknown, { pod }: DeletePod): unknown {
  if (!(error instanceof TransportError)) return error;
  return new Error(`Cannot delete Pod "${pod.namespace}/${pod.name}": ${error.message}`, {
    cause: error,
  });
}

function endOf(error: unknown): DeletionEnd {
  if (error instanceof StaleBasisError) return { kind: 'stale', error };
  if (error instanceof OverruledError) return { kind: 'outrun', answer: undefined };
  const isOutrun = isNotFound(error) || isConflict(error);
  return isOutrun
    ? { kind: 'outrun', answer: errorOf(error) }
    : { kind: 'failed', error: errorOf(error) };
}
