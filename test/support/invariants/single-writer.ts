import type { Commit } from '#cluster/event-log.ts';
import type { SetFacts } from '../history/facts.ts';
import { type Domain, domainOf } from '../history/history.ts';
import type { Removal, ScaleDown } from '../history/removal.ts';
import { Findings, type Invariant, type Violation } from './invariant.ts';

/** A term of the Lease, as its holder states it: `<uid of the Lease>/<leaseTransitions>/<id of the process>`. */
interface Term {
  readonly lease: string;
  readonly transitions: number;
  readonly id: string;
}

/**
 * WRIT-1: what we take away of one group is taken in one term of the Lease after the other: once a term has begun to,
 * nothing of an earlier one succeeds, also not what was sent before. Requests that state no term, as those of a process
 * without a Lease, are not judged.
 */
export class SingleWriter implements Invariant {
  readonly #findings = new Findings();
  /** The terms of each group, oldest first. */
  readonly #terms = new Map<Domain, Term[]>();

  get violations(): readonly Violation[] {
    return this.#findings.list;
  }

  onRemoval({ commit, set, statement }: Removal): void {
    this.#judge(commit, set, statement?.term);
  }

  onScaleDown({ commit, set, statement }: ScaleDown): void {
    this.#judge(commit, set, statement?.term);
  }

  #judge(commit: Commit, set: SetFacts | undefined, text: string | undefined): void {
    if (set === undefined || text === undefined) return;
    const term = termOf(text);
    const domain = domainOf(set);
    const terms = this.#terms.get(domain) ?? [];
    this.#terms.set(domain, terms);
    const newest = terms.at(-1);
    if (newest === undefined || !isPast(term, terms, newest)) {
      terms.push(term);
      return;
    }
    if (isSame(newest, term)) return;
    const message = `We changed ${commit.namespace}/${commit.name} in term ${text} after ${newest.id} had begun to take pods of the group away in term ${newest.transitions}`;
    this.#findings.add('WRIT-1', commit, message);
  }
}

/** Reports whether `term` had begun when `newest` had. */
function isPast(term: Term, terms: readonly Term[], newest: Term): boolean {
  if (terms.some((each) => isSame(each, term))) return true;
  return newest.lease === term.lease && term.transitions <= newest.transitions;
}

function termOf(text: string): Term {
  const [lease = '', transitions = '', ...id] = text.split('/');
  return { lease, transitions: Number(transitions), id: id.join('/') };
}

function isSame(one: Term, other: Term): boolean {
  return one.lease === other.lease && one.transitions === other.transitions && one.id === other.id;
}
