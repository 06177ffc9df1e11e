import type { Instant, Monotonic } from '#base/units.ts';

/**
 * How far the answers have come for one state that waits for them. Plain data, which its owner stores: an owner that loses it
 * begins again, and an owner that has it goes on after a restart.
 */
export interface CheckState {
  /** What the answers were counted for, see `QuestionKey`. */
  readonly subject: string;
  /** When the state began: nothing that was asked before is counted. */
  readonly began: Instant;
  /** Passing answers in a row. */
  readonly passes: number;
  /** Failing answers in a row. */
  readonly failures: number;
  /** Failing answers since the state began. */
  readonly totalFailures: number;
  /** Errors in a row. */
  readonly errors: number;
  /** When the last answer that passes or fails was counted. */
  readonly lastAnswer?: Instant;
  /** When the last error was counted; absent once an answer came after it. */
  readonly lastError?: Instant;
}

/** Since when this process knows the times of a {@link CheckState}, by a clock that does not step. */
export interface KnownSince {
  readonly began: Monotonic;
  readonly lastAnswer: Monotonic;
  readonly lastError: Monotonic;
}

/** Returns the state in which nothing has been answered. */
export function beginState(subject: string, began: Instant): CheckState {
  return { subject, began, passes: 0, failures: 0, totalFailures: 0, errors: 0 };
}

/** Returns `state` where it is of `subject`, otherwise one that begins at `now`: no count outlives what it is for. */
export function stateFor(subject: string, state: CheckState | undefined, now: Instant): CheckState {
  return state?.subject === subject ? state : beginState(subject, now);
}
