import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Monotonic } from '#base/units.ts';
import type { CheckAnswer, Finding, QuestionKey } from './answer.ts';

/** What {@link OpenQuestions} works with. */
export interface OpenQuestionsOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Told that an answer has come for `owner`; must not throw. */
  readonly onAnswer: (owner: string) => void;
}

/**
 * Asks; must answer in bounded time, and at once where `signal` aborts. Calls `sent` when the question has its turn, from
 * which on its answer grows old; the first call counts. Without one that is when it was asked. An answer that was kept, or
 * was asked for together with others, is as old as `at`, which may be before the question.
 */
export type Ask = (signal: AbortSignal, sent: (at?: Monotonic) => void) => Promise<Finding>;

/** Since when an answer grows old: since it was asked, or since it had its turn. */
interface Turn {
  since: Monotonic;
  hasCome: boolean;
}

interface Question {
  readonly key: QuestionKey;
  readonly ending: AbortController;
  readonly isDone: Promise<void>;
  readonly turn: Turn;
  finding: Finding | undefined;
}

/**
 * What has been asked for which owner, one question at a time for each: nothing waits for an answer in the middle of a
 * pass. An answer stays until it is dropped, so that it can be counted again where writing the count has failed.
 */
export class OpenQuestions {
  readonly #options: OpenQuestionsOptions;
  readonly #questions = new Map<string, Question>();

  constructor(options: OpenQuestionsOptions) {
    this.#options = options;
  }

  /** Asks for `owner`, unless just that is being asked; whatever else was asked for it is given up. */
  ask(owner: string, key: QuestionKey, ask: Ask): void {
    if (this.isAsked(owner, key)) return;
    this.forget(owner);
    const ending = new AbortController();
    const { clock, onAnswer } = this.#options;
    const turn: Turn = { since: clock.monotonic(), hasCome: false };
    const sent = (at: Monotonic = clock.monotonic()): void => {
      if (!turn.hasCome) turn.since = at;
      turn.hasCome = true;
    };
    const isDone = findingOf(() => ask(ending.signal, sent)).then((finding) => {
      if (this.#questions.get(owner) !== question) return;
      question.finding = finding;
      onAnswer(owner);
    });
    const question: Question = { key, ending, isDone, turn, finding: undefined };
    this.#questions.set(owner, question);
  }

  /** Returns what has been asked for `owner`, and is not answered; undefined where nothing is. */
  askedFor(owner: string): QuestionKey | undefined {
    const question = this.#questions.get(owner);
    return question?.finding === undefined ? question?.key : undefined;
  }

  /** Reports whether `key` has been asked for `owner`, and is not answered. */
  isAsked(owner: string, key: QuestionKey): boolean {
    const asked = this.askedFor(owner);
    return asked?.subject === key.subject && asked.id === key.id;
  }

  /** Returns the answer that has come for `owner`; undefined while there is none. */
  answerFor(owner: string): CheckAnswer | undefined {
    const question = this.#questions.get(owner);
    if (question?.finding === undefined) return undefined;
    const { key, turn, finding } = question;
    return { ...finding, question: key, askedAt: turn.since };
  }

  /** Drops the answer for `owner`, whose count is stored, or which does not count; what is still being asked stays. */
  drop(owner: string): void {
    if (this.#questions.get(owner)?.finding !== undefined) this.#questions.delete(owner);
  }

  /** Gives up what is asked for `owner`, and drops what was answered. */
  forget(owner: string): void {
    const question = this.#questions.get(owner);
    this.#questions.delete(owner);
    question?.ending.abort();
  }

  /** Gives up everything. Resolves when nothing is under way any more. */
  async close(): Promise<void> {
    const open = [...this.#questions.values()];
    for (const owner of this.#questions.keys()) this.forget(owner);
    await Promise.all(open.map(({ isDone }) => isDone));
  }
}

/** Asks, and returns an error as a finding: a question that fails must not stay open for ever. */
async function findingOf(ask: () => Promise<Finding>): Promise<Finding> {
  try {
    return await ask();
  } catch (thrown) {
    const { message } = errorOf(thrown);
    return { verdict: 'unknown', warnings: [], because: { reason: 'GivenUp', message } };
  }
}
