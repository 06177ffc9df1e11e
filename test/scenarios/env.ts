/**
 * What a scenario needs of a cluster, so that it is written once and runs on the embedded and on a real one. What one of
 * them cannot do is a feature, with a reason; nothing else may skip.
 */
import type { JsonObject, JsonValue } from '#base/json.ts';
import type { Millis } from '#base/units.ts';
import type { Commit } from '#cluster/event-log.ts';
import type { Kubelet } from '#cluster/kubelet/start-kubelet.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Method } from '#kubernetes/transport/transport.ts';
import type { Judgement } from '#support/judge/judge.ts';
import type { PodFleet } from '#support/pods/pod-fleet.ts';

/** What some clusters can do and others cannot; a scenario that needs one is skipped there, visibly (LN-2). */
export type Feature = keyof typeof features;

/** Every reason for which a scenario may be skipped: what is missing, and where it is missing. */
export const features = Object.freeze({
  history: 'an existing cluster shows no audit log, so that nobody can tell who did what',
  roles: 'the embedded cluster enforces no Role',
  disturbance: 'only a control plane of our own may be restarted, paused and configured',
  cel: 'the embedded cluster has no engine for CEL',
  apply: 'the embedded cluster takes nothing that is applied from the server side',
  zoneLabels: 'pods get the zone of their node as a label from version 1.35 on',
});

/** Why a test that runs kubectl may be skipped. */
export const NO_KUBECTL =
  'kubectl is not installed: its wire conversations are tested in kubectl-wire.test.ts';

/** The reason to skip what needs `needs` on `env`; undefined when all is there. */
export function missing(env: Env, needs: readonly Feature[] = []): string | undefined {
  const feature = needs.find((need) => !env.supports(need));
  return feature === undefined ? undefined : features[feature];
}

/** One stored change. */
export type Change = Pick<Commit, 'verb' | 'resource' | 'name' | 'uid' | 'before' | 'after'>;

/** A whole answer, parsed. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /* oxlint-disable-next-line typescript/no-explicit-any -- looked into by path; a wrong path fails the assertion */
  readonly body: any;
}

/** One run of the operator program on a cluster. */
export interface OperatorHandle {
  /** As `kill -9`. */
  kill(): Promise<void>;
  /** As SIGTERM; resolves when it has ended well. */
  stop(): Promise<void>;
}

/**
 * A namespace of its own on a cluster, with one complete rollout group unless `zones` is empty; scenarios are written
 * against this alone, so that they run on the embedded cluster and on a real one (LN-2).
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
  /** Answers what operators ask of pods; on every cluster pods do as applications should unless set otherwise (D-32). */
  readonly pods: PodFleet;
  supports(feature: Feature): boolean;
  /** The newest stored version of an object of the namespace; `resource` as in `statefulsets.apps`. */
  stored(resource: string, name: string): JsonObject | undefined;
  /** Names of all stored objects of `resource` in the namespace. */
  names(resource: string): readonly string[];
  /** All changes of the namespace so far, in order. */
  history(): readonly Change[];
  /** Sends one request as an administrator and reads the whole answer, whatever its status; lets no time pass. */
  ask(
    method: Method,
    path: string,
    ...rest: readonly [body?: JsonValue, headers?: Readonly<Record<string, string>>]
  ): Promise<Answer>;
  /** Reads `path` again and again, for what no change of the namespace tells, until it is answered with `status`. */
  untilAnswered(path: string, status: number): Promise<void>;
  /** Waits for `work` and lets the cluster's time pass meanwhile. */
  run<T>(work: Promise<T>): Promise<T>;
  /**
   * Waits until `holds`; it is asked again after each change of the cluster.
   * @throws {Error} naming `what` when it does not within `limit`. @default 120 s of the cluster's time
   */
  until(what: string, holds: () => boolean, limit?: Millis): Promise<void>;
  /** Makes the server forget its watch events and old revisions, as a restart after a compaction does. Needs `disturbance`. */
  forgetEvents(): Promise<void>;
  /** Lets so much of the cluster's time pass. */
  pass(span: Millis): Promise<void>;
  /** Starts the operator program; resolves when it is ready. */
  startOperator(): Promise<OperatorHandle>;
  /** The same, and the API server has evictions reviewed by it, as shipped, when it resolves. */
  startReviewingOperator(): Promise<OperatorHandle>;
  /**
   * Judges all that has happened in the namespace; throws where there is no history. With `quiet`, so much time passes
   * first in which nothing may be written, nor a pod be called (QUIE-1).
   */
  judge(quiet?: Millis): Promise<Judgement>;
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
