import type { SetFacts } from '../facts.ts';
import { domainOf, type History } from '../history.ts';
import type { OwnDisruptions } from '../own-disruptions.ts';
import type { Removal } from '../removal.ts';
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

/**
 * MAXU-2: slots unavailable at r(d), those that we took since, and this one are together at most the limit.
 * A slot counts once. Replacing a pod that was already unavailable at r(d) costs nothing (D-11). Fresh.
 */
export class FreshMaxUnavailable implements Invariant {
  readonly #history: History;
  readonly #disruptions: OwnDisruptions;
  readonly #findings = new Findings();

  constructor(history: History, disruptions: OwnDisruptions) {
    this.#history = history;
    this.#disruptions = disruptions;
  }

  get violations(): readonly Violation[] {
    return this.#findings.list;
  }

  onAnswered(removal: Removal): void {
    const { set, ordinal, costs, commit, view, statement } = removal;
    if (!costs || statement === undefined || set === undefined || ordinal === undefined) return;
    const slots = new Set(this.#history.unavailableSlots(set, view));
    const unavailable = slots.size;
    for (const slot of this.#takenSince(removal, set)) slots.add(slot);
    slots.add(ordinal);
    if (slots.size <= set.limit) return;
    this.#findings.add(
      'MAXU-2',
      commit,
      `We took pod ${commit.namespace}/${commit.name}: with ${unavailable} slots unavailable in our view and ${slots.size - unavailable - 1} taken since, the limit ${set.limit} of ${set.name} was spent`,
    );
  }

  #takenSince(removal: Removal, set: SetFacts): readonly number[] {
    const seen = removal.view.pods(set.name);
    return this.#disruptions
      .in(domainOf(set))
      .filter((own) => own.kind === 'removal' && own.setUid === set.uid)
      .filter((own) => own.revision > seen && own.revision < removal.commit.revision)
      .map((own) => own.ordinal);
  }
}
