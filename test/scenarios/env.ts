import type { JsonObject } from '#base/json.ts';
import type { Millis } from '#base/units.ts';
import type { Kubelet } from '#embedded-cluster/kubelet/start-kubelet.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Judgement } from '#testing/judge.ts';

/** What some clusters can do and others cannot; a scenario that needs one is skipped there, visibly (LN-2). */
export type Feature =
  /** The history has authors and preconditions, so that the invariants can be judged. */
  | 'history'
  /** The operator's process is killed by the operating system. */
  | 'processes'
  /** Roles are enforced. */
  | 'roles';

/** One run of the operator program on a cluster. */
export interface OperatorHandle {
  /** As `kill -9`. */
  kill(): Promise<void>;
  /** As SIGTERM; resolves when it has ended well. */
  stop(): Promise<void>;
}

/**
 * A cluster with one rollout group in a namespace of its own, complete at the start; scenarios are written against
 * this alone, so that they run on the embedded cluster and on a real one (LN-2).
 */
export interface Env {
  readonly cluster: 'embedded' | 'real';
  readonly namespace: string;
  readonly zones: readonly string[];
  /** Pods a zone. */
  readonly replicas: number;
  /** Pods of a zone that may be unavailable. */
  readonly maxUnavailable: number;
  /** As an administrator. */
  readonly admin: Client;
  readonly kubelet: Kubelet;
  supports(feature: Feature): boolean;
  /** The newest stored version of an object of the namespace; `resource` as in `statefulsets.apps`. */
  stored(resource: string, name: string): JsonObject | undefined;
  /** Names of all stored objects of `resource` in the namespace. */
  names(resource: string): readonly string[];
  /** Waits for `work` and lets the cluster's time pass meanwhile. */
  run<T>(work: Promise<T>): Promise<T>;
  /**
   * Waits until `holds`; it is asked again after each change of the cluster.
   * @throws {Error} naming `what` when it does not within `limit`. @default 120 s of the cluster's time
   */
  until(what: string, holds: () => boolean, limit?: Millis): Promise<void>;
  /** Lets so much of the cluster's time pass. */
  pass(span: Millis): Promise<void>;
  /** Starts the operator program; resolves when it is ready. */
  startOperator(): Promise<OperatorHandle>;
  /** Judges all that has happened in the namespace; throws where there is no history. */
  judge(): Promise<Judgement>;
  /** Ends what the environment started. */
  close(): Promise<void>;
}

/** What a scenario asks of its environment. */
export interface EnvOptions {
  /** @default a, b, c */
  readonly zones?: readonly string[];
  /** Pods a zone. @default 3 */
  readonly replicas?: number;
  /** @default 2 */
  readonly maxUnavailable?: number;
}
