/** How the pods of a set were replaced, as the API server saw it. */
export interface Rotated {
  /** From the begin of the watch to Ready of the last replacement, in ms. */
  readonly wall: number;
  /** The most pods that were not up at once. */
  readonly mostAway: number;
}

/** What the operator did for its StatefulsetRollouts since the watch began. */
export interface RolloutSight {
  /** The most evictions that were under way at once. */
  readonly evictionsAtOnce: number;
  /** Evictions by what they were answered. */
  readonly evictions: Readonly<Record<string, number>>;
  /** The largest status as JSON, in bytes. */
  readonly statusBytes: number;
  /** Writes of statuses that store what was decided or seen, and those that store where messages of Slack stand. */
  readonly statusWrites: number;
  readonly slackWrites: number;
  /** From the begin of the watch to the last of these writes, in s. */
  readonly writing: number;
  /** Batches of pods that statuses have named. */
  readonly batches: number;
  /** Times of the API server when the phases of the rollout were stored, in ms since the begin. */
  readonly phases: readonly (readonly [phase: string, at: number])[];
}

/** What the process of the cluster can be asked to do about StatefulsetRollouts. Plain JSON only, as for `ClusterCommands`. */
export interface PercentCommands {
  /** Begins to watch how the pods of `set`, all of which are up, are replaced by pods of `image`. */
  watchRotation(options: {
    readonly set: string;
    readonly pods: number;
    readonly image: string;
  }): Promise<void>;
  /** Resolves once all of them are. @throws after `patience` ms */
  rotated(options: { readonly patience: number }): Promise<Rotated>;
  /** What was seen of rollouts since the watch began. */
  seenRollouts(): Promise<RolloutSight>;
}
