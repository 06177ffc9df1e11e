/**
 * When a question of a gate is due, and whether its answers open it. The room asks Prometheus, CloudWatch and Consul, and
 * reads what they say; which pod goes on that is decided by those who ask.
 */
import { assertNever } from '#base/assert-never.ts';
import type { Because } from '#base/because.ts';
import { type Parsed, type Problem, valid } from '#base/parsed.ts';
import { type Backoff, backoffAfter } from '#base/time/backoff.ts';
import { type Instant, type Millis, type Monotonic, millis, seconds } from '#base/units.ts';
import type { CheckAnswer } from './answer.ts';
import type { CheckState, KnownSince } from './check-state.ts';

/** What an error does to the passes before it: nothing, begins them again, or counts as a failing answer. */
export type ErrorPolicy = 'ignored' | 'resets' | 'fails';

/** What is wanted of a check. */
export interface CheckSettings {
  /** From the begin of the state to the first question; 0 or more. */
  readonly initialDelay: Millis;
  /** From one answer to the next question; 0 or more. */
  readonly period: Millis;
  /** Passing answers in a row that open the gate; 1 or more. */
  readonly passesNeeded: number;
  /** Failing answers in a row with which the check has failed; 1 or more. @default any number is waited out */
  readonly mostFailures?: number;
  /** Failing answers in all with which the check has failed; 1 or more. @default any number is waited out */
  readonly mostTotalFailures?: number;
  /** Errors in a row with which the check has failed; 1 or more. @default any number is waited out */
  readonly mostErrors?: number;
  /** @default 'ignored' */
  readonly onError?: ErrorPolicy;
  /** From an error to the next question. @default 30 s */
  readonly retry?: Backoff;
  /** An answer that was asked for longer ago than this is not counted; 1 s or more. @default 1 min */
  readonly longestAge?: Millis;
}

/** Settings that make sense, all of them there; {@link checkOf} makes it. */
export interface Check
  extends Required<Omit<CheckSettings, 'mostFailures' | 'mostTotalFailures' | 'mostErrors'>> {
  readonly mostFailures: number;
  readonly mostTotalFailures: number;
  readonly mostErrors: number;
}

/** A state of a check as one process sees it at one instant. */
export interface CheckView {
  readonly state: CheckState;
  /** Names what is asked now, see `QuestionKey`. */
  readonly questionId: string;
  readonly now: Instant;
  /** The same time on the clock that does not step. */
  readonly steady: Monotonic;
  readonly known: KnownSince;
  /** Whether the question has been asked, and is not answered. */
  readonly isAsked: boolean;
}

/** Why an answer is not counted. */
export type Uncounted =
  /** It was asked for something else: an earlier revision, another step, a query that was edited. */
  | 'asked-for-another'
  /** It was asked before the state began, or before the answer that was counted last. */
  | 'asked-before'
  /** It has waited too long to say anything of now. */
  | 'too-old';

/** What became of an answer. */
export type Counted =
  | { readonly kind: 'counted'; readonly state: CheckState }
  | { readonly kind: 'ignored'; readonly why: Uncounted };

/** What a check comes to at one instant. */
export type CheckPlan =
  /** The gate is open. */
  | { readonly kind: 'passed' }
  /** A limit is reached: nothing more is asked for this state. */
  | {
      readonly kind: 'failed';
      readonly because: Because<'FailuresReached' | 'TotalFailuresReached' | 'ErrorsReached'>;
    }
  /** The next question is due. */
  | { readonly kind: 'ask' }
  /** Look again after `remaining`, which is more than 0; an answer comes by itself. */
  | {
      readonly kind: 'wait';
      readonly for: 'initial-delay' | 'period' | 'retry' | 'answer';
      readonly remaining: Millis;
    };

const retryAfter = seconds(30);
const longestAge = seconds(60);
/** A look that is due now, or just now, must still come. */
const shortestWait = millis(1);

const unlimited = Number.POSITIVE_INFINITY;

/** Returns the check that `settings` describe, or which of them makes no sense; paths are the names of the settings. */
export function checkOf(settings: CheckSettings): Parsed<Check> {
  const check: Check = {
    mostFailures: unlimited,
    mostTotalFailures: unlimited,
    mostErrors: unlimited,
    onError: 'ignored',
    retry: { first: retryAfter, longest: retryAfter },
    longestAge,
    ...settings,
  };
  const problem = spanProblem(check) ?? countProblem(check);
  return problem === undefined ? valid(check) : { kind: 'invalid', problem };
}

function spanProblem(check: Check): Problem | undefined {
  const shortest = { initialDelay: 0, period: 0, longestAge: 1_000 } as const;
  for (const name of ['initialDelay', 'period', 'longestAge'] as const) {
    if (isSpan(check[name], shortest[name])) continue;
    return { path: name, message: `must be at least ${shortest[name]} ms: got ${check[name]}` };
  }
  const { first, longest } = check.retry;
  if (isSpan(first, 1) && isSpan(longest, first)) return undefined;
  const wanted = 'spans of at least 1 ms, the longest no shorter than the first';
  return { path: 'retry', message: `must be ${wanted}: got ${first} and ${longest}` };
}

function isSpan(value: number, shortest: number): boolean {
  return Number.isFinite(value) && value >= shortest;
}

function countProblem(check: Check): Problem | undefined {
  const names = ['passesNeeded', 'mostFailures', 'mostTotalFailures', 'mostErrors'] as const;
  const wrong = names.find((name) => !isCount(check[name], name !== 'passesNeeded'));
  if (wrong === undefined) return undefined;
  return { path: wrong, message: `must be an integer of 1 or more: got ${check[wrong]}` };
}

function isCount(value: number, mayBeUnlimited: boolean): boolean {
  return value >= 1 && (Number.isInteger(value) || (mayBeUnlimited && value === unlimited));
}

/** Returns the state after `answer`, or why that does not count; what the state was for may have changed meanwhile. */
export function countAnswer(check: Check, view: CheckView, answer: CheckAnswer): Counted {
  const why = uncounted(check, view, answer);
  if (why !== undefined) return { kind: 'ignored', why };
  return { kind: 'counted', state: counted(check, view, answer) };
}

function uncounted(check: Check, view: CheckView, answer: CheckAnswer): Uncounted | undefined {
  const { state, questionId, known, steady } = view;
  const { question, askedAt } = answer;
  if (question.subject !== state.subject || question.id !== questionId) return 'asked-for-another';
  // By since when this process knows: the wall clock may have stepped in between.
  if (askedAt < known.began) return 'asked-before';
  if (state.lastAnswer !== undefined && askedAt < known.lastAnswer) return 'asked-before';
  return steady - askedAt > check.longestAge ? 'too-old' : undefined;
}

function counted(
  { onError }: Check,
  { state, now }: CheckView,
  { verdict }: CheckAnswer,
): CheckState {
  const { lastError: _, ...rest } = state;
  const failed = {
    passes: 0,
    failures: state.failures + 1,
    totalFailures: state.totalFailures + 1,
  };
  switch (verdict) {
    case 'passes':
      return { ...rest, passes: state.passes + 1, failures: 0, errors: 0, lastAnswer: now };
    case 'fails':
      return { ...rest, ...failed, errors: 0, lastAnswer: now };
    case 'unknown': {
      const after = { ignored: {}, resets: { passes: 0 }, fails: failed }[onError];
      return { ...rest, ...after, errors: state.errors + 1, lastError: now };
    }
    default:
      return assertNever(verdict);
  }
}

/** Plans what comes next: nothing more, a question, or a wait. */
export function planCheck(check: Check, view: CheckView): CheckPlan {
  const { state } = view;
  const failed = limitReached(check, state);
  if (failed !== undefined) return { kind: 'failed', because: failed };
  if (state.passes >= check.passesNeeded) return { kind: 'passed' };
  if (view.isAsked) return wait('answer', longestWait(check));
  const [pause, remaining] = pauses(check, view).reduce((a, b) => (b[1] > a[1] ? b : a));
  // Strictly after it is due, as stored times are cut to whole seconds.
  return remaining < 0 ? { kind: 'ask' } : wait(pause, remaining);
}

function limitReached(
  check: Check,
  { failures, totalFailures, errors }: CheckState,
): Extract<CheckPlan, { kind: 'failed' }>['because'] | undefined {
  if (failures >= check.mostFailures) {
    return { reason: 'FailuresReached', message: `${failures} checks in a row have failed` };
  }
  if (totalFailures >= check.mostTotalFailures) {
    return { reason: 'TotalFailuresReached', message: `${totalFailures} checks have failed` };
  }
  if (errors < check.mostErrors) return undefined;
  return { reason: 'ErrorsReached', message: `${errors} checks in a row had no answer` };
}

type Pause = Exclude<Extract<CheckPlan, { kind: 'wait' }>['for'], 'answer'>;

function pauses(check: Check, view: CheckView): readonly (readonly [Pause, number])[] {
  const { state, known } = view;
  const { began, lastAnswer, lastError, errors } = state;
  const left = (since: Instant, span: Millis, knownSince: Monotonic): number =>
    remainingOf({ since, span, knownSince }, view);
  if (lastAnswer === undefined && lastError === undefined) {
    return [['initial-delay', left(began, check.initialDelay, known.began)]];
  }
  const retry = backoffAfter(Math.max(0, errors - 1), check.retry);
  return [
    ['period', lastAnswer === undefined ? -1 : left(lastAnswer, check.period, known.lastAnswer)],
    ['retry', lastError === undefined ? -1 : left(lastError, retry, known.lastError)],
  ];
}

/** A span of waiting from a stored time. */
interface Wait {
  readonly since: Instant;
  readonly span: Millis;
  readonly knownSince: Monotonic;
}

/** Returns what is left of a wait: a time in the future counts as now, and what was watched to pass has passed (D-55). */
function remainingOf({ since, span, knownSince }: Wait, { now, steady }: CheckView): number {
  const stored = since > now ? span : since + span - now;
  return Math.min(stored, knownSince + span - steady);
}

function wait(pause: Extract<CheckPlan, { kind: 'wait' }>['for'], remaining: number): CheckPlan {
  return { kind: 'wait', for: pause, remaining: millis(Math.max(remaining, shortestWait)) };
}

/** Returns the longest wait for an answer that got lost: any other wakes the keys that wait for it. */
function longestWait({ period, retry }: Check): number {
  return Math.max(period, retry.longest);
}
