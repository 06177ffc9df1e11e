import { CallLanes } from '#base/async/call-lanes.ts';
import type { Clock } from '#base/clock.ts';
import { quoted } from '#base/text/quoted.ts';
import { type Millis, millis } from '#base/units.ts';
import {
  type ClusterRejection,
  clusterRejectionOf,
} from '#kubernetes/middleware/cluster-header.ts';
import { type Environment, proxyFor } from '#kubernetes/transport/proxy.ts';
import type { Tracing } from '#telemetry/tracing/tracing.ts';
import type { PodAnswer, PodCall, PodHttp, PodRoundTrip } from './pod-http.ts';
import { type HopAnswer, roundTrip } from './pod-round-trip.ts';
import { tracedHop } from './pod-span.ts';
import { shownUrl } from './pod-url.ts';
import { firstHop, type Hop, maxHops, redirectOf } from './redirect.ts';

/** Settings of {@link createPodHttp}. */
export interface PodHttpOptions {
  readonly clock: Clock;
  /** Value of `X-Cluster` in every request: our namespace (ME-41). */
  readonly cluster: string;
  /** Deadline of each call (FL-18); undefined means none. */
  readonly timeout: Millis | undefined;
  /** Where `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` are looked up (EN-2). */
  readonly env: Environment;
  /** Longest body that is read, in bytes. @default 65,536 */
  readonly maxBody?: number;
  /** Calls of one set that are under way at once (D-24). @default 32 */
  readonly concurrency?: number;
  /** Called with every round trip (ME-7). */
  readonly observe?: (trip: PodRoundTrip) => void;
  /** Called with every call that a cluster check turned away (ME-8). */
  readonly onRejected?: (rejection: ClusterRejection) => void;
  /** Absent while nothing is traced. */
  readonly tracing?: Tracing;
}

/** Returns HTTP to pods over the network: a connection per request, open no longer than it. */
export function createPodHttp(options: PodHttpOptions): PodHttp {
  return new NetworkPodHttp(options);
}

class NetworkPodHttp implements PodHttp {
  readonly #options: PodHttpOptions;
  readonly #lanes: CallLanes;
  /** Ends each call that has begun. Not one signal for all: adding a listener costs time for each that is there. */
  readonly #endings = new Set<AbortController>();
  readonly #underWay = new Set<Promise<PodAnswer>>();
  #isClosed = false;

  constructor(options: PodHttpOptions) {
    this.#options = options;
    this.#lanes = new CallLanes(options.concurrency ?? 32);
  }

  async call(call: PodCall): Promise<PodAnswer> {
    const answer = this.#untilEnd(call);
    this.#underWay.add(answer);
    try {
      return await answer;
    } finally {
      this.#underWay.delete(answer);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const ending of this.#endings) ending.abort('aborted');
    await Promise.all(this.#underWay);
  }

  async #untilEnd(call: PodCall): Promise<PodAnswer> {
    const { signal } = call;
    if (this.#isClosed || signal?.aborted === true) return neverSent(call);
    const ending = new AbortController();
    const abort = (): void => ending.abort('aborted');
    this.#endings.add(ending);
    signal?.addEventListener('abort', abort, { once: true });
    try {
      return await this.#inTurn(call, ending);
    } finally {
      this.#endings.delete(ending);
      signal?.removeEventListener('abort', abort);
    }
  }

  async #inTurn(call: PodCall, ending: AbortController): Promise<PodAnswer> {
    const leave = await this.#lanes.enter(call.set, ending.signal);
    if (leave === undefined) return neverSent(call);
    const deadline = this.#deadline(ending);
    try {
      const answer = await this.#follow(call, ending.signal);
      call.onEnd?.(answer);
      return answer;
    } finally {
      deadline?.cancel();
      leave();
    }
  }

  #deadline(ending: AbortController): { cancel(): void } | undefined {
    const { timeout, clock } = this.#options;
    if (timeout === undefined) return undefined;
    const options = { owner: 'pod call deadline', background: true };
    return clock.timer(timeout, () => ending.abort('timed-out'), options);
  }

  async #follow(call: PodCall, ending: AbortSignal): Promise<PodAnswer> {
    let hop = firstHop(call.method, call.url);
    if (hop === undefined) {
      const why = 'it is not an absolute http or https URL';
      return failed(call, { kind: 'unreachable', why, isSent: false });
    }
    for (let hops = 1; ; hops += 1) {
      const answer = await this.#send(hop, call, ending);
      if (answer.kind !== 'answered') return failed(call, answer);
      const rejection = this.#rejectionIn(answer);
      if (rejection !== undefined) return this.#rejected(call, rejection);
      const next = redirectOf(hop, answer);
      if (next === undefined) return { kind: 'answered', status: answer.status, body: answer.body };
      if (next.kind === 'misdirected') return misdirected(call, next.why);
      if (hops === maxHops) return misdirected(call, `it redirects more than ${maxHops - 1} times`);
      hop = next.hop;
    }
  }

  async #send(hop: Hop, call: PodCall, ending: AbortSignal): Promise<HopAnswer> {
    const { clock, cluster, env, observe, timeout, tracing, maxBody = 65_536 } = this.#options;
    const startedAt = clock.monotonic();
    const headers = { 'user-agent': 'rollout-operator', ...call.headers, 'x-cluster': cluster };
    const context = { headers, proxy: proxyOf(hop.url, env), maxBody, ending };
    const answer = await (tracing === undefined
      ? roundTrip(hop, context)
      : tracedHop(tracing, { hop, set: call.set }, context));
    observe?.({
      path: hop.url.pathname,
      method: hop.method,
      status: answer.kind === 'answered' ? answer.status : 'error',
      duration: millis(clock.monotonic() - startedAt),
    });
    if (answer.kind !== 'timed-out') return answer;
    return { ...answer, why: `no whole answer within ${timeout ?? 0} ms` };
  }

  /** Returns the rejection that the 511 of a cluster check has in JSON; any other 511 stays an ordinary answer. */
  #rejectionIn(answer: Extract<HopAnswer, { kind: 'answered' }>): ClusterRejection | undefined {
    const { status, contentType, body } = answer;
    if (status !== 511 || !/^application\/json\b/i.test(contentType)) return undefined;
    return clusterRejectionOf(body, this.#options.cluster);
  }

  #rejected(call: PodCall, rejection: ClusterRejection): PodAnswer {
    this.#options.onRejected?.(rejection);
    const { route, message } = rejection;
    const why = `the cluster check of route ${quoted(route)} turned it away: ${quoted(message)}`;
    return failed(call, { kind: 'wrong-cluster', why, isSent: true });
  }
}

/** Returns the proxy, if any. `NO_PROXY` may name pods with the dot at the end of their names or without it. */
function proxyOf(url: URL, env: Environment): string | undefined {
  const proxy = proxyFor(url, env);
  if (proxy === undefined) return undefined;
  const undotted = new URL(url);
  undotted.hostname = url.hostname.replace(/\.$/, '');
  return proxyFor(undotted, env) === undefined ? undefined : proxy;
}

function misdirected(call: PodCall, why: string): PodAnswer {
  return failed(call, { kind: 'misdirected', why, isSent: true });
}

function neverSent(call: PodCall): PodAnswer {
  return failed(call, { kind: 'aborted', why: '', isSent: false });
}

function failed(call: PodCall, answer: Exclude<HopAnswer, { kind: 'answered' }>): PodAnswer {
  const { kind, isSent } = answer;
  const why = kind === 'aborted' ? 'the call was given up' : answer.why;
  const message = `Cannot ${call.method} ${shownUrl(call.url)}: ${why}`;
  return { kind, isSent, message };
}
