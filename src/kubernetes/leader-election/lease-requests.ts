import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { JsonObject } from '#base/json.ts';
import { type Millis, type Monotonic, millis } from '#base/units.ts';
import { canI } from '../authorization/access-review.ts';
import type { CallOptions, Client } from '../client.ts';
import type { KubernetesObject } from '../object.ts';
import { resourceTypes } from '../resource-type.ts';
import { isAlreadyExists, isConflict, isForbidden, isNotFound } from '../transport/api-error.ts';
import {
  acquiredLease,
  createdLease,
  endedLease,
  type Holding,
  type LeaseRecord,
  renewedLease,
  type Term,
} from './lease-record.ts';
import { parseLease } from './parse-lease.ts';
import type { LeaseRequest } from './plan-lease.ts';

/** A request of the election, or the last one, which gives the Lease up. */
export type AnyLeaseRequest =
  | LeaseRequest
  | { readonly kind: 'give-up'; readonly record: LeaseRecord; readonly term: Term };

/** What became of a request. */
export type LeaseAnswer =
  | { readonly kind: 'record'; readonly record: LeaseRecord; readonly sentAt: Monotonic }
  | { readonly kind: 'absent' }
  /** The Lease is not what we thought it was. */
  | { readonly kind: 'conflict' }
  /** The Role does not permit it, as a review of our access says: a 403 alone may come from a quota or a policy. */
  | {
      readonly kind: 'forbidden';
      readonly verb: 'get' | 'create' | 'update';
      readonly error: Error;
    }
  /** Anything else; a write may have had its effect. */
  | { readonly kind: 'failed'; readonly error: Error };

/** What {@link LeaseRequests} needs. */
export interface LeaseRequestOptions {
  /** Best one whose rate limiter the disruptive requests do not share. */
  readonly client: Client;
  readonly clock: Clock;
  readonly namespace: string;
  readonly name: string;
  readonly holding: Omit<Holding, 'now' | 'underWay'>;
}

/** Bounds of one request, and what the Lease says by it. */
export interface LeaseRequestLimits extends Pick<Holding, 'underWay'> {
  readonly signal: AbortSignal;
  /** Until the whole answer has arrived, waiting for a rate limiter included. */
  readonly timeout: Millis;
  /** Nothing is sent from this instant on. @default never */
  readonly notAfter: Monotonic | undefined;
}

/** Sends the requests of an election. It decides nothing, and repeats nothing. */
export class LeaseRequests {
  readonly #options: LeaseRequestOptions;

  constructor(options: LeaseRequestOptions) {
    this.#options = options;
  }

  /** Sends `request` and says what became of it. @throws never */
  async send(request: AnyLeaseRequest, limits: LeaseRequestLimits): Promise<LeaseAnswer> {
    const { clock } = this.#options;
    const patience = new AbortController();
    const follow = (): void => patience.abort(limits.signal.reason);
    if (limits.signal.aborted) follow();
    limits.signal.addEventListener('abort', follow, { once: true });
    // The transport has a timeout of its own, which may start late: behind a limiter, or after a pause of the process.
    const late = (): void =>
      patience.abort(new Error(`no answer within ${limits.timeout / 1_000} s`));
    const timer = clock.timer(limits.timeout, late, { owner: 'lease', background: true });
    try {
      return await this.#ask(request, { ...limits, signal: patience.signal });
    } finally {
      timer.cancel();
      limits.signal.removeEventListener('abort', follow);
    }
  }

  async #ask(request: AnyLeaseRequest, limits: LeaseRequestLimits): Promise<LeaseAnswer> {
    const { clock } = this.#options;
    const { signal, timeout, notAfter, underWay } = limits;
    // The earliest instant at which it may have left: what is held counts from there.
    let sentAt = clock.monotonic();
    let isHandedOver = false;
    const beforeSend = (): void => {
      const now = clock.monotonic();
      if (notAfter !== undefined && now >= notAfter)
        throw new Error('the renew deadline has passed');
      if (!isHandedOver) sentAt = now;
      isHandedOver = true;
    };
    try {
      signal.throwIfAborted();
      const options = { signal, timeout: millis(timeout), beforeSend };
      const object = await this.#call({ request, underWay }, options);
      return { kind: 'record', record: parseLease(object), sentAt };
    } catch (error) {
      if (isForbidden(error))
        return this.#askWhy(request, error, { signal, timeout: millis(timeout) });
      return answerOf(request, error);
    }
  }

  /** Reports whether the 403 `error` is about our Role; a review that says nothing leaves it open. */
  async #askWhy(
    { kind }: AnyLeaseRequest,
    error: Error,
    options: CallOptions,
  ): Promise<LeaseAnswer> {
    const { client, namespace, name } = this.#options;
    const verb = verbs[kind];
    const access = { verb, group: 'coordination.k8s.io', resource: 'leases', namespace };
    // A creation is authorised before its name is known.
    const answer = await canI(client, verb === 'create' ? access : { ...access, name }, options);
    if (answer.kind === 'denied') return { kind: 'forbidden', verb, error };
    const why =
      answer.kind === 'allowed'
        ? 'although the Role permits it'
        : `and whether the Role permits it is unknown: ${answer.reason}`;
    return { kind: 'failed', error: new Error(`${error.message}, ${why}`, { cause: error }) };
  }

  #call(
    { request, underWay }: Pick<Holding, 'underWay'> & { readonly request: AnyLeaseRequest },
    options: CallOptions,
  ): Promise<KubernetesObject> {
    const { client, namespace, name } = this.#options;
    const key = { namespace, name };
    if (request.kind === 'read') return client.get(resourceTypes.leases, key, options);
    const body = this.#body(request, underWay);
    return request.kind === 'create'
      ? client.create(resourceTypes.leases, key, { body, ...options })
      : client.replace(resourceTypes.leases, key, { body, ...options });
  }

  #body(
    request: Exclude<AnyLeaseRequest, { kind: 'read' }>,
    underWay: Holding['underWay'],
  ): JsonObject {
    const { clock, name, holding } = this.#options;
    const now = clock.now();
    const held = { ...holding, now, underWay };
    switch (request.kind) {
      case 'create':
        return createdLease(name, held);
      case 'acquire':
        return acquiredLease(request.record, held);
      case 'renew':
        return renewedLease(request.record, held);
      default:
        return endedLease(request.record, request.term, now);
    }
  }
}

function answerOf({ kind }: AnyLeaseRequest, error: unknown): LeaseAnswer {
  if (isConflict(error) || isAlreadyExists(error)) return { kind: 'conflict' };
  // For a creation it means that the namespace is not there.
  if (isNotFound(error) && kind !== 'create') return { kind: 'absent' };
  return { kind: 'failed', error: errorOf(error) };
}

const verbs = {
  read: 'get',
  create: 'create',
  acquire: 'update',
  renew: 'update',
  'give-up': 'update',
} as const;
