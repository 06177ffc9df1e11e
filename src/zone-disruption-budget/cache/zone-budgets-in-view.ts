import type { Clock } from '#base/clock.ts';
import type { Monotonic } from '#base/units.ts';
import { FormerBudgets } from '#control/budget/former-budgets.ts';
import { WitnessedCreations } from '#control/budget/witnessed-creations.ts';
import { NamespaceReads } from '#control/consistent-read/namespace-reads.ts';
import { overlaid } from '#control/consistent-read/overlaid-read.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Change, Informer } from '#kubernetes/informer/informer.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { labelsOf } from '#statefulset/pod-labels.ts';
import type { PodView } from '#statefulset/view.ts';
import { isSameSelector, mayOverlap } from '../spec/same-selectors.ts';
import { selects } from '../spec/selector.ts';
import { OverlapIndex } from './overlap-index.ts';
import { isSameSpec, selectorOf, type ZoneBudgetView, zoneBudgetView } from './zone-budget-view.ts';

type ByUid = ReadonlyMap<string, ZoneBudgetView>;

/** Called with the uids of budgets whose spec may have changed, or that are gone; undefined: of any, or whether anything is known. */
export type OnBudgets = (uids: ReadonlySet<string> | undefined) => void;

/** What {@link ZoneBudgetsInView} go through. */
export interface ZoneBudgetsInViewPorts {
  readonly client: Client;
  readonly clock: Clock;
  /** What it has already is taken over. */
  readonly informer: Pick<
    Informer<ZoneBudgetView>,
    'hasSynced' | 'isAbsent' | 'absence' | 'lister' | 'freshness' | 'look' | 'onChange' | 'onState'
  >;
}

interface News {
  readonly left: readonly ZoneBudgetView[];
  readonly come: readonly ZoneBudgetView[];
  /** Whether a list of the cache shows them. */
  readonly isListed: boolean;
}

/**
 * The ZoneDisruptionBudgets that there are: what the cache shows, and where a list of ours is newer than the cache, that list
 * with every newer cached change over it, until the cache has reached it (D-49, D-51).
 */
export class ZoneBudgetsInView {
  readonly #ports: ZoneBudgetsInViewPorts;
  readonly #reads: NamespaceReads<ZoneBudgetView>;
  readonly #creations: WitnessedCreations;
  readonly #former: FormerBudgets<ZoneBudgetView>;
  readonly #handlers: OnBudgets[] = [];
  /** Keyed by uid; of one whose spec is what it was, the view that was known first. */
  #known = new Map<string, ZoneBudgetView>();
  /** Overlaps of all that are known. */
  readonly #overlaps = new OverlapIndex();
  /** Whether the cache, which is being listed, has shown what is not taken over yet: all of it is at once. */
  #isBehind = false;

  constructor(ports: ZoneBudgetsInViewPorts) {
    const { clock, informer } = ports;
    this.#ports = ports;
    this.#reads = new NamespaceReads({
      ...ports,
      type: resourceTypes.zoneDisruptionBudgets,
      project: zoneBudgetView,
    });
    this.#creations = new WitnessedCreations(clock);
    this.#former = new FormerBudgets<ZoneBudgetView>({
      clock,
      former: new OverlapIndex(),
      mayOverlap: (one, other) => mayOverlap(selectorOf(one), selectorOf(other)),
      isSameSelector: (one, other) =>
        other !== undefined && isSameSelector(selectorOf(one), selectorOf(other)),
    });
    informer.onChange((change) => this.#changed(change));
    informer.onState(() => this.#renew(true));
    this.#known = new Map([...informer.lister.list()].map((view) => [view.uid, view]));
    for (const view of this.#known.values()) this.#overlaps.add(view);
  }

  /** Returns when the request was sent that proves what is known of `namespace`; undefined while nothing does. */
  provenAt(namespace: string): Monotonic | undefined {
    this.#settle();
    return this.#reads.provenAt(namespace);
  }

  /** Reports whether anything says which budgets `namespace` has, however long ago. */
  hasRead(namespace: string): boolean {
    return this.#reads.hasRead(namespace);
  }

  /** Makes the view new by a list of `namespace`. @throws as {@link NamespaceReads.look} */
  async look(namespace: string, signal: AbortSignal): Promise<void> {
    await this.#reads.look(namespace, signal);
    this.#settle();
  }

  /** Returns all that are known, in no order that means anything: one object for each spec. */
  list(): readonly ZoneBudgetView[] {
    this.#settle();
    return [...this.#known.values()];
  }

  /** Returns those that select `pod`, in no order. */
  over(pod: PodView): readonly ZoneBudgetView[] {
    const labels = labelsOf(pod);
    return this.list().filter(
      (budget) => budget.namespace === pod.namespace && selects(selectorOf(budget), labels),
    );
  }

  /** Returns the budget of this uid as it is now; undefined: it is gone. */
  get(uid: string): ZoneBudgetView | undefined {
    this.#settle();
    return this.#known.get(uid);
  }

  /**
   * Reports whether this process saw the budget being made, at most 10 s before `now`, and nothing can have been given away
   * that it governs: another one over the same pods has a ledger of its own.
   */
  sawCreation(uid: string, now: Monotonic): boolean {
    const budget = this.#known.get(uid);
    if (budget === undefined || !this.#creations.saw(uid, now)) return false;
    return !this.#former.precede(budget, this.#overlaps.near(budget));
  }

  /** Returns when the budget came to select what another one may have given away; undefined: it has not. */
  tookOverAt(uid: string): Monotonic | undefined {
    return this.#former.tookOverAt(uid);
  }

  /** Calls `handler` after the specs that are known have changed, or whether anything is known. */
  onChange(handler: OnBudgets): void {
    this.#handlers.push(handler);
  }

  #changed({ kind, object: view }: Change<ZoneBudgetView>): void {
    const { hasSynced, freshness } = this.#ports.informer;
    // While the cache is being listed nothing counts as seen: what a list shows may have been made at any time.
    if (kind === 'added' && hasSynced && freshness.seen !== undefined) this.#creations.added(view);
    if (!hasSynced) {
      this.#isBehind = true;
      return;
    }
    const isSettled = this.#reads.settle().size === 0;
    if (isSettled && this.#reads.unshown(view.namespace) === undefined) this.#renewOne(kind, view);
    else this.#renew();
  }

  /** Takes what lists have answered, and lets the cache alone count again where it has reached them. */
  #settle(): void {
    if (this.#reads.settle().size > 0 || this.#isBehind) this.#renew();
  }

  /** Takes over a change of what the cache alone shows: thousands of budgets may change at once. */
  #renewOne(kind: Change<ZoneBudgetView>['kind'], view: ZoneBudgetView): void {
    const { uid } = view;
    const known = this.#known.get(uid);
    if (kind === 'deleted') this.#known.delete(uid);
    else if (known === undefined || !isSameSpec(known, view)) this.#known.set(uid, view);
    const next = this.#known.get(uid);
    if (next === known) return;
    const left = known === undefined ? [] : [known];
    const come = next === undefined ? [] : [next];
    this.#remember({ left, come, isListed: false });
    this.#tell(new Set([uid]));
  }

  #renew(isTold = false): void {
    const before: ByUid = this.#known;
    const isListed = this.#isBehind;
    this.#isBehind = false;
    const next = new Map(this.#views().map((view) => [view.uid, view]));
    for (const [uid, view] of next) {
      const known = before.get(uid);
      if (known !== undefined && isSameSpec(known, view)) next.set(uid, known);
    }
    this.#known = next;
    const left = [...before.values()].filter((view) => next.get(view.uid) !== view);
    const come = [...next.values()].filter((view) => before.get(view.uid) !== view);
    this.#remember({ left, come, isListed });
    const uids = new Set([...left, ...come].map(({ uid }) => uid));
    if (isTold || uids.size > 0) this.#tell(isTold ? undefined : uids);
  }

  /** Remembers what became of those that were known. */
  #remember({ left, come, isListed }: News): void {
    for (const view of left) {
      this.#overlaps.remove(view);
      this.#former.left(view);
    }
    // What a first list shows is not known to be new: only the later of two counts as having come to the other.
    if (!isListed) for (const view of come) this.#overlaps.add(view);
    const before = new Map(left.map((view) => [view.uid, view]));
    for (const view of come) {
      this.#former.changed(view, before.get(view.uid), this.#overlaps.near(view));
      this.#overlaps.add(view);
    }
  }

  #tell(uids: ReadonlySet<string> | undefined): void {
    for (const handler of this.#handlers) handler(uids);
  }

  /** Returns what there is, one object a name. */
  #views(): readonly ZoneBudgetView[] {
    const { lister } = this.#ports.informer;
    const byNamespace = Map.groupBy(lister.list(), ({ namespace }) => namespace);
    const read = this.#reads.namespaces();
    return [...new Set([...byNamespace.keys(), ...read])].flatMap((namespace) => {
      const cached = byNamespace.get(namespace) ?? [];
      const unshown = this.#reads.unshown(namespace);
      return unshown === undefined ? cached : overlaid(unshown, { cached, lister }).views;
    });
  }
}
