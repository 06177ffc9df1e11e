import type { JsonObject } from '#base/json.ts';
import { type Instant, instant, type Millis, seconds } from '#base/units.ts';
import type { Commit } from '#embedded-cluster/event-log.ts';
import { type PodFacts, podFacts, type SetFacts, setFacts } from '../facts.ts';
import { type Domain, domainOf, type History, latestView } from '../history.ts';
import {
  type ReasonPredicate,
  reasonPredicates,
  type StallStatement,
  zoneTruth,
} from '../reasons.ts';
import { incompleteness } from './completion.ts';
import { Findings, type Invariant, type Point, type Violation } from './invariant.ts';

/** What LIVE-2 is judged by. */
export interface StallOptions {
  /** All that the operator said, in order of time. */
  readonly said: readonly StallStatement[];
  /** Further reasons; they win over the known ones of the same name. */
  readonly predicates?: Readonly<Record<string, ReasonPredicate>>;
  /** How long a group may stand still unexplained. @default 60 s */
  readonly patience?: Millis;
}

/**
 * LIVE-2: a group that is not complete and has not moved for 60 s has a reason, and the reason is true at that time.
 * It moves when its pods come, go or change readiness or revision, and when its sets' spec or revisions change.
 */
export class ExplainedStall implements Invariant {
  readonly #history: History;
  readonly #ours: (user: string) => boolean;
  readonly #options: StallOptions;
  readonly #findings = new Findings();
  readonly #movedAt = new Map<Domain, Instant>();
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
    this.#judgeAll(commit.at);
    this.#lastRevision = commit.revision;
    const domain = this.#domainMovedBy(commit);
    if (domain !== undefined) this.#movedAt.set(domain, commit.at);
  }

  onEnd(end: Point): void {
    this.#judgeAll(end.at);
  }

  #judgeAll(now: Instant): void {
    const patience = this.#options.patience ?? seconds(60);
    for (const [domain, movedAt] of this.#movedAt) {
      if (now - movedAt < patience) continue;
      this.#movedAt.delete(domain);
      const at = instant(movedAt + patience);
      const complaint = this.#complaint(domain, at);
      if (complaint === undefined) continue;
      const message = `The ${domain} stood still for ${patience} ms ${complaint}`;
      this.#findings.add('LIVE-2', { at, revision: this.#lastRevision }, message);
    }
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

  #domainMovedBy(commit: Commit): Domain | undefined {
    if (commit.resource === 'statefulsets.apps') return this.#movedSet(commit);
    return commit.resource === 'pods' ? this.#movedPod(commit) : undefined;
  }

  #movedPod(commit: Commit): Domain | undefined {
    const { after: pod, old } = versions(commit, podFacts);
    if (pod !== undefined && old !== undefined && isSamePod(pod, old)) return undefined;
    const uid = (pod ?? old)?.controllerUid;
    if (uid === undefined) return undefined;
    const set = this.#history.setByUid(uid, latestView(commit.at));
    return set?.group === undefined ? undefined : domainOf(set);
  }

  #movedSet(commit: Commit): Domain | undefined {
    const { after: set, old } = versions(commit, setFacts);
    if (set?.group === undefined) return undefined;
    const isSame = old !== undefined && isSameSet(set, old) && !this.#ours(commit.user);
    return isSame ? undefined : domainOf(set);
  }
}

function versions<Facts>(
  commit: Commit,
  read: (object: JsonObject) => Facts,
): { readonly after: Facts | undefined; readonly old: Facts | undefined } {
  return {
    after: commit.after === undefined ? undefined : read(commit.after),
    old: commit.before === undefined ? undefined : read(commit.before),
  };
}

function isSamePod(one: PodFacts, other: PodFacts): boolean {
  return (
    one.readySince === other.readySince &&
    one.isTerminating === other.isTerminating &&
    one.revision === other.revision
  );
}

function isSameSet(one: SetFacts, other: SetFacts): boolean {
  return (
    one.target === other.target &&
    one.replicas === other.replicas &&
    one.isPaused === other.isPaused
  );
}
