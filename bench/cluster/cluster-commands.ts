import type { EvictionCommands } from './eviction-commands.ts';
import type { Observation } from './group-watch.ts';
import type { PercentCommands } from './percent-commands.ts';
import type { GroupsOptions } from './workload.ts';

/** How the operator reaches the cluster. */
export interface Access {
  readonly url: string;
  readonly token: string;
  /** Of one who may do everything, and whose requests are not counted. */
  readonly adminToken: string;
  /** A kubeconfig (YAML). */
  readonly kubeconfig: string;
}

/** How long pods take to be replaced. */
export interface RestartOptions {
  /** From the DELETE of a pod to Ready of its replacement, in ms, without the latency of anybody. */
  readonly milliseconds: number;
  /** Share by which each step varies. */
  readonly jitter: number;
  /** Whether native budgets are kept, too. @default false */
  readonly hasBudgets?: boolean;
}

/** What the operator asked of the API server, by `verb resource`, such as `delete pods`. */
export type Requests = Readonly<Record<string, number>>;

/** How a rollout went, as the server saw it. */
export interface Rollout extends Observation {
  readonly pods: number;
  readonly zones: number;
  /** From the first change of a template to the last Ready, in ms. */
  readonly wall: number;
  readonly requests: Requests;
  /** What `testing/judge.ts` holds against it; empty where it did not watch. */
  readonly violations: readonly string[];
}

/** How pods were prepared, as they saw it. */
export interface Preparation {
  readonly pods: number;
  /** From the first change of a template to the call of the last pod, in ms. */
  readonly wall: number;
  /** Calls under way at once, at most: of the set with the most of them, and of all sets together. */
  readonly mostOfSet: number;
  readonly mostInAll: number;
  /** TCP connections that were open at once, at most. */
  readonly connections: number;
}

/** What the process of the cluster can be asked to do. Values cross a process border: plain JSON only. */
export interface ClusterCommands {
  /** Starts the API server. `isJudged`: each commit is judged by the invariants, which costs time. */
  open(options: { readonly isJudged: boolean }): Promise<Access>;
  /** Stores `groups` with all their pods, running and ready. Without {@link pace}, nothing changes them. */
  fill(options: GroupsOptions): Promise<{ readonly seconds: number; readonly podBytes: number }>;
  /** Starts controllers and kubelet; pods take `restart` to be replaced. */
  pace(restart: RestartOptions): Promise<void>;
  /** Changes the image of all sets of the first `groups` groups and waits until all pods are Ready on it. */
  roll(options: { readonly groups: number; readonly patience: number }): Promise<Rollout>;
  /**
   * Has every set mirror a ReplicaTemplate of its own name. The last `delayed` of them ask their pods before they
   * shrink, at a URL that leads to this process through the answer's proxy.
   */
  mirror(options: { readonly delayed: number }): Promise<{ readonly proxy: string }>;
  /**
   * Changes templates of the first `sets` sets, each up and down by turns, `perSecond` of them or all at one instant.
   * @returns once every set has followed: how long each took, in ms, and all of them together
   */
  rescale(options: {
    readonly sets: number;
    readonly perSecond: number | 'all at once';
  }): Promise<{ readonly took: readonly number[]; readonly wall: number }>;
  /**
   * Has every template ask for no replicas, so that all pods of sets with a delay are asked to prepare, and answer
   * `answerAfter` ms after they were. Resolves when all have been asked.
   */
  prepare(options: { readonly answerAfter: number }): Promise<Preparation>;
  /** Calls that reached pods since the last call of this. */
  podCalls(): Promise<number>;
  /** What the operator has asked since the last call. */
  requests(): Promise<Requests>;
  /** Closes everything. */
  close(): Promise<void>;
}

/** All that the process of the cluster can be asked to do. */
export interface AllCommands extends ClusterCommands, EvictionCommands, PercentCommands {}

/** One command on its way to the process of the cluster. */
export interface CommandMessage {
  readonly id: number;
  readonly name: keyof AllCommands;
  readonly argument: unknown;
}

/** Its answer. */
export type AnswerMessage =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: string };
