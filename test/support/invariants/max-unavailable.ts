import type { SetFacts } from '../history/facts.ts';
import { domainOf, type History } from '../history/history.ts';
import { type OwnDisruption, type OwnDisruptions, shownAt } from '../history/own-disruptions.ts';
import type { Removal } from '../history/removal.ts';
import type { DisruptionStatement, StatementBook } from '../history/statement.ts';
import { isWhollyBroken, type Seen, slotsUnderWay } from '../history/stuck.ts';
import { Findings, type Invariant, type Violation } from './invariant.ts';

/** MAXU-1: our open disruptions in a set, with the new one, are at most its limit. Strict; scale-downs do not count (D-17). */
export class MaxUnavailable implements Invariant {
  readonly #disruptions: OwnDisruptions;
  readonly #findings = new Findings();

  constructor(disruptions: OwnDisruptions) {
    this.#disruptions = disruptions;
  }

  get violations(): readonly Violation[] {
    return this.#findings.list;
  }

  onRemoval(removal: Removal): void {
    const { set, ordinal, takes, commit } = removal;
    if (!takes || set === undefined || ordinal === undefined) return;
    const slots = new Set([ordinal]);
    for (const open of this.#disruptions.openIn(domainOf(set), commit.at)) {
      if (open.setUid === set.uid && open.kind === 'removal') slots.add(open.ordinal);
    }
    if (slots.size <= set.limit) return;
    this.#findings.add(
      'MAXU-1',
      commit,
      `We took pod ${commit.namespace}/${commit.name}: now ${slots.size} of our disruptions are open in ${set.name}, its limit is ${set.limit}`,
    );
  }
}

/** What shows how many were unavailable when it was decided (MAXU-2). */
export interface FreshMaxUnavailableOptions extends Pick<Seen, 'stuckAfter'> {
  readonly history: History;
  readonly disruptions: OwnDisruptions;
  readonly statements: StatementBook;
}

/**
 * MAXU-2: slots unavailable at r(d), those that we took since, and this one are together at most the limit.
 * A slot counts once. Since r(d) is what was sent before this one: a request that was sent later and overtook this one
 * had to count it, and this one could not count that. Replacing a pod that was stuck at r(d) counts only what is under
 * way, and has no limit where no pod of the set is ready and all outdated ones are broken (D-48). Fresh.
 */
export class FreshMaxUnavailable implements Invariant {
  readonly #options: FreshMaxUnavailableOptions;
  readonly #findings = new Findings();
  readonly #stated: (readonly [Removal, DisruptionStatement])[] = [];

  constructor(options: FreshMaxUnavailableOptions) {
    this.#options = options;
  }

  get violations(): readonly Violation[] {
    return this.#findings.list;
  }

  onAnswered(removal: Removal): void {
    const { statement } = removal;
    if (statement !== undefined) this.#stated.push([removal, statement]);
  }

  // What was sent before a request may take its pod after it: only the whole history shows that.
  onEnd(): void {
    for (const [removal, statement] of this.#stated) this.#judge(removal, statement);
  }

  #judge(removal: Removal, statement: DisruptionStatement): void {
    const { set, ordinal, commit } = removal;
    if (set === undefined || ordinal === undefined) return;
    const spent = this.#spentBefore(removal, set);
    if (spent === undefined) return;
    const slots = new Set(spent);
    const unavailable = slots.size;
    const isNew = !slots.has(ordinal);
    for (const slot of this.#takenSince(removal, set, statement)) slots.add(slot);
    slots.add(ordinal);
    if (slots.size <= set.limit) return;
    this.#findings.add(
      'MAXU-2',
      commit,
      `We took pod ${commit.namespace}/${commit.name}: with ${unavailable} slots unavailable in our view and ${slots.size - unavailable - (isNew ? 1 : 0)} taken since, the limit ${set.limit} of ${set.name} was spent`,
    );
  }

  /** Returns the slots that the view shows as spent; undefined where there is no limit. */
  #spentBefore(removal: Removal, set: SetFacts): Iterable<number> | undefined {
    const { costs, view } = removal;
    const { history, stuckAfter } = this.#options;
    if (costs) return history.unavailableSlots(set, view);
    const seen: Seen = { history, view, ...(stuckAfter !== undefined && { stuckAfter }) };
    return isWhollyBroken(set, seen) ? undefined : slotsUnderWay(set, seen);
  }

  #takenSince(removal: Removal, set: SetFacts, statement: DisruptionStatement): readonly number[] {
    const { disruptions, statements } = this.#options;
    const isSentBefore = (own: OwnDisruption): boolean =>
      own.statement === undefined
        ? own.revision < removal.commit.revision
        : statements.isSentBefore(own.statement, statement);
    return disruptions
      .in(domainOf(set))
      .filter((own) => own.kind !== 'scale-down' && own.setUid === set.uid)
      .filter((own) => own.revision > shownAt(own, removal.view) && isSentBefore(own))
      .map((own) => own.ordinal);
  }
}
