import type { JsonObject } from '#base/json.ts';
import type { Instant } from '#base/units.ts';

/** One stored change, recorded where the API server commits it. */
export interface Commit {
  readonly at: Instant;
  /** The revision that this commit took; strictly increasing over the whole cluster. */
  readonly revision: number;
  readonly verb: 'create' | 'update' | 'delete';
  /** `plural` or `plural.group`, such as `pods`, `statefulsets.apps`. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Frozen; absent for `create`. */
  readonly before?: JsonObject;
  /** Frozen; absent for `delete`. */
  readonly after?: JsonObject;
  /** The user that caused it. */
  readonly user: string;
  /** The call that caused it; several commits may share one. */
  readonly callId: number;
}

/** One request, recorded where the API server answers it. */
export interface Call {
  readonly callId: number;
  readonly user: string;
  /** The client connection (one per transport): tells two incarnations of one user apart. */
  readonly client: string;
  /** `get` `list` `watch` `create` `update` `patch` `delete`, as RBAC names them. */
  readonly verb: string;
  readonly resource: string;
  /** Empty for the main resource. */
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly startedAt: Instant;
  readonly endedAt: Instant;
  /** HTTP status as sent, or the fault that took the answer away. */
  readonly outcome: number | 'dropped' | 'aborted';
}

/** What a watch had handed to a client: everything of `resource` up to `revision`. */
export interface Delivery {
  readonly at: Instant;
  readonly client: string;
  readonly resource: string;
  readonly revision: number;
}

/** The cluster's own record of what happened (EM-5), in order. Grows without bound unless `trim` is called. */
export interface EventLog {
  readonly commits: readonly Commit[];
  readonly calls: readonly Call[];
  readonly deliveries: readonly Delivery[];
  /** Calls `listener` synchronously at each commit, before any client can see it (FI-6). */
  onCommit(listener: (commit: Commit) => void): () => void;
  /** Keeps no more history from now on; listeners still hear everything. For benches and long runs. */
  stopRecording(): void;
}
