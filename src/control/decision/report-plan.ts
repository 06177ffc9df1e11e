import type { Because } from '#base/because.ts';
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { changedAfter, unchangedAfter } from '#base/told-again.ts';
import { type Monotonic, monotonic } from '#base/units.ts';
import type { EventRecorder } from '#kubernetes/events/event-recorder.ts';
import type { SetRef } from './decision.ts';
import type { ReasonEntry } from './reason-entry.ts';
import { type Reason, reasonCatalogue } from './reasons.ts';

/** Where reports go, and the clock that says when something is reported again. */
export interface ReportPorts {
  readonly events: EventRecorder;
  readonly log: Logger;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** What reports are about. @default StatefulSets, and the catalogue of their reasons */
  readonly about?: ReportSubject;
}

/** A kind of objects, and what is said of them. */
export interface ReportSubject {
  readonly apiVersion: string;
  readonly kind: string;
  /** Names the object in log lines. */
  readonly field: string;
  /** What is said of them, and how much attention each deserves. */
  readonly reasons: Readonly<Record<string, ReasonEntry>>;
}

/** A decision as far as reports show it. */
export interface Reported {
  readonly kind: string;
  readonly set: SetRef;
  readonly because: Because;
}

/** Longest message in a log line, in characters. */
const longestMessage = 1_024;

/** All that a plan says of one set for one reason; mostly one decision. */
interface Statement {
  readonly decisions: readonly Reported[];
  /** The messages, cut; reported again when these change. */
  readonly texts: ReadonlySet<string>;
}

/** What was reported last of one set for one reason. */
interface Told {
  readonly texts: ReadonlySet<string>;
  readonly at: Monotonic;
  /** Whether it is not said any more; what comes back is not new at once. */
  readonly isOver: boolean;
}

/**
 * Tells people what a plan does and waits for (LIVE-2, KW-6): an Event and a log line whenever something is said of a
 * set that was not said before, but of one set and reason at most once a minute, however often the message changes. A hold
 * is reported again every 10 minutes while it lasts, so that a late reader finds it too (D-54); what a user asked for
 * is reported once.
 */
export class PlanReporter {
  readonly #ports: ReportPorts;
  readonly #about: ReportSubject;
  /** What was reported last, by key and then by set and reason. */
  readonly #told = new Map<string, ReadonlyMap<string, Told>>();

  constructor(ports: ReportPorts) {
    this.#ports = ports;
    this.#about = ports.about ?? ofStatefulSets;
  }

  /**
   * Reports the decisions of the newest plan of `key`; what changes objects reports itself when it is done.
   *
   * @returns when a hold among them is due to be reported again, so that the key is to be planned and reported then
   * although nothing changes; undefined when none is
   */
  report(key: string, decisions: readonly Reported[]): Monotonic | undefined {
    const before = this.#told.get(key);
    if (decisions.length === 0 && before === undefined) return undefined;
    const now = this.#ports.clock.monotonic();
    const told = stillKnown(before, now);
    let next = Number.POSITIVE_INFINITY;
    for (const [subject, statement] of statementsOf(decisions)) {
      const state = this.#state(statement, before?.get(subject), now);
      told.set(subject, state);
      next = Math.min(next, againAt(statement, state, this.#about));
    }
    if (told.size === 0) this.#told.delete(key);
    else this.#told.set(key, told);
    return Number.isFinite(next) ? monotonic(next) : undefined;
  }

  /** Forgets a key that is gone. */
  forget(key: string): void {
    this.#told.delete(key);
  }

  /** Reports one thing that was done, or could not be. */
  tell(set: SetRef, because: { readonly reason: Reason; readonly message: string }): void {
    const isWarning = reasonCatalogue[because.reason].kind === 'warn';
    this.#record(set, { ...because, isWarning });
  }

  /** Tells `statement` if that is due. @returns what was reported last of it */
  #state(statement: Statement, last: Told | undefined, now: Monotonic): Told {
    if (last !== undefined && againAt(statement, last, this.#about) > now)
      return { ...last, isOver: false };
    for (const decision of statement.decisions) {
      if (decision.kind !== 'warn' || isNews(decision, last)) this.#tell(decision);
    }
    return { texts: statement.texts, at: now, isOver: false };
  }

  #tell(decision: Reported): void {
    const { set, because } = decision;
    const isWarning = decision.kind === 'warn' || isAlarming(this.#about, because);
    const fields = {
      [this.#about.field]: set.name,
      reason: because.reason,
      because: cut(because.message),
    };
    if (isWarning) this.#ports.log.warn('rollout needs attention', fields);
    else this.#ports.log.info('rollout', fields);
    this.#record(set, { ...because, isWarning });
  }

  #record(set: SetRef, note: Because & { readonly isWarning: boolean }): void {
    const { apiVersion, kind } = this.#about;
    this.#ports.events.record({
      about: { apiVersion, kind, ...set },
      type: note.isWarning ? 'Warning' : 'Normal',
      reason: note.reason,
      message: note.message,
    });
  }
}

/** Returns what was reported in the last 10 minutes, as if none of it were said any more. */
function stillKnown(
  before: ReadonlyMap<string, Told> | undefined,
  now: Monotonic,
): Map<string, Told> {
  const known = new Map<string, Told>();
  for (const [subject, told] of before ?? []) {
    if (now - told.at < unchangedAfter) known.set(subject, { ...told, isOver: true });
  }
  return known;
}

/** Returns `message` as long as a log line bears: an annotation that it quotes may have 256 KiB. */
function cut(message: string): string {
  return message.length <= longestMessage ? message : `${message.slice(0, longestMessage)}…`;
}

/** Returns what `decisions` say, by set and reason. */
function statementsOf(decisions: readonly Reported[]): ReadonlyMap<string, Statement> {
  const statements = new Map<string, Statement>();
  for (const decision of decisions) {
    if (reportsItself(decision)) continue;
    const { set, because } = decision;
    const subject = `${set.uid} ${because.reason}`;
    const known = statements.get(subject);
    statements.set(subject, {
      decisions: [...(known?.decisions ?? []), decision],
      texts: new Set([...(known?.texts ?? []), cut(because.message)]),
    });
  }
  return statements;
}

/** Returns when `statement` is reported again after `last`, on the monotonic clock; infinity for what is reported once. */
function againAt({ decisions, texts }: Statement, last: Told, about: ReportSubject): number {
  const hasNews = decisions.some((decision) => decision.kind === 'warn' && isNews(decision, last));
  if (hasNews) return last.at + changedAfter;
  const isRepeated = decisions.some(
    ({ kind, because }) => kind === 'hold' && !isWished(about, because),
  );
  if (!isRepeated) return Number.POSITIVE_INFINITY;
  const isSame = texts.size === last.texts.size && [...texts].every((text) => last.texts.has(text));
  return last.at + (isSame && !last.isOver ? unchangedAfter : changedAfter);
}

/** Reports whether a hold is what a user asked for, so that it is reported once. */
function isWished({ reasons }: ReportSubject, { reason }: Because): boolean {
  return reasons[reason]?.urgency === 'wished';
}

/** Reports whether a user has to look; what no table has is not known to be ordinary. */
function isAlarming({ reasons }: ReportSubject, { reason }: Because): boolean {
  const { urgency } = reasons[reason] ?? { urgency: 'alarming' };
  return urgency === 'alarming';
}

/** Reports whether what `decision` says was not reported with `last`. */
function isNews({ because }: Reported, last: Told | undefined): boolean {
  return last?.texts.has(cut(because.message)) !== true;
}

/** Reports whether `decision` is reported by what carries it out, once it is done. */
function reportsItself({ kind }: Reported): boolean {
  return kind !== 'hold' && kind !== 'warn';
}

const ofStatefulSets: ReportSubject = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  field: 'statefulset',
  reasons: reasonCatalogue,
};
