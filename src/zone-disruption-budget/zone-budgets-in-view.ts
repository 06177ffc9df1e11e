import type { Clock } from '#base/clock.ts';
import type { Monotonic } from '#base/units.ts';
import { FormerBudgets } from '#control/former-budgets.ts';
import { NamespaceReads } from '#control/namespace-reads.ts';
import { overlaid } from '#control/overlaid-read.ts';
import { WitnessedCreations } from '#control/witnessed-creations.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Change, Informer } from '#kubernetes/informer.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { labelsOf } from '#statefulset/pod-labels.ts';
import type { PodView } from '#statefulset/view.ts';
import { isSameSelector, mayOverlap } from './same-selectors.ts';
import { selects } from './selector.ts';
import { isSameSpec, selectorOf, type ZoneBudgetView, zoneBudgetView } from './zone-budget-view.ts';

type ByUid = ReadonlyMap<string, ZoneBudgetView>;

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

/**
 * The ZoneDisruptionBudgets that there are: what the cache shows, and where a list of ours is newer than the cache, that list
 * with every newer cached change over it, until the cache has reached it (D-49, D-51).
 */
export class ZoneBudgetsInView {
  readonly #ports: ZoneBudgetsInViewPorts;
  readonly #reads: NamespaceReads<ZoneBudgetView>;
  readonly #creations: WitnessedCreations;
  readonly #former: FormerBudgets<ZoneBudgetView>;
  readonly #handlers: (() => void)[] = [];
  /** By uid; of one whose spec is what it was, the view that was known first. */
  #known: ByUid = new Map();

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
      mayOverlap: (one, other) => mayOverlap(selectorOf(one), selectorOf(other)),
      isSameSelector: (one, other) =>
        other !== undefined && isSameSelector(selectorOf(one), selectorOf(other)),
    });
    informer.onChange((change) => this.#changed(change));
    informer.onState(() => this.#renew(true));
    this.#known = new Map([...informer.lister.list()].map((view) => [view.uid, view]));
  }

  /** When the request was sent that proves what is known of `namespace`; undefined while nothing does. */
  provenAt(namespace: string): Monotonic | undefined {
    this.#settle();
    return this.#reads.provenAt(namespace);
  }

  /** Whether anything tells which budgets `namespace` has, however long ago. */
  hasRead(namespace: string): boolean {
    return this.#reads.hasRead(namespace);
  }

  /** Makes the view new by a list of `namespace`. @throws as {@link NamespaceReads.look} */
  async look(namespace: string, signal: AbortSignal): Promise<void> {
    await this.#reads.look(namespace, signal);
    this.#settle();
  }

  /** All that are known, in no order that means anything: one object for each spec. */
  list(): readonly ZoneBudgetView[] {
    this.#settle();
    return [...this.#known.values()];
  }

  /** Those that select `pod`, in no order. */
  over(pod: PodView): readonly ZoneBudgetView[] {
    const labels = labelsOf(pod);
    return this.list().filter(
      (budget) => budget.namespace === pod.namespace && selects(selectorOf(budget), labels),
    );
  }

  /** The budget of this uid as it is now; undefined: it is gone. */
  get(uid: string): ZoneBudgetView | undefined {
    this.#settle();
    return this.#known.get(uid);
  }

  /**
   * Whether this process saw the budget being made, at most 10 s before `now`, and nothing can have been given away that it
   * governs: another one over the same pods has a ledger of its own.
   */
  sawCreation(uid: string, now: Monotonic): boolean {
    const budget = this.#known.get(uid);
    if (budget === undefined || !this.#creations.saw(uid, now)) return false;
    return !this.#former.precede(budget, [...this.#known.values()]);
  }

  /** When the budget came to select what another one may have given away; undefined: it has not. */
  tookOverAt(uid: string): Monotonic | undefined {
    return this.#former.tookOverAt(uid);
  }

  /** Calls `handler` after the specs that are known have changed, or whether anything is known. */
  onChange(handler: () => void): void {
    this.#handlers.push(handler);
  }

  #changed({ kind, object: view }: Change<ZoneBudgetView>): void {
    const { hasSynced, freshness } = this.#ports.informer;
    // While the cache is being listed nothing counts as seen: what a list shows may have been made at any time.
    if (kind === 'added' && hasSynced && freshness.seen !== undefined) this.#creations.added(view);
    this.#reads.settle();
    this.#renew();
  }

  /** Takes what lists have answered, and lets the cache alone count again where it has reached them. */
  #settle(): void {
    if (this.#reads.settle().size > 0) this.#renew();
  }

  #renew(isTold = false): void {
    const before = this.#known;
    const next = new Map(this.#views().map((view) => [view.uid, view]));
    for (const [uid, view] of next) {
      const known = before.get(uid);
      if (known !== undefined && isSameSpec(known, view)) next.set(uid, known);
    }
    this.#known = next;
    const isNews = this.#remember(before, next);
    if (isTold || isNews) for (const handler of this.#handlers) handler();
  }

  /** Remembers what became of those known `before`. @returns whether anything did */
  #remember(before: ByUid, next: ByUid): boolean {
    const left = [...before.values()].filter((view) => next.get(view.uid) !== view);
    for (const view of left) this.#former.left(view);
    const come = [...next.values()].filter((view) => before.get(view.uid) !== view);
    const known = [...next.values()];
    for (const view of come) this.#former.changed(view, before.get(view.uid), known);
    return left.length + come.length > 0;
  }

  /** What there is, one object a name. */
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
