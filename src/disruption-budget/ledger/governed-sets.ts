import type { Clock } from '#base/clock.ts';
import { getOrAdd } from '#base/get-or-add.ts';
import { type Millis, type Monotonic, millis, monotonic, seconds } from '#base/units.ts';
import {
  maxDecisionAge,
  type SetProof,
  type TypeBasis,
  ViewNotReadError,
} from '#control/consistent-read/basis.ts';
import { ConsistentReads, type ReadWish } from '#control/consistent-read/consistent-reads.ts';
import { SharedRounds } from '#control/consistent-read/shared-rounds.ts';
import {
  type GroupListers,
  type SetScope,
  type SetSnapshot,
  selectorOf,
} from '#control/watch/group-sets.ts';
import type { LeftPod } from '#disruption/snapshot.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Informer } from '#kubernetes/informer/informer.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import { LeftPods } from './left-pods.ts';

/** What {@link GovernedSets} go through; the caches for as long as the process lives. */
export interface GovernedSetPorts {
  readonly client: Client;
  readonly clock: Clock;
  readonly pods: Pick<Informer<PodView>, 'lister' | 'freshness' | 'onChange'>;
  readonly statefulSets: Pick<Informer<StatefulSetView>, 'lister' | 'freshness' | 'onChange'>;
}

/** The sets of a scope at one instant. */
export interface GovernedView {
  /** Sorted by name, with their pods. The same objects while they are as they were. */
  readonly sets: readonly SetSnapshot[];
  /** Pods of sets that were deleted. */
  readonly left: readonly LeftPod[];
  /** When the request was sent that proves the oldest part; undefined while a part is not proven. */
  readonly provenAt: Monotonic | undefined;
}

/** What a proof may be old at the most for a read not to be worth while: then the decision has as much time left. */
const freshEnough: Millis = millis(maxDecisionAge / 2);

const never = monotonic(Number.NEGATIVE_INFINITY);

/** Longest time that a view is waited for. */
const patience: Millis = seconds(5);

function notRead(scope: SetScope): ViewNotReadError {
  const labels = selectorOf(scope);
  const which = labels === '' ? '' : ` with labels "${labels}"`;
  const view = `the StatefulSets of namespace "${scope.namespace}"${which} and their pods are`;
  return new ViewNotReadError(view, patience);
}

/** What a view was made from: while that is the same, so is the view. */
type Stamp = readonly unknown[];

interface Kept {
  readonly stamp: Stamp;
  readonly proof: SetProof;
  readonly view: GovernedView;
}

/**
 * The sets under a budget with their pods, as they are at this instant (D-49): the caches, and where a consistent read is
 * newer, that. One for the whole process; every replica answers evictions, and reads for itself what it must know.
 */
export class GovernedSets {
  readonly #ports: GovernedSetPorts;
  readonly #listers: GroupListers;
  readonly #reads: ConsistentReads;
  readonly #rounds: SharedRounds;
  /** What the round of a scope is to read that is not sent yet. */
  readonly #wishes = new Map<string, ReadWish>();
  readonly #views = new Map<string, Kept>();
  readonly #left: LeftPods;
  /** How often the caches have changed. They also change while they are listed again, when nothing counts as seen. */
  #changes = 0;
  /** Reads that have ended. */
  #answers = 0;

  constructor(ports: GovernedSetPorts) {
    const { client, clock, pods, statefulSets } = ports;
    this.#ports = ports;
    this.#listers = { statefulSets: statefulSets.lister, pods: pods.lister };
    const freshness = { pods: pods.freshness, statefulSets: statefulSets.freshness };
    this.#reads = new ConsistentReads({ client, clock, ...freshness });
    this.#rounds = new SharedRounds(clock);
    this.#left = new LeftPods({ pods, statefulSets });
    const changed = (): void => {
      this.#changes += 1;
    };
    pods.onChange(changed);
    statefulSets.onChange(changed);
  }

  /** Returns the sets of `scope` as they are known now; nothing is awaited or asked for. */
  view(scope: SetScope): GovernedView {
    return this.#now(scope).view;
  }

  /**
   * Reads what of `scope` is not proven by a request of the last 5 s, in 5 s at most. All share a read who ask before it is
   * sent; one that is under way is not joined.
   *
   * @param since the proof must be younger than this, too
   *
   * @throws what a list throws, with it RevisionWentBackError when an answer is older than what had been seen (D-6), after
   * which no cache can be trusted, and LaggingReadError when it is older than what we had written
   * @throws ViewNotReadError when the time is over; the reason of `signal` when that aborts first
   */
  async prove(scope: SetScope, signal: AbortSignal, since?: Monotonic): Promise<void> {
    const wish = this.#wish(scope, since);
    if (!wish.pods && !wish.statefulSets) return;
    const key = keyOf(scope);
    const others = getOrAdd(this.#wishes, key, () => wish);
    this.#wishes.set(key, {
      pods: others.pods || wish.pods,
      statefulSets: others.statefulSets || wish.statefulSets,
    });
    await this.#within(scope, signal, (bounded) =>
      this.#rounds.join(key, (shared, sent) => this.#read(scope, shared, sent), bounded),
    );
  }

  /** Forgets the budget over `scope`, which is gone, or has other labels. */
  forget(scope: SetScope): void {
    const key = keyOf(scope);
    this.#reads.forget(scope);
    this.#wishes.delete(key);
    this.#views.delete(key);
  }

  #now(scope: SetScope): Kept {
    const key = keyOf(scope);
    const stamp = this.#stamp();
    const known = this.#views.get(key);
    if (known?.stamp.every((part, index) => part === stamp[index]) === true) return known;
    const { sets, proof } = this.#reads.over(scope, this.#listers);
    const kept = {
      stamp,
      proof,
      view: { sets, left: this.#left.of(scope), provenAt: provenAtOf(proof, sets) },
    };
    this.#views.set(key, kept);
    return kept;
  }

  /** Returns what of `scope` is to be read for it to be fresh enough. */
  #wish(scope: SetScope, since: Monotonic = never): ReadWish {
    const { proof } = this.#now(scope);
    const youngest = Math.max(since, this.#ports.clock.monotonic() - freshEnough);
    const isOld = (basis: TypeBasis | undefined): boolean =>
      basis === undefined || basis.provenAt < youngest;
    return { pods: isOld(proof.pods), statefulSets: isOld(proof.statefulSets) };
  }

  async #read(scope: SetScope, signal: AbortSignal, sent: () => void): Promise<void> {
    // What asks in the same turn of the event loop shares the read.
    await this.#ports.clock.yield();
    const key = keyOf(scope);
    const wish = this.#wishes.get(key) ?? { pods: true, statefulSets: true };
    this.#wishes.delete(key);
    sent();
    // Where one list fails, the others are given up.
    const ended = new AbortController();
    const cached = this.view(scope).sets.map(({ set }) => set);
    try {
      const either = AbortSignal.any([signal, ended.signal]);
      await this.#reads.read(scope, { wish, cached }, either);
    } finally {
      this.#answers += 1;
      ended.abort();
    }
  }

  async #within(
    scope: SetScope,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const late = new AbortController();
    const owner = 'read of sets under a budget';
    const timer = this.#ports.clock.timer(patience, () => late.abort(notRead(scope)), {
      owner,
    });
    try {
      await work(AbortSignal.any([signal, late.signal]));
    } finally {
      timer.cancel();
    }
  }

  #stamp(): Stamp {
    const parts = [this.#ports.pods, this.#ports.statefulSets].flatMap(({ freshness }) => [
      freshness.seen,
      freshness.highest,
      freshness.proof,
    ]);
    return [this.#changes, this.#answers, ...parts];
  }
}

function provenAtOf(
  { pods, statefulSets }: SetProof,
  sets: readonly SetSnapshot[],
): Monotonic | undefined {
  // Where there is no set, no pod has to be seen.
  if (sets.length === 0) return statefulSets?.provenAt;
  if (pods === undefined || statefulSets === undefined) return undefined;
  return monotonic(Math.min(pods.provenAt, statefulSets.provenAt));
}

/** Not the selector: two budgets can have labels that no object can have, and one selector. */
function keyOf({ namespace, matchLabels }: SetScope): string {
  return JSON.stringify([namespace, ...[...matchLabels].toSorted(byLabel)]);
}

type Label = readonly [name: string, value: string];

function byLabel([one]: Label, [other]: Label): number {
  return one < other ? -1 : 1;
}
