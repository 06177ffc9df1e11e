import { after, type Instant, type Millis, minutes, seconds } from '#base/units.ts';
import type { Commit } from '#cluster/event-log.ts';
import { type Domain, type History, latestView } from '../../history/history.ts';
import { Findings, type Invariant, type Point, type Violation } from '../invariant.ts';
import { incompleteness } from './completion.ts';
import { domainMovedBy } from './movement.ts';
import {
  type ReasonPredicate,
  reasonPredicates,
  type StallStatement,
  zoneTruth,
} from './reasons.ts';
import type { Telling } from './retold.ts';

/** What shows whether a standstill was explained, and truly (LIVE-2). */
export interface StallOptions {
  /** All that the operator said, in order of time. */
  readonly said: readonly StallStatement[];
  /** Further reasons; they win over the known ones of the same name. */
  readonly predicates?: Readonly<Record<string, ReasonPredicate>>;
  /** How long a group may stand still unexplained. @default 60 s */
  readonly patience?: Millis;
  /** Judges also whether it is reported again while the stall lasts (D-54). @default not judged */
  readonly retold?: {
    /** What the operator logged of sets, in order of time; undefined: log lines are not judged. */
    readonly logged?: readonly Telling[];
    /** @default true */
    readonly areEventsJudged?: boolean;
  };
}

/** How long after one look at a stall the next one follows. */
const again = minutes(10);

/**
 * LIVE-2: a group that is not complete and has not moved for 60 s has a reason, and the reason is true at that time,
 * and every 10 minutes from then on while it lasts.
 */
export class ExplainedStall implements Invariant {
  readonly #history: History;
  readonly #ours: (user: string) => boolean;
  readonly #options: StallOptions;
  readonly #findings = new Findings();
  /** When each group moved last, and when it is looked at next. */
  readonly #looks = new Map<Domain, { readonly movedAt: Instant; readonly at: Instant }>();
  #lastRevision = 0;

  constructor(
    history: History,
    options: StallOptions & { readonly ours: (user: string) => boolean },
  ) {
    this.#history = history;
    this.#ours = options.ours;
    this.#options = options;
  }

  get violations(): readonly Violation[] {
    return this.#findings.list;
  }

  onCommit(commit: Commit): void {
    // What happens in the very instant of a look is seen by it: the operator may have spoken of it already.
    this.#judgeAll((at) => at < commit.at);
    this.#lastRevision = commit.revision;
    const domain = domainMovedBy(commit, { history: this.#history, ours: this.#ours });
    if (domain !== undefined)
      this.#looks.set(domain, { movedAt: commit.at, at: this.#firstLook(commit.at) });
  }

  onEnd(end: Point): void {
    this.#judgeAll((at) => at <= end.at);
  }

  #judgeAll(isDue: (at: Instant) => boolean): void {
    for (const [domain, { movedAt, at: first }] of this.#looks) {
      for (let at = first; isDue(at); at = after(at, again)) {
        this.#looks.set(domain, { movedAt, at: after(at, again) });
        const complaint = this.#complaint(domain, at);
        if (complaint === undefined) continue;
        this.#looks.delete(domain);
        const message = `The ${domain} stood still for ${at - movedAt} ms ${complaint}`;
        this.#findings.add('LIVE-2', { at, revision: this.#lastRevision }, message);
        break;
      }
    }
  }

  #firstLook(movedAt: Instant): Instant {
    return after(movedAt, this.#options.patience ?? seconds(60));
  }

  #complaint(domain: Domain, at: Instant): string | undefined {
    const view = latestView(at);
    const sets = this.#history.members(domain, view);
    if (sets.every((set) => incompleteness(set, this.#history, view) === undefined)) {
      return undefined;
    }
    const said = this.#options.said.findLast(
      (each) => each.at <= at && `group ${each.namespace}/${each.group}` === domain,
    );
    if (said === undefined || said.reason === '') return 'and no reason was given';
    const predicate = this.#options.predicates?.[said.reason] ?? reasonPredicates[said.reason];
    if (predicate === undefined) return `for ${said.reason}, a reason that nobody can check`;
    const zones = sets.map((set) => zoneTruth(set, this.#history, view));
    return predicate(zones, said) ? undefined : `for ${said.reason}, which was not true`;
  }
}
