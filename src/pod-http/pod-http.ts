/**
 * Calls of pods by HTTP: where each is reached, how long it may take, how many at once. What is asked, and what an answer
 * means, is known to the caller.
 */
import type { Millis } from '#base/units.ts';

/** One call of a pod. */
export interface PodCall {
  /**
   * Names the StatefulSet that the pod belongs to, as `namespace/name`: calls of one set share its places, those of
   * another never wait for them (D-24).
   */
  readonly set: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Absolute `http` or `https` URL; see `pod-url.ts`. */
  readonly url: string;
  /** Headers besides `X-Cluster`, names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Gives the call up, also while it waits for its turn. */
  readonly signal?: AbortSignal;
  /**
   * Called with how the call ended before the next call of the set gets its place, so that what it aborts is never sent. Must
   * not throw.
   */
  readonly onEnd?: (answer: PodAnswer) => void;
}

/** Why a call has no answer of the pod. */
export type NoAnswer =
  /** No process listens on the pod's port; the pod surely knows nothing of the call. */
  | 'refused'
  /** No connection: no such name, no route, no agreement on TLS, an unusable URL. The pod knows nothing of the call. */
  | 'unreachable'
  /** No whole answer within the deadline. The pod may have acted. */
  | 'timed-out'
  /** The connection ended before the whole answer. The pod may have acted. */
  | 'broken'
  /** The answer is longer than is read. The pod may have acted. */
  | 'too-large'
  /**
   * More redirects than an ordinary client follows, or one to no usable URL, to another host, or to GET where that was not
   * asked for. The pod may have acted.
   */
  | 'misdirected'
  /** The cluster check of a server turned the call away: it did not reach the pod that was meant. */
  | 'wrong-cluster'
  /** The caller gave it up, or this program ends. The pod may have acted if it was sent. */
  | 'aborted';

/** How a call ended: the pod's own answer, whatever its status, or why there is none. */
export type PodAnswer =
  | { readonly kind: 'answered'; readonly status: number; readonly body: string }
  | {
      readonly kind: NoAnswer;
      /** One sentence that names the method, the URL and the cause. */
      readonly message: string;
      /** Whether anything can have left this process. */
      readonly isSent: boolean;
    };

/** HTTP to pods. Adapters: the network; in tests a fleet of pods in memory. */
export interface PodHttp {
  /**
   * Calls a pod and reads its whole answer. Redirects are followed as far as they lead to the pod with the same method
   * (DD-12, D-59); the deadline counts from when the call's turn has come until the last byte of the last answer (FL-18).
   *
   * Never rejects, and never throws.
   */
  call(call: PodCall): Promise<PodAnswer>;
  /** Gives up all calls, ends all connections, and answers `aborted` from then on. */
  close(): Promise<void>;
}

/** One round trip to a pod, redirects each on their own; for metrics (ME-7). */
export interface PodRoundTrip {
  /** The URL path, without query. */
  readonly path: string;
  readonly method: PodCall['method'];
  readonly status: number | 'error';
  readonly duration: Millis;
}
