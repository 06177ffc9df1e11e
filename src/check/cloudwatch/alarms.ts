import type { Clock, Timer } from '#base/clock.ts';
import { type Millis, type Monotonic, millis, minutes, monotonic, seconds } from '#base/units.ts';
import type { Finding } from '../answer.ts';
import type { AlarmSource, AlarmsRead } from './alarm.ts';
import { AlarmCalls } from './alarm-calls.ts';
import { nameProblem } from './plan-alarm.ts';

/** Settings of {@link Alarms}. */
export interface AlarmsOptions {
  readonly clock: Clock;
  /** Who is asked; closed with the alarms. */
  readonly source: AlarmSource;
  /** From the start of one round of calls to that of the next, and as long as its answers are kept. @default 10 s */
  readonly period?: Millis;
  /** From the start of a round to the last byte of its answers; shorter than the period. @default 8 s */
  readonly timeout?: Millis;
  /** How long a round waits for the questions that come together. @default 100 ms */
  readonly gather?: Millis;
}

/** How a question for an alarm is followed. */
export interface AlarmAsking {
  /** Gives the question up. */
  readonly signal: AbortSignal;
  /** Told when its answer was asked for, which may have been before the question. */
  readonly sent?: (at: Monotonic) => void;
  /**
   * Answers that were asked for earlier are not taken, but a next round awaited. A caller that counts no answer from before a
   * certain time names it here, as the same answer would come again and again. @default one period ago
   */
  readonly notBefore?: Monotonic;
}

/** Nothing asks for it any more: the rounds go without it. */
const unusedAfter = minutes(10);

/** A round of calls. */
interface Round {
  readonly at: Monotonic;
  readonly names: ReadonlySet<string>;
  /** Undefined while the calls are under way. */
  findings?: ReadonlyMap<string, Finding>;
}

interface Waiter {
  readonly name: string;
  readonly notBefore: Monotonic;
  readonly answer: (finding: Finding, at: Monotonic) => void;
}

const givenUp: Finding = {
  verdict: 'unknown',
  warnings: [],
  because: { reason: 'GivenUp', message: 'the question was given up' },
};

/**
 * Alarms, asked for by many and called for together: one round of calls a period at most, for all alarms that were asked for
 * lately. Its answers are kept for a period, so that a caller that asks meanwhile has one at once, and knows how old it is. While
 * no caller asks, no call is made.
 */
export class Alarms {
  readonly #clock: Clock;
  readonly #source: AlarmSource;
  readonly #calls: AlarmCalls;
  readonly #period: Millis;
  readonly #timeout: Millis;
  readonly #gather: Millis;
  readonly #closing = new AbortController();
  /** When each alarm was last asked for. */
  readonly #wanted = new Map<string, Monotonic>();
  readonly #waiting = new Set<Waiter>();
  #round: Round | undefined;
  #running: Promise<void> = Promise.resolve();
  #timer: Timer | undefined;

  constructor(options: AlarmsOptions) {
    const {
      clock,
      source,
      period = seconds(10),
      timeout = seconds(8),
      gather = millis(100),
    } = options;
    this.#clock = clock;
    this.#source = source;
    this.#calls = new AlarmCalls(clock);
    this.#period = period;
    this.#timeout = timeout;
    this.#gather = gather;
  }

  /** Asks for an alarm. Never rejects: what goes wrong is unknown, with its reason. */
  async ask(name: string, asking: AlarmAsking): Promise<Finding> {
    const problem = nameProblem(name);
    if (problem !== undefined) return problem;
    const { signal, sent } = asking;
    if (signal.aborted || this.#closing.signal.aborted) return givenUp;
    const now = this.#clock.monotonic();
    this.#wanted.set(name, now);
    const { notBefore = monotonic(now - this.#period) } = asking;
    const kept = this.#keptFor(name, notBefore);
    if (kept !== undefined) {
      sent?.(kept.at);
      return kept.finding;
    }
    return new Promise((resolve) => {
      const onAbort = (): void => waiter.answer(givenUp, now);
      const waiter: Waiter = {
        name,
        notBefore,
        answer: (finding, at) => {
          this.#waiting.delete(waiter);
          signal.removeEventListener('abort', onAbort);
          sent?.(at);
          resolve(finding);
          this.#schedule();
        },
      };
      signal.addEventListener('abort', onAbort);
      this.#waiting.add(waiter);
      this.#schedule();
    });
  }

  /** Gives up all questions, and ends all connections. */
  async close(): Promise<void> {
    this.#closing.abort();
    for (const { answer } of this.#waiting) answer(givenUp, this.#clock.monotonic());
    await this.#running;
    await this.#source.close();
  }

  #keptFor(name: string, notBefore: Monotonic): { at: Monotonic; finding: Finding } | undefined {
    const round = this.#round;
    if (round === undefined || round.at < notBefore) return undefined;
    if (this.#clock.monotonic() - round.at >= this.#period) return undefined;
    const finding = round.findings?.get(name);
    return finding === undefined ? undefined : { at: round.at, finding };
  }

  /** Reports whether the round that is under way brings the answer. */
  #isComing({ name, notBefore }: Waiter): boolean {
    const round = this.#round;
    if (round === undefined || round.findings !== undefined) return false;
    return round.names.has(name) && round.at >= notBefore;
  }

  /** Sets the timer of the next round where a caller waits for it, and cancels it where none does any more. */
  #schedule(): void {
    const isRunning = this.#round !== undefined && this.#round.findings === undefined;
    const isNeeded = [...this.#waiting].some((each) => !this.#isComing(each));
    if (isRunning || !isNeeded) {
      this.#timer?.cancel();
      this.#timer = undefined;
      return;
    }
    const now = this.#clock.monotonic();
    const rest = this.#round === undefined ? 0 : this.#round.at + this.#period - now;
    this.#timer ??= this.#clock.timer(millis(Math.max(rest, this.#gather)), () => this.#begin(), {
      owner: 'alarms',
    });
  }

  #begin(): void {
    this.#timer = undefined;
    const at = this.#clock.monotonic();
    for (const [name, asked] of this.#wanted) {
      if (at - asked >= unusedAfter) this.#wanted.delete(name);
    }
    for (const { name } of this.#waiting) this.#wanted.set(name, at);
    const round: Round = { at, names: new Set(this.#wanted.keys()) };
    this.#round = round;
    this.#running = this.#call(round).then((findings) => {
      round.findings = findings;
      for (const waiter of this.#waiting) {
        const finding = round.at >= waiter.notBefore ? findings.get(waiter.name) : undefined;
        if (finding !== undefined) waiter.answer(finding, round.at);
      }
      this.#schedule();
    });
  }

  async #call({ names }: Round): Promise<ReadonlyMap<string, Finding>> {
    const sorted = [...names].toSorted();
    const deadline = new AbortController();
    const timer = this.#clock.timer(this.#timeout, () => deadline.abort(), { owner: 'alarms' });
    const findings = await this.#calls.findings(sorted, (each) =>
      this.#describe(each, deadline.signal),
    );
    timer.cancel();
    return findings;
  }

  async #describe(names: readonly string[], deadline: AbortSignal): Promise<AlarmsRead> {
    const signal = AbortSignal.any([deadline, this.#closing.signal]);
    const read = await this.#source.describe(names, signal);
    if (read.kind !== 'error' || !deadline.aborted) return read;
    const message = `Cannot ask CloudWatch: no whole answer within ${this.#timeout} ms`;
    return { kind: 'error', reason: 'TimedOut', message };
  }
}
