import { after, type Instant, millis, seconds } from '#base/units.ts';
import type { Call, Commit } from '#cluster/event-log.ts';
import { type BudgetFacts, budgetFacts, isSelected } from './budget-facts.ts';
import type { PodFacts } from './facts.ts';
import { ledgerPrefix, reservationsIn } from './ledger-facts.ts';
import { Track } from './track.ts';

/** How soon a budget that appears, or changes, is noticed (D-51). */
const noticed = seconds(10);

/** A moment that is looked back from. */
export interface Lookout {
  readonly at: Instant;
  /** What is looked at ends before it. */
  readonly before: number;
}

/** All that a budget said within {@link noticed}, newest first; undefined: it was not there. */
export type Sayings = readonly (BudgetFacts | undefined)[];

/** Budgets and their ledgers over time, and the calls that ledgers were written by. */
export class BudgetHistory {
  /** Keyed by namespace and name. */
  readonly #budgets = new Map<string, Track<BudgetFacts>>();
  readonly #ledgers = new Map<string, Commit[]>();
  readonly #calls = new Map<number, Call>();

  /** Every commit of a ledger, no matter who made it, in order. */
  readonly ledgerCommits: Commit[] = [];

  /** Takes in the next commit. */
  apply(commit: Commit): void {
    if (commit.resource.startsWith('zoneawarepoddisruptionbudgets.')) this.#budget(commit);
    if (!isLedger(commit)) return;
    this.ledgerCommits.push(commit);
    const key = budgetKey(commit);
    this.#ledgers.set(key, [...(this.#ledgers.get(key) ?? []), commit]);
  }

  /** Takes in a call. */
  called(call: Call): void {
    this.#calls.set(call.callId, call);
  }

  /** Returns the call by which `commit` was made; undefined where it is unknown. */
  callOf({ callId }: Pick<Commit, 'callId'>): Call | undefined {
    return this.#calls.get(callId);
  }

  /** Returns what each budget of `namespace` said within 10 s before `lookout`; those that said nothing are left out. */
  said(namespace: string, lookout: Lookout): readonly Sayings[] {
    const found: Sayings[] = [];
    for (const [key, track] of this.#budgets) {
      const sayings = key.startsWith(`${namespace}/`) ? sayingsIn(track, lookout) : [];
      if (sayings.some((saying) => saying !== undefined)) found.push(sayings);
    }
    return found;
  }

  /** Returns what the budget of the ledger that `commit` wrote said within 10 s before `lookout`. */
  saidBy(commit: Commit, lookout: Lookout): Sayings {
    const track = this.#budgets.get(budgetKey(commit));
    return track === undefined ? [] : sayingsIn(track, lookout);
  }

  /** Returns what selected `pod` by its own labels for 10 s and more, without a break. */
  selecting(pod: PodFacts, lookout: Lookout): readonly (readonly BudgetFacts[])[] {
    return this.said(pod.namespace, lookout).flatMap((sayings) => {
      const there = sayings.filter((saying) => saying !== undefined);
      const isSure = there.length === sayings.length;
      const selects = there.every(({ selector }) => isSelected(pod.labels, selector));
      return isSure && selects ? [there] : [];
    });
  }

  /**
   * Reports whether the ledger of `budget` had the pod `uid` when a request was sent at `lookout.at`. What another client
   * than us took out of it within the last 10 s counts as if it was there: a process cannot know at once.
   */
  isReserved(
    budget: Pick<BudgetFacts, 'namespace' | 'name'>,
    uid: string,
    { at, before, ours }: Lookout & { readonly ours: (user: string) => boolean },
  ): boolean {
    const commits = this.#ledgers.get(`${budget.namespace}/${budget.name}`) ?? [];
    for (const commit of commits.toReversed()) {
      if (commit.revision >= before || commit.at > at) continue;
      if (reservationsIn(commit.after).some((each) => each.uid === uid)) return true;
      if (ours(commit.user) || at - commit.at > noticed) return false;
    }
    return false;
  }

  #budget(commit: Commit): void {
    const key = `${commit.namespace}/${commit.name}`;
    const track = this.#budgets.get(key) ?? new Track<BudgetFacts>();
    this.#budgets.set(key, track);
    const known = track.at(commit.revision);
    const next = commit.after === undefined ? undefined : budgetFacts(commit.after);
    // A change that cannot be read leaves in force what was said before.
    const isKept = next?.rule === undefined && known?.rule !== undefined && known.uid === next?.uid;
    track.push(commit, isKept ? known : next);
  }
}

/** Reports whether `commit` is of a ledger. */
export function isLedger({ resource, name }: Pick<Commit, 'resource' | 'name'>): boolean {
  return resource === 'configmaps' && name.startsWith(ledgerPrefix);
}

/** Returns the namespace and name of the budget whose ledger `commit` wrote. */
export function budgetKey({ namespace, name }: Commit): string {
  return `${namespace}/${name.slice(ledgerPrefix.length)}`;
}

function sayingsIn(track: Track<BudgetFacts>, { at, before }: Lookout): Sayings {
  const since = after(at, millis(0 - noticed));
  const versions = [...track.back(before - 1, since)];
  const sayings = versions.map(({ value }) => value);
  const first = versions.at(-1);
  return first === undefined || first.from >= since ? [...sayings, undefined] : sayings;
}
