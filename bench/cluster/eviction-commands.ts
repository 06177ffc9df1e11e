/** How a zone was drained, as the API server saw it. */
export interface Drained {
  /** From the first of it to Ready of the last replacement, in ms. */
  readonly wall: number;
}

/** What was seen of evictions since they were watched. */
export interface EvictionSight {
  /** Most zones of one group that had an unavailable pod at the same time. */
  readonly zonesDown: number;
  /** Most pods that were unavailable at once, by set. */
  readonly podsDown: Readonly<Record<string, number>>;
  /** Writes of ledgers that were tried, from the first that gave something away to the last that did. */
  readonly writes: number;
  /** Those among them that gave nothing away, and took out what had ended since no other write came by. */
  readonly releases: number;
  /** Those among them that stored a reservation that had not been there. */
  readonly rounds: number;
}

/** What can be wrong with an API server; of requests of the operator only. */
export type Trouble =
  | { readonly kind: 'none' }
  /** Each request takes so much longer, in ms. */
  | { readonly kind: 'slow'; readonly delay: number }
  /** This share of requests is answered 500. */
  | { readonly kind: 'failing'; readonly share: number }
  /** Its connections end, and it cannot be connected to. */
  | { readonly kind: 'gone' };

/** A pod as an eviction names it. */
export interface PodName {
  readonly name: string;
  readonly uid: string;
}

/**
 * What became of a pod that the webhook let go: a ledger has had its reservation, or has that of a predecessor of its name
 * (a review names no uid), or has none, and the pod served (`unreserved`) or did not (`unready`), so that no budget counts
 * on it; or it was gone.
 */
export type Executed = 'reserved' | 'predecessor' | 'unreserved' | 'unready' | 'absent';

/** What the process of the cluster can be asked to do about evictions. Plain JSON only, as for `ClusterCommands`. */
export interface EvictionCommands {
  /** Installs the definition of budgets. */
  installBudgets(): Promise<void>;
  /** Makes a budget over each of `groups`, whose ledger the leader begins. Resolves once all ledgers stand there. */
  createBudgets(options: {
    readonly groups: readonly string[];
    readonly maxUnavailable: number;
  }): Promise<void>;
  dropBudgets(options: { readonly groups: readonly string[] }): Promise<void>;
  /** What the certificate of the webhooks is trusted by. */
  authority(): Promise<string>;
  /** Has the API server ask the webhook at `port` of localhost about each eviction. */
  reviewEvictions(options: { readonly port: number }): Promise<void>;
  /** No longer does so. */
  reviewNothing(): Promise<void>;
  /** Makes a pod unready, for good where no kubelet runs. */
  spoil(options: { readonly pod: string }): Promise<void>;
  /** The pods of a set, by ordinal. */
  podsOf(options: { readonly set: string }): Promise<readonly PodName[]>;
  /** Begins to watch pods and ledgers. */
  watchEvictions(): Promise<void>;
  /** What was seen since. */
  seenEvictions(): Promise<EvictionSight>;
  /** Resolves when every pod of `set` has been replaced, from now on. @throws after `patience` ms */
  drained(options: { readonly set: string; readonly patience: number }): Promise<Drained>;
  /** Evicts all pods of `set`, `atOnce` at a time, as fast as is possible: the next at the commit of Ready of another. */
  drainPerfectly(options: {
    readonly set: string;
    readonly atOnce: number;
    readonly patience: number;
  }): Promise<Drained>;
  /** Evicts a pod that the webhook let go. */
  execute(options: { readonly pod: string }): Promise<Executed>;
  /** Opens another way to the API server, which {@link trouble} can shut. @returns its URL */
  openGate(): Promise<string>;
  trouble(trouble: Trouble): Promise<void>;
}
