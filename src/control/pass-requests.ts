import type { Because } from '#base/because.ts';
import type { Clock } from '#base/clock.ts';
import { RevisionWentBackError } from '#kubernetes/revision.ts';
import { isRequestFailure } from '#kubernetes/transport/api-error.ts';
import type { AwaitedRequests } from './awaited-requests.ts';
import type { Reason } from './decision/reasons.ts';
import { because } from './decision/refs.ts';
import type { Need, Wrote } from './plan/group-capability.ts';
import { type Missing, view } from './plan/secure-plan.ts';
import type { RequestRefusals } from './write/request-refusals.ts';
import { isGivenUp } from './write/unless-sent.ts';

/** What the requests of a pass go through. */
export interface PassRequestPorts {
  readonly clock: Clock;
  readonly awaited: AwaitedRequests;
  readonly requests: RequestRefusals;
}

/** How often one pass sees to needs that may be there again, such as a view that is proven fresh. */
const maxAttempts = 3;

/** The requests that one pass over a group waits for, and what became of them. */
export class PassRequests {
  readonly #key: string;
  readonly #ports: PassRequestPorts;
  /** How often each need was seen to, by what it is of. */
  readonly #attempts = new Map<string, number>();
  readonly #passedOver = new Map<string, Because<Reason>>();
  #error: Error | undefined;

  constructor(key: string, ports: PassRequestPorts) {
    this.#key = key;
    this.#ports = ports;
  }

  /** Whose need is still there after it was seen to, or failed, and why nothing is disrupted for that. */
  get passedOver(): ReadonlyMap<string, Because<Reason>> {
    return this.#passedOver;
  }

  /** The first request that failed; undefined when none did. */
  get error(): Error | undefined {
    return this.#error;
  }

  /** Sees to a need. @returns why the pass ends: the view is still not good enough after a few times */
  async seeTo({ need, of }: Missing, signal: AbortSignal): Promise<Because<Reason> | undefined> {
    const attempts = (this.#attempts.get(of) ?? 0) + 1;
    this.#attempts.set(of, attempts);
    if (need.unmet !== undefined && attempts > maxAttempts) {
      if (of === view) return need.unmet;
      this.#passedOver.set(of, need.unmet);
      return undefined;
    }
    const met = this.await(need, signal).then(() => 'met' as const);
    const why = need.unmet ?? because('RequestRefused', `${need.what} could not be read`);
    if ((await this.#asked(of, met, signal)) === 'met') this.#recovered(of);
    else this.#passedOver.set(of, why);
    return undefined;
  }

  /** Waits for the answer to a write of `what`. @returns `outrun` where the world has moved meanwhile */
  async answered(
    what: string,
    writing: Promise<Wrote>,
    signal: AbortSignal,
  ): Promise<'outrun' | undefined> {
    const { clock, requests } = this.#ports;
    const wrote = await this.#asked(what, this.named(writing), signal);
    if (wrote === undefined || wrote === 'outrun') return wrote;
    if (wrote === 'written') this.#recovered(what);
    else requests.held(this.#key, what, { why: wrote.held, now: clock.monotonic() });
    return undefined;
  }

  /** Waits until `need` is fulfilled, as something that has a name. @throws what its request fails with */
  async await({ what, fulfil }: Need, signal: AbortSignal): Promise<void> {
    await this.#ports.awaited.named(this.#key, what, fulfil(signal));
  }

  /** Returns `writing`, named for who asks what the pass waits for. */
  named<T>(writing: Promise<T>): Promise<T> {
    return this.#ports.awaited.named(this.#key, 'the answer to a write', writing);
  }

  /** Waits for requests for `what`, and remembers that they failed. @returns undefined when they did */
  async #asked<T>(what: string, answer: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
    const { clock, requests } = this.#ports;
    try {
      return await answer;
    } catch (error) {
      if (error instanceof RevisionWentBackError || !isRequestFailure(error)) throw error;
      if (isGivenUp(error, signal)) throw error;
      this.#error ??= error;
      requests.failed(this.#key, what, { error, now: clock.monotonic() });
      return undefined;
    }
  }

  #recovered(what: string): void {
    const { clock, requests } = this.#ports;
    requests.recovered(this.#key, what, clock.monotonic());
  }
}
