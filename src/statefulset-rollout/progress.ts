import { type Instant, type Millis, millis } from '#base/units.ts';
import type { NewsPhase } from '#notification/slack-message/rollout-news.ts';
import { type CallbackProgress, noCallback } from './callback-progress.ts';

/** Where a rollout stands, by the published words and ours. */
export type Phase = NewsPhase;

/** All of them, in the order in which a rollout has them. */
export const phases: readonly Phase[] = [
  'Pending',
  'CreatingStatefulSet',
  'UpdatingStatefulSet',
  'RollingOut',
  'WaitingForReady',
  'WaitingForServiceDiscovery',
  'Paused',
  'CallingBack',
  'RolloutDone',
  'RolloutFailed',
  'Deleting',
];

/** One pod of a batch that may be on its way. */
export interface BatchPod {
  readonly name: string;
  readonly uid: string;
}

/** How a rollout ended. */
export interface Outcome {
  readonly result: 'Done' | 'Failed';
  /** One PascalCase word. */
  readonly code: string;
  readonly message: string;
}

/** What a rollout remembers from one step to the next: all of it is in the status, so that any process can go on. */
export interface RolloutProgress {
  /** Undefined before the first rollout. */
  readonly phase: Phase | undefined;
  /** Empty before the first rollout, and after a spec that could not be read. */
  readonly key: string;
  readonly templateHash: string;
  /** 1 for the first; one more where a rollout of the same version has failed and begins again. */
  readonly attempt: number;
  readonly startedAt: Instant | undefined;
  readonly finishedAt: Instant | undefined;
  readonly outcome: Outcome | undefined;
  /** Whether this operator made the set, rather than finding it. */
  readonly isCreator: boolean;
  /** Whether the set is recreated over the pods of one that this operator had found: it stays one that was found. */
  readonly isAdopted: boolean;
  /** Whether the set was there, and has gone. */
  readonly isDeleted: boolean;
  /** Names of the pods that were let go, or made, on the present version. */
  readonly rotated: ReadonlySet<string>;
  /** What was sent last, or is about to be. */
  readonly batch: readonly BatchPod[];
  readonly lastEviction: Instant | undefined;
  readonly lastProgress: Instant | undefined;
  /** The most pods of the target that were new and healthy at a time. */
  readonly mostHealthy: number;
  readonly pausedSince: Instant | undefined;
  /** Of this rollout, the present pause left out. */
  readonly pausedTime: Millis;
  /** Of that, since the last progress. */
  readonly pausedSinceProgress: Millis;
  readonly targetRevision: string;
  /** How many of the lowest pods the set keeps, or is about to keep, on its current revision; undefined: it pins none. */
  readonly partition: number | undefined;
  readonly isRollback: boolean;
  /** Whether the set has been seen with the version of this rollout: before that no pod can come back on it. */
  readonly isWritten: boolean;
  readonly percentDeployed: number;
  readonly callback: CallbackProgress;
  /** The stage whose receiver was last notified of the outcome; empty: none was. */
  readonly deliveredStage: string;
  /** Services that service discovery knew in this rollout. */
  readonly discovered: ReadonlySet<string>;
}

/** Where a rollout stands that has not begun. */
export const noProgress: RolloutProgress = Object.freeze({
  phase: undefined,
  key: '',
  templateHash: '',
  attempt: 0,
  startedAt: undefined,
  finishedAt: undefined,
  outcome: undefined,
  isCreator: false,
  isAdopted: false,
  isDeleted: false,
  rotated: new Set<string>(),
  batch: [],
  lastEviction: undefined,
  lastProgress: undefined,
  mostHealthy: 0,
  pausedSince: undefined,
  pausedTime: millis(0),
  pausedSinceProgress: millis(0),
  targetRevision: '',
  partition: undefined,
  isRollback: false,
  isWritten: false,
  percentDeployed: 0,
  callback: noCallback,
  deliveredStage: '',
  discovered: new Set<string>(),
});

/** Reports whether nothing is done any more in `phase`, and nothing waited for. */
export function isTerminal(phase: Phase | undefined): boolean {
  return phase === 'RolloutDone' || phase === 'RolloutFailed';
}
