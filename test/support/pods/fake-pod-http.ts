import { CallLanes } from '#base/async/call-lanes.ts';
import type { Clock } from '#base/clock.ts';
import type { Millis } from '#base/units.ts';
import type { NoAnswer, PodAnswer, PodCall, PodHttp } from '#pod-http/pod-http.ts';
import { shownUrl } from '#pod-http/pod-url.ts';
import { type PodFleet, podOf } from './pod-fleet.ts';

/** Settings of a {@link FakePodHttp}. */
export interface FakePodHttpOptions {
  readonly fleet: PodFleet;
  readonly clock: Clock;
  /** Deadline of each call. @default none */
  readonly timeout?: Millis;
  /** Value of `X-Cluster`. @default 'test' */
  readonly cluster?: string;
  /** Called with each call before it reaches its pod, and once the pod has acted on it; it may {@link FakePodHttp.kill}. */
  readonly onCall?: (call: CallOfPod, moment: 'before' | 'after') => void;
}

/** What is called, and how. */
export interface CallOfPod {
  readonly method: string;
  /** Name of the pod. */
  readonly pod: string;
}

/** {@link PodHttp} to a {@link PodFleet} in memory, in the time of `clock`; follows no redirects. */
export class FakePodHttp implements PodHttp {
  readonly #options: FakePodHttpOptions;
  readonly #lanes = new CallLanes(32);
  readonly #closing = new AbortController();
  readonly #open = new Set<() => void>();
  #isDead = false;

  constructor(options: FakePodHttpOptions) {
    this.#options = options;
  }

  async call(call: PodCall): Promise<PodAnswer> {
    const { signal: closing } = this.#closing;
    const signal = call.signal === undefined ? closing : AbortSignal.any([call.signal, closing]);
    const leave = await this.#lanes.enter(call.set, signal);
    if (leave === undefined) return failed(call, 'aborted', false);
    try {
      const answer = await this.#exchange(call, signal);
      call.onEnd?.(answer);
      return answer;
    } finally {
      leave();
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
  }

  /** Kills the process that calls: what it has open ends without an answer, and nothing reaches pods any more. */
  kill(): void {
    this.#isDead = true;
    for (const closed of this.#open) closed();
    this.#open.clear();
  }

  #exchange(call: PodCall, signal: AbortSignal): Promise<PodAnswer> {
    const { fleet, clock, timeout, cluster = 'test' } = this.#options;
    const url = URL.parse(call.url);
    if (url === null) return Promise.resolve(failed(call, 'unreachable', false));
    this.#told(call, url, 'before');
    const headers = { ...call.headers, 'x-cluster': cluster, host: url.host };
    const path = url.pathname + url.search;
    const { promise, resolve } = Promise.withResolvers<PodAnswer>();
    if (this.#isDead) return promise;
    const timers: { cancel(): void }[] = [];
    const { reply, closed } = fleet.receive({
      method: call.method,
      host: url.host,
      path,
      headers,
      body: '',
    });
    this.#open.add(closed);
    this.#told(call, url, 'after');
    if (this.#isDead) return promise;
    const end = (answer: PodAnswer): void => {
      for (const timer of timers) timer.cancel();
      signal.removeEventListener('abort', abort);
      if (this.#open.delete(closed)) closed();
      resolve(answer);
    };
    const abort = (): void => end(failed(call, 'aborted', true));
    signal.addEventListener('abort', abort, { once: true });
    if (timeout !== undefined) {
      timers.push(clock.timer(timeout, () => end(failed(call, 'timed-out', true))));
    }
    if (reply.kind === 'never') return promise;
    const answer: PodAnswer =
      reply.kind === 'reset'
        ? failed(call, 'broken', true)
        : { kind: 'answered', status: reply.status, body: reply.body };
    if (reply.after <= 0) end(answer);
    else timers.push(clock.timer(reply.after, () => end(answer)));
    return promise;
  }

  #told({ method }: PodCall, { host }: URL, moment: 'before' | 'after'): void {
    if (!this.#isDead) this.#options.onCall?.({ method, pod: podOf(host).pod }, moment);
  }
}

function failed(call: PodCall, kind: NoAnswer, isSent: boolean): PodAnswer {
  return { kind, isSent, message: `Cannot ${call.method} ${shownUrl(call.url)}: ${kind}` };
}
