import type { Clock } from '#base/clock.ts';
import { type Instant, type Millis, millis } from '#base/units.ts';

/** How a pod answers. */
export type PodBehaviour =
  /** As applications should (DD-26): POST answers since when it is prepared until DELETE, also after a restart. */
  | { readonly kind: 'application' }
  /** Always the same. */
  | {
      readonly kind: 'answer';
      readonly status: number;
      /** @default empty */
      readonly body?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** Acts at once, and answers `after` that. */
  | { readonly kind: 'late'; readonly after: Millis; readonly behaves: PodBehaviour }
  /** Takes the call and says nothing. */
  | { readonly kind: 'never' }
  /** Ends the connection without an answer. */
  | { readonly kind: 'reset' };

/** One call that reached a pod. */
export interface FleetCall {
  readonly at: Instant;
  readonly method: string;
  /** As in the Host header. */
  readonly host: string;
  /** Name of the pod. */
  readonly pod: string;
  readonly namespace: string;
  /** With the query. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
  /** What becomes of it. */
  readonly reply: FleetReply;
}

/** What becomes of a call. */
export type FleetReply =
  | {
      readonly kind: 'answer';
      readonly after: Millis;
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
    }
  | { readonly kind: 'never' }
  | { readonly kind: 'reset'; readonly after: Millis };

/** Returns the pod, and its set as `namespace/name`, that a host such as `x-0.service.ns.svc.cluster.local.:8080` names. */
export function podOf(host: string): {
  readonly pod: string;
  readonly namespace: string;
  readonly set: string;
} {
  const [pod = '', , namespace = ''] = host.split('.');
  return { pod, namespace, set: `${namespace}/${pod.slice(0, pod.lastIndexOf('-'))}` };
}

/**
 * Pods that answer the calls of delayed down-scale and of prepare-downscale, as a test sets them. Reached in memory
 * through `FakePodHttp`, and over real HTTP through `PodFleetServer`; on either cluster.
 */
export class PodFleet {
  readonly calls: FleetCall[] = [];
  readonly #clock: Clock;
  readonly #behaviours = new Map<string, PodBehaviour>();
  /** Unix seconds, by pod. */
  readonly #prepared = new Map<string, number>();
  readonly #open = new Map<string, number>();
  readonly #mostOpen = new Map<string, number>();
  #waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  #openInAll = 0;
  #mostOpenInAll = 0;
  #rest: PodBehaviour = { kind: 'application' };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Has `pod` behave so from now on; without a pod, all that behave by default. */
  behave(behaviour: PodBehaviour, pod?: string): void {
    if (pod === undefined) this.#rest = behaviour;
    else this.#behaviours.set(pod, behaviour);
  }

  /** Returns since when `pod` is prepared, in Unix seconds; undefined while it is not. */
  preparedSince(pod: string): number | undefined {
    return this.#prepared.get(pod);
  }

  /** Makes `pod` prepared since `seconds` (Unix), or not prepared. */
  prepare(pod: string, seconds: number | undefined): void {
    if (seconds === undefined) this.#prepared.delete(pod);
    else this.#prepared.set(pod, seconds);
  }

  /** Resolves when `count` calls have arrived in all. */
  async received(count: number): Promise<void> {
    if (this.calls.length >= count) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ count, resolve });
    await promise;
  }

  /** Returns the calls so far as `METHOD pod`, in order of arrival. */
  story(): readonly string[] {
    return this.calls.map(({ method, pod }) => `${method} ${pod}`);
  }

  /** Calls of `set` (`namespace/name`) under way at once, at most; without a set, of all. */
  mostOpen(set?: string): number {
    return set === undefined ? this.#mostOpenInAll : (this.#mostOpen.get(set) ?? 0);
  }

  /** Calls under way. */
  get open(): number {
    return this.#openInAll;
  }

  /** Receives a call; `closed` is to be called once it is over, in whatever way. */
  receive(call: Omit<FleetCall, 'at' | 'pod' | 'namespace' | 'reply'>): {
    readonly reply: FleetReply;
    readonly closed: () => void;
  } {
    const { pod, namespace, set } = podOf(call.host);
    const reply = this.#replyOf(this.#behaviours.get(pod) ?? this.#rest, call.method, pod);
    this.calls.push({ ...call, pod, namespace, reply, at: this.#clock.now() });
    const closed = this.#opened(set);
    const reached = this.#waiting.filter(({ count }) => count <= this.calls.length);
    this.#waiting = this.#waiting.filter((each) => !reached.includes(each));
    for (const { resolve } of reached) resolve();
    return { reply, closed };
  }

  #opened(set: string): () => void {
    const open = (this.#open.get(set) ?? 0) + 1;
    this.#open.set(set, open);
    this.#mostOpen.set(set, Math.max(open, this.#mostOpen.get(set) ?? 0));
    this.#openInAll += 1;
    this.#mostOpenInAll = Math.max(this.#openInAll, this.#mostOpenInAll);
    return () => {
      this.#open.set(set, (this.#open.get(set) ?? 0) - 1);
      this.#openInAll -= 1;
    };
  }

  #replyOf(behaviour: PodBehaviour, method: string, pod: string): FleetReply {
    switch (behaviour.kind) {
      case 'application':
        return this.#applicationReply(method, pod);
      case 'answer': {
        const { status, body = '', headers = {} } = behaviour;
        return { kind: 'answer', after: millis(0), status, headers, body };
      }
      case 'late': {
        const then = this.#replyOf(behaviour.behaves, method, pod);
        return then.kind === 'never'
          ? then
          : { ...then, after: millis(then.after + behaviour.after) };
      }
      case 'never':
        return { kind: 'never' };
      default:
        return { kind: 'reset', after: millis(0) };
    }
  }

  #applicationReply(method: string, pod: string): FleetReply {
    if (method === 'DELETE') this.#prepared.delete(pod);
    if (method === 'POST' && !this.#prepared.has(pod)) {
      this.#prepared.set(pod, Math.floor(this.#clock.now() / 1_000));
    }
    const timestamp = this.#prepared.get(pod) ?? 0;
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ timestamp });
    return { kind: 'answer', after: millis(0), status: 200, headers, body };
  }
}
