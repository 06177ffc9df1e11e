import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { backoffAfter } from '#base/time/backoff.ts';
import {
  after,
  type Instant,
  type Millis,
  type Monotonic,
  millis,
  monotonic,
  seconds,
} from '#base/units.ts';
import { ageOf, type Basis, StaleBasisError } from '#control/consistent-read/basis.ts';
import type { PodRef } from '#control/decision/decision.ts';
import type { OpenDisruptions } from '#control/write/open-disruptions.ts';
import { OverruledError } from '#control/write/pod-deletions.ts';
import { unlessSent } from '#control/write/unless-sent.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import {
  ApiError,
  isConflict,
  isForbidden,
  isNotFound,
  isOutcomeUnknown,
  isTooManyRequests,
} from '#kubernetes/transport/api-error.ts';
import type { EvictionResult } from '#telemetry/metrics/rollout-metrics.ts';
import type { EvictionRefusal, EvictionResults } from '../snapshot.ts';

/** So many requests for the pods of one rollout are under way at once. */
const mostAtOnce = 10;
const waits = { first: seconds(5), longest: seconds(60) };
const forbiddenWait = seconds(60);

/** What evictions go through. */
export interface EvictionPorts {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly open: OpenDisruptions;
}

/** Whose evictions these are. */
export interface EvictionOwner {
  /** uid of the resource. */
  readonly uid: string;
  /** Waits before each eviction. @throws why none leaves */
  ready(): Promise<void>;
  /** Approves an eviction exactly when it would leave (D-49). @throws what forbids it */
  approve(pod: PodRef): Basis;
  /** Takes note of how each ended that was sent. */
  ended(pod: PodRef, result: EvictionResult): void;
  /** Why it goes. */
  readonly because: { readonly reason: string; readonly message: string };
}

/** How one eviction ended. */
type End =
  | { readonly kind: 'accepted' }
  /** The pod is another one by now, or is not to go any more. */
  | { readonly kind: 'outrun'; readonly error: unknown }
  | {
      readonly kind: 'refused';
      readonly reason: EvictionRefusal['reason'];
      readonly error: ApiError;
    }
  | { readonly kind: 'failed'; readonly error: unknown };

interface Memory {
  readonly acceptedAt: Instant | undefined;
  readonly refusals: number;
  readonly refused: Refused | undefined;
}

/** By a clock that cannot be set: a wall clock that is set back makes no wait longer. */
type Refused = Omit<EvictionRefusal, 'until'> & { readonly until: Monotonic };

const nothing: Memory = { acceptedAt: undefined, refusals: 0, refused: undefined };

/** Returns how long to wait: at least as long as the server asks for, and ever longer. */
function waitAfter({ reason, error }: Extract<End, { kind: 'refused' }>, refusals: number): Millis {
  const own = reason === 'EvictionForbidden' ? forbiddenWait : backoffAfter(refusals, waits);
  const asked = error.retryAfter;
  return asked !== undefined && asked > own ? asked : own;
}

/** Sends evictions, and remembers how the API server took them. */
export class Evictions {
  readonly #ports: EvictionPorts;
  /** By uid of the resource. */
  readonly #memory = new Map<string, Memory>();

  constructor(ports: EvictionPorts) {
    this.#ports = ports;
  }

  /** Returns what the API server said last; undefined where it was not asked. */
  results(uid: string): EvictionResults | undefined {
    const known = this.#memory.get(uid);
    if (known?.refused === undefined) return known && { ...known, refused: undefined };
    const { clock } = this.#ports;
    const left = millis(known.refused.until - clock.monotonic());
    return { ...known, refused: { ...known.refused, until: after(clock.now(), left) } };
  }

  forget(uid: string): void {
    this.#memory.delete(uid);
  }

  /**
   * Evicts `pods`, ten at a time; as soon as one is refused none of those after it leaves.
   *
   * @returns how many were accepted
   * @throws what a request failed with whose outcome is not one of those, and why none left where all have moved
   */
  async evict(pods: readonly PodRef[], owner: EvictionOwner, signal: AbortSignal): Promise<number> {
    const left = [...pods];
    const ends: End[] = [];
    const isOver = (): boolean => ends.some(({ kind }) => kind === 'refused' || kind === 'failed');
    const lane = async (): Promise<void> => {
      for (let pod = left.shift(); pod !== undefined && !isOver(); pod = left.shift()) {
        ends.push(await this.#evict(pod, owner, signal));
      }
    };
    await Promise.all(Array.from({ length: mostAtOnce }, lane));
    this.#remember(owner.uid, ends);
    const failed = ends.find((end) => end.kind === 'failed');
    if (failed !== undefined) throw failed.error;
    const accepted = ends.filter(({ kind }) => kind === 'accepted').length;
    // Where all have moved, and nothing was done, there is no hurry: another look at once finds the same.
    const outrun = ends.find((end) => end.kind === 'outrun');
    if (outrun !== undefined && ends.every(({ kind }) => kind === 'outrun')) throw outrun.error;
    return accepted;
  }

  #remember(uid: string, ends: readonly End[]): void {
    const now = this.#ports.clock.now();
    const before = this.#memory.get(uid) ?? nothing;
    const isAccepted = ends.some(({ kind }) => kind === 'accepted');
    const known = isAccepted ? { ...nothing, acceptedAt: now } : before;
    const refused = ends.find((end) => end.kind === 'refused');
    if (refused === undefined) {
      if (isAccepted) this.#memory.set(uid, known);
      return;
    }
    const { reason, error } = refused;
    const wait = waitAfter(refused, known.refusals);
    const until = monotonic(this.#ports.clock.monotonic() + wait);
    const refusal = { reason, message: error.message, until };
    this.#memory.set(uid, { ...known, refusals: known.refusals + 1, refused: refusal });
  }

  async #evict(pod: PodRef, owner: EvictionOwner, signal: AbortSignal): Promise<End> {
    const { client, clock, log, open } = this.#ports;
    let sentAt: Monotonic | undefined;
    const sending = unlessSent(signal, () => {
      const basis = owner.approve(pod);
      const now = clock.monotonic();
      sentAt = now;
      open.sent(pod, now);
      const { reason, message } = owner.because;
      const fields = { pod: pod.name, uid: pod.uid, reason, because: message };
      log.info('evicting pod', { ...fields, age_ms: Math.round(ageOf(basis, now)) });
      log.flush();
    });
    const { namespace, name, uid } = pod;
    const body = {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { namespace, name },
      deleteOptions: { preconditions: { uid } },
    };
    try {
      await owner.ready();
      const write = { body, subresource: 'eviction', ...sending } as const;
      await client.create(resourceTypes.pods, { namespace, name }, write);
      open.accepted(pod);
      owner.ended(pod, 'accepted');
      return { kind: 'accepted' };
    } catch (error) {
      const end = endOf(error);
      if (sentAt !== undefined) {
        settle(pod, error, open);
        owner.ended(pod, resultOf(end));
      }
      return end;
    }
  }
}

const refusals: Readonly<Record<EvictionRefusal['reason'], EvictionResult>> = {
  PDBBlocked: 'budget',
  MultipleBudgets: 'budget',
  ApiThrottled: 'throttled',
  EvictionForbidden: 'forbidden',
};

function resultOf(end: End): EvictionResult {
  if (end.kind === 'refused') return refusals[end.reason];
  if (end.kind === 'outrun') return 'gone';
  return end.kind === 'accepted' ? 'accepted' : 'error';
}

function settle(pod: PodRef, error: unknown, open: OpenDisruptions): void {
  if (isNotFound(error)) open.accepted(pod);
  else if (isOfManyBudgets(error)) open.void(pod);
  else if (error instanceof ApiError && !isOutcomeUnknown(error)) open.void(pod);
  else if (error instanceof StaleBasisError || error instanceof OverruledError) open.void(pod);
  else open.unanswered(pod);
}

function endOf(error: unknown): End {
  if (isNotFound(error) || isConflict(error) || error instanceof OverruledError) {
    return { kind: 'outrun', error };
  }
  if (isTooManyRequests(error)) {
    const isBudget = JSON.stringify(error.details).includes('DisruptionBudget');
    return { kind: 'refused', reason: isBudget ? 'PDBBlocked' : 'ApiThrottled', error };
  }
  if (isForbidden(error)) return { kind: 'refused', reason: 'EvictionForbidden', error };
  if (isOfManyBudgets(error)) {
    return { kind: 'refused', reason: 'MultipleBudgets', error };
  }
  return { kind: 'failed', error };
}

/** Reports whether two budgets select a pod: the API server answers 500 then, and has done nothing. */
function isOfManyBudgets(error: unknown): error is ApiError {
  return error instanceof ApiError && error.message.includes('more than one PodDisruptionBudget');
}
