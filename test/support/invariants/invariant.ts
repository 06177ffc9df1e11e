/**
 * The promises that hold in every history, one file each, for the judge. They read what was committed and said, and
 * nothing of the operator's code.
 */
import type { Instant } from '#base/units.ts';
import type { Call, Commit } from '#cluster/event-log.ts';
import type { Removal, ScaleDown } from '../history/removal.ts';

/**
 * The predicates of docs/rules/promises.md that are judged here; `D-7` is the statement of proof itself, `WRITES` is D-16, `RC-…` are rules of
 * rollout groups, `SHOWN` is the second half of D-57, `D-36` is about pods whose budgets are unclear.
 */
export type InvariantId =
  | 'EXCL-1'
  | 'EXCL-2'
  | 'MAXU-1'
  | 'MAXU-2'
  | 'REV-1'
  | 'REV-2'
  | 'REV-3'
  | 'LIVE-1'
  | 'LIVE-2'
  | 'LIVE-3'
  | 'QUIE-1'
  | 'QUIE-2'
  | 'SCAL-1'
  | 'SHOWN'
  | 'WRIT-1'
  | 'WRITES'
  | 'BUDG-1'
  | 'BUDG-2'
  | 'BUDG-4'
  | 'BUDG-5'
  | 'D-36'
  | 'D-7'
  | 'RC-23'
  | 'RC-40';

/** One broken promise. */
export interface Violation {
  readonly id: InvariantId;
  readonly at: Instant;
  /** The revision of the commit that broke it; where no commit did, of the last one before. */
  readonly revision: number;
  /** A sentence that names the objects, the value seen and the value allowed. */
  readonly message: string;
}

/** When something happened. */
export interface Point {
  readonly at: Instant;
  readonly revision: number;
}

/**
 * Watches a history go by and collects what breaks its rules. At each method the history still ends *before* the
 * commit in hand: `S(i - 1)`.
 */
export interface Invariant {
  readonly violations: readonly Violation[];
  onCommit?(commit: Commit): void;
  onCall?(call: Call): void;
  /** A commit by which we removed a pod, before its call is known. */
  onRemoval?(removal: Removal): void;
  /** A commit by which we lowered a set's replicas. */
  onScaleDown?(scaleDown: ScaleDown): void;
  /** A lowering of replicas whose call is known. */
  onScaleDownAnswered?(scaleDown: ScaleDown, call: Call): void;
  /** A removal whose call is known. */
  onAnswered?(removal: Removal, call: Call): void;
  /** The history is over; `end.at` may be later than its last commit. */
  onEnd?(end: Point): void;
}

/** Collects the violations of one family. */
export class Findings {
  readonly list: Violation[] = [];

  /** Notes that `id` was broken at `point`. */
  add(id: InvariantId, point: Point, message: string): void {
    this.list.push({ id, at: point.at, revision: point.revision, message });
  }
}
