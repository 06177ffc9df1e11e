import { type Instant, instant, monotonic, seconds } from '#base/units.ts';
import type { CheckVerdict } from '#check/answer.ts';
import { beginState, type CheckState } from '#check/check-state.ts';
import {
  type Check,
  type CheckPlan,
  type CheckSettings,
  checkOf,
  countAnswer,
  planCheck,
} from '#check/plan-check.ts';
import { SeenStates } from '#check/seen-states.ts';

/** The settings of most scenarios of the specification: delay 10 s, period 5 s, two passes. */
export const usual: CheckSettings = {
  initialDelay: seconds(10),
  period: seconds(5),
  passesNeeded: 2,
};

/** Returns the check of {@link usual} with `settings` in place of its own. @throws when they make no sense */
export function madeCheck(settings: Partial<CheckSettings> = {}): Check {
  const parsed = checkOf({ ...usual, ...settings });
  if (parsed.kind === 'valid') return parsed.value;
  throw new Error(`${parsed.problem.path} ${parsed.problem.message}`);
}

/** What {@link CheckPlay} says of a plan: `ask`, `passed`, `failed <reason>`, `<pause> <seconds>`. */
export type PlanText = string;

/** One check in one process, played by hand: the wall clock and the one that never steps are distinguished. */
export class CheckPlay {
  state: CheckState;
  /** Both in milliseconds. */
  wall = 1_700_000_000_000;
  steady = 0;
  #check: Check;
  #seen = this.#process();
  #askedAt: { readonly steady: number; readonly subject: string; readonly id: string } | undefined;
  #questionId = 'query';

  constructor(settings: Partial<CheckSettings> = {}, subject = 'web/B/3') {
    this.#check = madeCheck(settings);
    this.state = beginState(subject, this.now);
  }

  get now(): Instant {
    return instant(this.wall);
  }

  get isAsked(): boolean {
    return this.#askedAt !== undefined;
  }

  /** Lets `span` milliseconds pass. */
  pass(span: number): this {
    this.wall += span;
    this.steady += span;
    return this;
  }

  /** Edits the settings in the middle. */
  edit(settings: Partial<CheckSettings>): this {
    this.#check = madeCheck(settings);
    return this;
  }

  /** Edits the query. */
  editQuery(id: string): this {
    this.#questionId = id;
    return this;
  }

  /** Restarts the process, which then knows only what is stored, times cut to whole seconds as they are. */
  restart(): this {
    const cut = (at: Instant): Instant => instant(Math.floor(at / 1_000) * 1_000);
    const { lastAnswer, lastError: _, ...state } = this.state;
    const kept = { ...state, began: cut(state.began), errors: 0 };
    this.state = lastAnswer === undefined ? kept : { ...kept, lastAnswer: cut(lastAnswer) };
    this.#askedAt = undefined;
    this.#seen = this.#process();
    return this;
  }

  plan(): CheckPlan {
    return planCheck(this.#check, this.#view());
  }

  /** Returns {@link plan} in words. */
  said(): PlanText {
    const plan = this.plan();
    if (plan.kind === 'wait') return `${plan.for} ${plan.remaining / 1_000}`;
    return plan.kind === 'failed' ? `failed ${plan.because.reason}` : plan.kind;
  }

  /** Asks, whether or not it is due. */
  ask(): this {
    this.#view();
    this.#askedAt = {
      steady: this.steady,
      subject: this.state.subject,
      id: this.#questionId,
    };
    return this;
  }

  /** Answers what is asked. @returns `counted`, or why it is not */
  answer(verdict: CheckVerdict): string {
    const asked = this.#askedAt;
    if (asked === undefined) throw new Error('Nothing is asked');
    this.#askedAt = undefined;
    const counted = countAnswer(this.#check, this.#view(), {
      verdict,
      warnings: [],
      because: { reason: 'AsWanted', message: verdict },
      question: { subject: asked.subject, id: asked.id },
      askedAt: monotonic(asked.steady),
    });
    if (counted.kind === 'ignored') return counted.why;
    this.state = counted.state;
    return counted.kind;
  }

  /** Waits until the next question is due, and answers it `after` milliseconds. @returns the seconds waited */
  next(verdict: CheckVerdict, after = 0): number {
    const start = this.steady;
    for (let plan = this.plan(); plan.kind !== 'ask'; plan = this.plan()) {
      if (plan.kind !== 'wait') throw new Error(`Nothing is asked: ${this.said()}`);
      this.pass(plan.remaining);
    }
    const waited = this.steady - start;
    this.ask().pass(after).answer(verdict);
    return waited / 1_000;
  }

  #process(): SeenStates {
    return new SeenStates({ monotonic: () => monotonic(this.steady) });
  }

  #view(): Parameters<typeof planCheck>[1] {
    const known = this.#seen.see('web', this.state);
    const { state, now, isAsked } = this;
    const steady = monotonic(this.steady);
    return { state, now, steady, known, isAsked, questionId: this.#questionId };
  }
}
