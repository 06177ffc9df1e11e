import { statusOf } from '../list-watch/list-watch-failure.ts';
import type { InformerProblem, InformerReason } from './informer.ts';

/** Reports a failure once, until another one or a success follows. */
export class ProblemReports {
  readonly #report: (problem: InformerProblem) => void;
  /** Reason and kind of what was reported last; undefined when nothing is wrong. */
  #reported: string | undefined;

  constructor(report: (problem: InformerProblem) => void) {
    this.#report = report;
  }

  /** Reports whether a failure was reported, and no success since. */
  get isTroubled(): boolean {
    return this.#reported !== undefined;
  }

  /** Reports that something is wrong. @param cause what was thrown; its status or name distinguishes failures */
  failed(reason: InformerReason, message: string, cause?: unknown): void {
    const state = `${reason} ${statusOf(cause) ?? (cause instanceof Error ? cause.name : '')}`;
    if (state === this.#reported) return;
    this.#reported = state;
    this.#report({ reason, message, cause });
  }

  /** Reports that all is well again, where something was wrong. */
  recovered(message: string): void {
    this.#report({ reason: 'Recovered', message, cause: undefined });
    this.#reported = undefined;
  }
}
