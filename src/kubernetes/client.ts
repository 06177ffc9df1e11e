/**
 * All that is said to an API server, and all that is kept of its answers: client, watches, caches, queue, Lease, Events.
 * The room knows no rollout; what is read, and what for, is decided above.
 */
import type { JsonObject, JsonValue } from '#base/json.ts';
import type { Millis } from '#base/units.ts';
import type { KubernetesObject } from './object.ts';
import type { ResourceType } from './resource-type.ts';
import type { TransportStream } from './transport/transport.ts';

/** Names one object of a type; `namespace` exactly where the type is namespaced. */
export interface ObjectKey {
  readonly namespace?: string;
  readonly name: string;
}

/** What every call of a {@link Client} takes. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Deadline of this call. @default the client's */
  readonly timeout?: Millis;
  /**
   * Deadline of this call's answer, counted from when the rate limiter let the call go; 0 for none. The earlier of the
   * two deadlines ends the call. @default none; that of a `boundedClient` on one
   */
  readonly answerWithin?: Millis;
  /** See `TransportRequest.beforeSend`. */
  readonly beforeSend?: () => void;
}

/** Which objects a list or a watch is about. */
export interface ListQuery {
  /** Absent: all namespaces, or a cluster-scoped type. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Absent: a consistent read. `0`: whatever the server has at hand. */
  readonly resourceVersion?: string;
  /** Page size. @default none: one answer */
  readonly limit?: number;
  readonly continue?: string;
}

/** One list answer. */
export interface ListResult {
  /** The cluster's revision at which the list was read. */
  readonly resourceVersion: string;
  readonly items: readonly KubernetesObject[];
  /** Present when there are further pages. */
  readonly continue?: string;
}

/** Where a watch starts and what it carries. */
export interface WatchQuery extends ListQuery {
  readonly allowWatchBookmarks?: boolean;
  /** Streaming list: first the present objects, then a bookmark annotated `k8s.io/initial-events-end`. */
  readonly sendInitialEvents?: boolean;
  readonly timeoutSeconds?: number;
}

/** The patch formats that we send. */
export type Patch =
  | { readonly kind: 'json'; readonly operations: readonly JsonObject[] }
  | { readonly kind: 'merge'; readonly document: JsonObject }
  | { readonly kind: 'strategic'; readonly document: JsonObject }
  /** Server-side apply: the whole intent of one field manager, which the write names. */
  | { readonly kind: 'apply'; readonly document: JsonObject };

/** What a delete must find, else it answers 409 (architecture rule 2). */
export interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** Options of a delete; every delete that this operator sends carries preconditions. */
export interface DeleteOptions extends CallOptions {
  readonly preconditions: Preconditions;
  /** @default the pod's own */
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
}

/** Options of a write to a part of an object. */
export interface WriteOptions extends CallOptions {
  readonly subresource?: 'status' | 'scale' | 'binding' | 'eviction' | 'finalize';
  /** Whether the server only says what it would do. @default false */
  readonly isDryRun?: boolean;
  /** Who owns the fields that are written; server-side apply needs it. Of creates and patches. @default the user agent */
  readonly fieldManager?: string;
  /** Whether server-side apply takes fields from their owners. @default false: a conflict */
  readonly isForced?: boolean;
}

/**
 * Typed calls on a transport. Every method throws an {@link ApiError} for an answer that is not 2xx or is not
 * what the API promises (truncated, empty, without metadata), and a `TransportError` when there is none.
 */
export interface Client {
  get(type: ResourceType, key: ObjectKey, options?: CallOptions): Promise<KubernetesObject>;
  list(type: ResourceType, query: ListQuery, options?: CallOptions): Promise<ListResult>;
  /** Opens a watch; the caller reads and decodes it. Throws for any answer but 200. */
  watch(type: ResourceType, query: WatchQuery, options?: CallOptions): Promise<TransportStream>;
  /**
   * Posts to the collection, or to `key`'s subresource. @returns what was stored; for an eviction or a binding
   * the bare Status, named after the key, with an empty uid and resourceVersion
   */
  create(
    type: ResourceType,
    key: { readonly namespace?: string; readonly name?: string },
    write: Write<JsonObject>,
  ): Promise<KubernetesObject>;
  replace(type: ResourceType, key: ObjectKey, write: Write<JsonObject>): Promise<KubernetesObject>;
  patch(type: ResourceType, key: ObjectKey, write: Write<Patch>): Promise<KubernetesObject>;
  /** Returns the object's last state, or undefined where the server answered a bare Status */
  delete(
    type: ResourceType,
    key: ObjectKey,
    options: DeleteOptions,
  ): Promise<KubernetesObject | undefined>;
  /** Sends any other GET or POST that answers JSON: discovery, version, reviews. */
  raw(
    request: {
      readonly method: 'GET' | 'POST';
      readonly path: string;
      readonly body?: JsonObject;
    },
    options?: CallOptions,
  ): Promise<JsonValue>;
}

/** What is written, and to which part of the object. */
export interface Write<Body> extends WriteOptions {
  readonly body: Body;
}
