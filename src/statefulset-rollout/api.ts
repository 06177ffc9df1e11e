import type { JsonObject } from '#base/json.ts';
import type { Millis } from '#base/units.ts';

/** Where a value is in a Secret of the resource's own namespace. */
export interface SecretKey {
  readonly name: string;
  readonly key: string;
}

/** How much is sent to Slack: all pods, the summary alone, or failures alone. */
export type SlackLevel = 'debug' | 'info' | 'error';

/** Where the progress is reported. */
export interface SlackTarget {
  /** `#name`, or the id of a conversation. */
  readonly channel: string;
  readonly level: SlackLevel;
  /** @default the operator's own token */
  readonly token?: SecretKey;
}

/** Who is called back once the outcome is known. */
export interface CallbackTarget {
  /** Absolute, the id of the stage in it where the receiver is a deploy API. */
  readonly url: string;
  readonly stageId: string;
  /** @default the operator's own key */
  readonly signingKey?: SecretKey;
}

/** What must report a pod as healthy, in addition to Kubernetes. */
export interface DiscoveryTarget {
  /** @default that of the agent that is asked */
  readonly datacenter?: string;
  /** 1 to 20, each once. */
  readonly services: readonly string[];
  /** @default the operator's own token */
  readonly token?: SecretKey;
  /** Of Consul Enterprise. */
  readonly namespace?: string;
  /** Of Consul Enterprise. */
  readonly partition?: string;
  /** Whether a Consul that cannot be asked holds the rollout. */
  readonly onError: 'Block' | 'Ignore';
}

/** The StatefulSet as the resource carries it. */
export interface CarriedSet {
  readonly name: string;
  /** Of its metadata; undefined where nothing is there. */
  readonly namespace: string | undefined;
  /** 0 or more; undefined where nothing is there. */
  readonly replicas: number | undefined;
  /** As it was written. */
  readonly object: JsonObject;
}

/** What the `spec` of a StatefulsetRollout says, defaults put in. */
export interface StatefulsetRolloutSpec {
  readonly set: CarriedSet;
  /** Share of the pods that run the new version, 0 to 100. */
  readonly percent: number;
  /** From one eviction to the next; 0 or more. */
  readonly evictionInterval: Millis;
  /** The same where pods go back to a former version. */
  readonly rollbackInterval: Millis;
  readonly isPauseRequested: boolean;
  /** A new one begins the rollout again, as after a failure. */
  readonly identity: string;
  readonly slack?: SlackTarget;
  readonly callback?: CallbackTarget;
  readonly discovery?: DiscoveryTarget;
  /** Without any progress for so long the rollout has failed. */
  readonly progressDeadline: Millis;
  /** Of the whole rollout, pauses left out. @default none */
  readonly timeout?: Millis;
  /** How a pod of the given-up version goes that is not ready. */
  readonly unreadyPodsOfRollback: 'Delete' | 'Evict';
  readonly replicasOwnership: 'Auto' | 'Rollout' | 'External';
  readonly onImmutableChange: 'Fail' | 'RecreateOrphan';
  readonly deletionPolicy: 'Auto' | 'Delete' | 'Orphan';
  readonly leakPolicy: 'Report' | 'Pin';
  /** Whether leaked pods go back; only with `Pin`. */
  readonly isLeakRepaired: boolean;
  /** How many pods may be away at once where no budget selects them; 1 to 100. */
  readonly parallelWithoutBudget: number;
}
