import { type Instant, instant } from '#base/units.ts';
import type { Call, Commit, Delivery, EventLog } from '#cluster/event-log.ts';
import { BudgetHistory } from '../history/budget-history.ts';
import { History } from '../history/history.ts';
import { OwnDisruptions } from '../history/own-disruptions.ts';
import { type Removal, removalOf, scaleDownOf } from '../history/removal.ts';
import { type DisruptionStatement, StatementBook } from '../history/statement.ts';
import type { Invariant, Violation } from '../invariants/invariant.ts';
import { Receipts } from '../invariants/proof.ts';
import { invariantsOf, type JudgeOptions, stuckAfterOf } from './chosen-invariants.ts';
import { reportText } from './report.ts';

/** A finished history: an `EventLog`, or what a recorder against a real API server wrote down. */
export interface RecordedHistory {
  readonly commits: readonly Commit[];
  readonly calls: readonly Call[];
  readonly deliveries: readonly Delivery[];
}

/** The verdict on a history. */
export interface Judgement {
  /** Sorted in order of time. */
  readonly violations: readonly Violation[];
  /** Returns what was broken, with the commits around each violation; says what was not judged. */
  report(): string;
}

/**
 * Judges a history as it happens. Commits must come in order of revision; a call may come before or after its
 * commits; statements and deliveries before the commits that they explain.
 */
export class Judge {
  readonly history = new History();
  readonly #options: JudgeOptions;
  readonly #statements: StatementBook;
  readonly #disruptions = new OwnDisruptions(this.history);
  readonly #receipts = new Receipts(this.history);
  readonly #budgets = new BudgetHistory();
  readonly #invariants: readonly Invariant[];
  readonly #calls = new Map<number, Call>();
  readonly #waiting = new Map<number, ((call: Call) => void)[]>();

  constructor(options: JudgeOptions) {
    this.#options = options;
    this.#statements = new StatementBook(options.statements);
    this.#invariants = invariantsOf(options, {
      history: this.history,
      statements: this.#statements,
      disruptions: this.#disruptions,
      receipts: this.#receipts,
      budgets: this.#budgets,
      sentAt: (callId) => this.#calls.get(callId)?.startedAt,
    });
  }

  /** Returns all that was broken so far, in order of time. */
  get violations(): readonly Violation[] {
    return this.#invariants
      .flatMap((each) => each.violations)
      .sort((one, other) => one.at - other.at || one.revision - other.revision);
  }

  /** Adds a statement that the operator made just now. */
  stated(statement: DisruptionStatement): void {
    this.#statements.add(statement);
  }

  /** Notes that something was delivered to a client. */
  delivered(delivery: Delivery): void {
    this.#receipts.delivered(delivery);
  }

  /** Makes a call known before its commits are judged, so that they need not wait for it. */
  announce(call: Call): void {
    if (this.#calls.has(call.callId)) return;
    this.#calls.set(call.callId, call);
    this.#receipts.called(call);
    this.#budgets.called(call);
  }

  /** Notes that something was stored. */
  committed(commit: Commit): void {
    this.#disruptions.before(commit);
    for (const each of this.#invariants) each.onCommit?.(commit);
    if (this.#options.ours(commit.user)) this.#judgeOwn(commit);
    this.history.apply(commit);
    this.#budgets.apply(commit);
  }

  /** Notes that a request was answered. */
  called(call: Call): void {
    this.announce(call);
    for (const each of this.#invariants) each.onCall?.(call);
    for (const tell of this.#waiting.get(call.callId) ?? []) tell(call);
    this.#waiting.delete(call.callId);
  }

  /** Notes that the history is over. */
  ended(at: Instant, revision: number): void {
    for (const each of this.#invariants) each.onEnd?.({ at, revision });
  }

  #judgeOwn(commit: Commit): void {
    const { scaleStatements = [] } = this.#options;
    const statements = this.#statements;
    const evidence = {
      history: this.history,
      statements,
      scaleStatements,
      ...stuckAfterOf(this.#options),
    };
    const removal = removalOf(commit, evidence);
    if (removal !== undefined) this.#removed(removal);
    const scaleDown = scaleDownOf(commit, evidence);
    if (scaleDown === undefined) return;
    for (const each of this.#invariants) each.onScaleDown?.(scaleDown);
    this.#disruptions.scaledDown(scaleDown);
    this.#onAnswer(commit.callId, (call) => {
      for (const each of this.#invariants) each.onScaleDownAnswered?.(scaleDown, call);
    });
  }

  #removed(removal: Removal): void {
    for (const each of this.#invariants) each.onRemoval?.(removal);
    this.#disruptions.opened(removal);
    this.#onAnswer(removal.commit.callId, (call) => {
      for (const each of this.#invariants) each.onAnswered?.(removal, call);
    });
  }

  /** Calls `tell` with the call `callId`, at once where it is known. */
  #onAnswer(callId: number, tell: (call: Call) => void): void {
    const call = this.#calls.get(callId);
    if (call !== undefined) tell(call);
    else this.#waiting.set(callId, [...(this.#waiting.get(callId) ?? []), tell]);
  }
}

/** Judges a finished history by every invariant that `options` allow. */
export function judge(recorded: RecordedHistory, options: JudgeOptions): Judgement {
  const judge = new Judge(options);
  for (const delivery of recorded.deliveries) judge.delivered(delivery);
  for (const call of recorded.calls) judge.announce(call);
  replay(recorded, judge);
  judge.ended(options.end ?? lastInstant(recorded), recorded.commits.at(-1)?.revision ?? 0);
  const { violations } = judge;
  return { violations, report: () => reportText(recorded, options, violations) };
}

/** A judge of a running cluster. */
export interface Following {
  /** Knows the strict violations at once; the fresh ones, which need the calls, after `finish`. */
  readonly judge: Judge;
  /** Ends the history at `at` and judges what the calls show. */
  finish(at: Instant): Judgement;
}

/**
 * Judges `log` from its next commit on; for simulations that stop at the first violation. New statements go to
 * `judge.stated`, before their requests.
 */
export function follow(log: EventLog, options: JudgeOptions): Following {
  const judge = new Judge(options);
  let lastRevision = 0;
  const stop = log.onCommit((commit) => {
    lastRevision = commit.revision;
    judge.committed(commit);
  });
  const finish = (at: Instant): Judgement => {
    stop();
    for (const delivery of log.deliveries) judge.delivered(delivery);
    for (const call of log.calls) judge.announce(call);
    for (const call of log.calls) judge.called(call);
    judge.ended(at, lastRevision);
    const { violations } = judge;
    return { violations, report: () => reportText(log, options, violations) };
  };
  return { judge, finish };
}

// Commits first at equal times: a call is answered after what it stored.
function replay(recorded: RecordedHistory, judge: Judge): void {
  const calls = [...recorded.calls].sort((one, other) => one.endedAt - other.endedAt);
  let next = 0;
  const answerUntil = (at: number): void => {
    for (let call = calls[next]; call !== undefined && call.endedAt < at; call = calls[next]) {
      judge.called(call);
      next += 1;
    }
  };
  for (const commit of recorded.commits) {
    answerUntil(commit.at);
    judge.committed(commit);
  }
  answerUntil(Number.POSITIVE_INFINITY);
}

function lastInstant(recorded: RecordedHistory): Instant {
  return recorded.calls.reduce(
    (latest, call) => (call.endedAt > latest ? call.endedAt : latest),
    recorded.commits.at(-1)?.at ?? instant(0),
  );
}
