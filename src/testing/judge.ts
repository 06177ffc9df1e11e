import { type Instant, instant, type Millis, seconds } from '#base/units.ts';
import type { Call, Commit, Delivery, EventLog } from '#embedded-cluster/event-log.ts';
import { History } from './history.ts';
import { Completion, type CompletionOptions } from './invariants/completion.ts';
import { KeptDelay } from './invariants/delay.ts';
import { Effort, type EffortOptions, Quiescence, type QuietOptions } from './invariants/effort.ts';
import { FreshExclusion, GroupExclusion } from './invariants/exclusion.ts';
import { RespectedHolds } from './invariants/holds.ts';
import type { Invariant, Violation } from './invariants/invariant.ts';
import { FreshMaxUnavailable, MaxUnavailable } from './invariants/max-unavailable.ts';
import { Pace } from './invariants/pace.ts';
import { Receipts, StatedProof } from './invariants/proof.ts';
import { RetoldStall } from './invariants/retold.ts';
import { Incarnation, OneKillPerSlot, TargetRevision } from './invariants/revision.ts';
import { SoundScaling } from './invariants/scaling.ts';
import { ShownState } from './invariants/shown.ts';
import { SingleWriter } from './invariants/single-writer.ts';
import { ExplainedStall, type StallOptions } from './invariants/stall.ts';
import { StatedScaling } from './invariants/stated-scaling.ts';
import { UnbuiltBudget } from './invariants/unbuilt-budget.ts';
import { OwnDisruptions } from './own-disruptions.ts';
import type { FleetCall } from './pod-fleet.ts';
import { type Removal, removalOf, scaleDownOf } from './removal.ts';
import { reportText } from './report.ts';
import { type DisruptionStatement, type ScaleStatement, StatementBook } from './statement.ts';
import type { Seen } from './stuck.ts';

/** What is judged. Each part that is left out is not judged, and the report says so. */
export interface JudgeOptions {
  /** Whether a user name is the operator's. */
  readonly ours: (user: string) => boolean;
  /** The operator's statements of proof (D-7). Without them EXCL-2, MAXU-2, SHOWN and D-7 are not judged. */
  readonly statements?: readonly DisruptionStatement[];
  /** The same of writes of replicas. Without them D-7, EXCL-2 and SHOWN of down-scales are not judged. */
  readonly scaleStatements?: readonly ScaleStatement[];
  /**
   * Whether the history knows what watches had delivered; against a real API server nobody does, and of D-7 only
   * the statement itself is judged. @default true
   */
  readonly areDeliveriesKnown?: boolean;
  /**
   * Where nobody knows what watches had delivered: after how long a commit counts as shown to a client whose watches
   * are live. @default SHOWN is not judged there
   */
  readonly shownAfter?: Millis;
  /** `-rollout.stuck-after`; 0: never. @default 30 min */
  readonly stuckAfter?: Millis;
  /** A of reliability §2. @default 10 s (D-3) */
  readonly maxDecisionAge?: Millis;
  /** LIVE-1 or LIVE-3. */
  readonly completion?: CompletionOptions;
  /** LIVE-2. */
  readonly stalls?: StallOptions;
  /** QUIE-1. */
  readonly quiet?: QuietOptions;
  /** WRITES (D-16). */
  readonly effort?: EffortOptions;
  /** All calls that reached pods, in order of arrival: the delay rule of SCAL-1. */
  readonly podCalls?: readonly FleetCall[];
  /** When the history ended. @default the time of its last record */
  readonly end?: Instant;
}

/** A finished history: an `EventLog`, or what a recorder against a real API server wrote down. */
export interface RecordedHistory {
  readonly commits: readonly Commit[];
  readonly calls: readonly Call[];
  readonly deliveries: readonly Delivery[];
}

/** The verdict on a history. */
export interface Judgement {
  /** In order of time. */
  readonly violations: readonly Violation[];
  /** What was broken, with the commits around each violation; says what was not judged. */
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
  readonly #invariants: readonly Invariant[];
  readonly #calls = new Map<number, Call>();
  readonly #waiting = new Map<number, ((call: Call) => void)[]>();

  constructor(options: JudgeOptions) {
    this.#options = options;
    this.#statements = new StatementBook(options.statements);
    this.#invariants = [...this.#always(), ...this.#onRequest()];
  }

  /** All that was broken so far, in order of time. */
  get violations(): readonly Violation[] {
    return this.#invariants
      .flatMap((each) => each.violations)
      .sort((one, other) => one.at - other.at || one.revision - other.revision);
  }

  /** Adds a statement that the operator made just now. */
  stated(statement: DisruptionStatement): void {
    this.#statements.add(statement);
  }

  /** Something was delivered to a client. */
  delivered(delivery: Delivery): void {
    this.#receipts.delivered(delivery);
  }

  /** Makes a call known before its commits are judged, so that they need not wait for it. */
  announce(call: Call): void {
    if (this.#calls.has(call.callId)) return;
    this.#calls.set(call.callId, call);
    this.#receipts.called(call);
  }

  /** Something was stored. */
  committed(commit: Commit): void {
    this.#disruptions.before(commit);
    for (const each of this.#invariants) each.onCommit?.(commit);
    if (this.#options.ours(commit.user)) this.#judgeOwn(commit);
    this.history.apply(commit);
  }

  /** A request was answered. */
  called(call: Call): void {
    this.announce(call);
    for (const each of this.#invariants) each.onCall?.(call);
    for (const tell of this.#waiting.get(call.callId) ?? []) tell(call);
    this.#waiting.delete(call.callId);
  }

  /** The history is over. */
  ended(at: Instant, revision: number): void {
    for (const each of this.#invariants) each.onEnd?.({ at, revision });
  }

  #always(): Invariant[] {
    const { ours, maxDecisionAge = seconds(10) } = this.#options;
    const { history } = this;
    const rests = { history, statements: this.#statements, ours, maxDecisionAge };
    return [
      new GroupExclusion(history, this.#disruptions),
      new MaxUnavailable(this.#disruptions),
      new FreshExclusion({ history, disruptions: this.#disruptions, maxDecisionAge }),
      new FreshMaxUnavailable({
        history,
        disruptions: this.#disruptions,
        statements: this.#statements,
        ...this.#stuckAfter,
      }),
      new Incarnation(rests),
      new TargetRevision(rests),
      new OneKillPerSlot(history),
      new RespectedHolds(history),
      new SoundScaling({
        ours,
        maxDecisionAge,
        sentAt: (callId) => this.#calls.get(callId)?.startedAt,
      }),
      new SingleWriter(),
      new UnbuiltBudget(),
      new Pace(ours),
    ];
  }

  #onRequest(): Invariant[] {
    const { ours, statements, completion, stalls, quiet, effort, podCalls } = this.#options;
    const found: Invariant[] = [];
    if (statements !== undefined) found.push(...this.#stated());
    if (completion !== undefined) found.push(new Completion(this.history, completion));
    if (stalls !== undefined) found.push(new ExplainedStall(this.history, { ...stalls, ours }));
    if (stalls?.retold !== undefined) {
      const { said, retold } = stalls;
      found.push(new RetoldStall({ history: this.history, ours, said, ...retold }));
    }
    if (quiet !== undefined) found.push(new Quiescence(ours, quiet, podCalls));
    if (effort !== undefined) found.push(new Effort(ours, effort));
    if (podCalls !== undefined) found.push(new KeptDelay({ ours, podCalls }));
    return found;
  }

  /** Those that rest on what the operator says of its requests. */
  #stated(): Invariant[] {
    const { ours, scaleStatements, maxDecisionAge = seconds(10) } = this.#options;
    const { history } = this;
    const disruptions = this.#disruptions;
    const { areDeliveriesKnown = true, shownAfter } = this.#options;
    const receipts = areDeliveriesKnown ? this.#receipts : undefined;
    const by = receipts ?? shownAfter;
    const found: Invariant[] = [new StatedProof({ history, receipts })];
    if (scaleStatements !== undefined) {
      found.push(new StatedScaling({ history, disruptions, receipts, maxDecisionAge }));
    }
    if (by !== undefined) {
      const statements = this.#statements;
      const said = { statements, scaleStatements: scaleStatements ?? [] };
      found.push(new ShownState({ history, disruptions, ours, by, ...said, ...this.#stuckAfter }));
    }
    return found;
  }

  get #stuckAfter(): Pick<Seen, 'stuckAfter'> {
    const { stuckAfter } = this.#options;
    return stuckAfter === undefined ? {} : { stuckAfter };
  }

  #judgeOwn(commit: Commit): void {
    const { scaleStatements = [] } = this.#options;
    const statements = this.#statements;
    const evidence = { history: this.history, statements, scaleStatements, ...this.#stuckAfter };
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

  /** Lets `tell` hear of the call `callId`, at once where it is known. */
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

/** A judge that sits beside a running cluster. */
export interface Following {
  /** Knows the strict violations at once; the fresh ones, which need the calls, after `finish`. */
  readonly judge: Judge;
  /** Ends the history at `at` and judges what the calls tell. */
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
