import type { Clock } from '#base/clock.ts';
import type { Monotonic } from '#base/units.ts';
import type { BudgetProof } from '#control/budget/budget-sight.ts';
import { FormerBudgets } from '#control/budget/former-budgets.ts';
import { WitnessedCreations } from '#control/budget/witnessed-creations.ts';
import { NamespaceReads } from '#control/consistent-read/namespace-reads.ts';
import { overlaid } from '#control/consistent-read/overlaid-read.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Change, Informer } from '#kubernetes/informer/informer.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { labelsOf } from '#statefulset/pod-labels.ts';
import type { PodView } from '#statefulset/view.ts';
import type { PatternCompiler } from '../pattern/pattern.ts';
import {
  type BudgetObservation,
  type Governing,
  type KnownBudget,
  KnownBudgets,
} from '../spec/known-budgets.ts';
import { isSameSelector, mayOverlap } from '../spec/same-selectors.ts';
import { type BudgetView, budgetView } from './budget-view.ts';

/** What {@link BudgetsInView} go through. */
export interface BudgetsInViewPorts {
  readonly client: Client;
  readonly clock: Clock;
  /** What it has already is taken over. */
  readonly informer: Pick<
    Informer<BudgetView>,
    'hasSynced' | 'isAbsent' | 'absence' | 'lister' | 'freshness' | 'look' | 'onChange' | 'onState'
  >;
  /** Reports whether the Role permits listing budgets; what it does not is no part of the view (D-51). */
  isPermitted(): boolean;
  readonly compile: PatternCompiler;
  /** Called for each object of the cache, and for what is new in a list of ours. */
  onObserved?(observation: BudgetObservation): void;
}

/**
 * The ZoneAwarePodDisruptionBudgets that there are: what the cache shows, and where a list of ours is newer than the cache,
 * that list with every newer cached change over it, until the cache has reached it (D-49): also what is gone counts at once.
 * The type may be installed, and taken away, while the operator runs.
 */
export class BudgetsInView {
  readonly #ports: BudgetsInViewPorts;
  readonly #known: KnownBudgets;
  readonly #reads: NamespaceReads<BudgetView>;
  readonly #creations: WitnessedCreations;
  readonly #former: FormerBudgets<KnownBudget>;
  readonly #handlers: (() => void)[] = [];

  constructor(ports: BudgetsInViewPorts) {
    this.#ports = ports;
    this.#known = new KnownBudgets(ports.compile);
    this.#reads = new NamespaceReads({
      ...ports,
      type: resourceTypes.zoneAwarePodDisruptionBudgets,
      project: budgetView,
    });
    this.#creations = new WitnessedCreations(ports.clock);
    this.#former = new FormerBudgets({ clock: ports.clock, mayOverlap, isSameSelector });
    const { informer } = ports;
    for (const view of informer.lister.list()) this.#known.put(view.object);
    informer.onChange((change) => this.#changed(change));
    informer.onState(() => {
      this.#settle();
      this.#tell();
    });
  }

  /** Returns how old the view of the budgets of `namespace` is. A server without the type proves that there are none. */
  proof(namespace: string): BudgetProof {
    if (!this.#ports.isPermitted()) return { kind: 'not-permitted' };
    this.#settle();
    const provenAt = this.#reads.provenAt(namespace);
    return provenAt === undefined ? { kind: 'unproven' } : { kind: 'proven', provenAt };
  }

  /**
   * Makes the view new by a list of `namespace`; all share one request who ask before it is sent. What was asked for is
   * remembered by namespace: only those may be named in which this process knows pods or sets, none that a request names. What the
   * Role does not permit is not asked for.
   *
   * @throws what the list fails with; RevisionWentBackError when the answer is older than what had been seen (D-6); the
   * reason of `signal` when that aborts first
   */
  async look(namespace: string, signal: AbortSignal): Promise<void> {
    if (!this.#ports.isPermitted()) return;
    await this.#reads.look(namespace, signal);
    this.#settle();
  }

  /** Tells which budget governs `pod`, by the labels that the pod itself has now, whatever its template says. */
  governing(pod: PodView): Governing {
    if (!this.#ports.isPermitted()) return { kind: 'none' };
    this.#settle();
    const { namespace } = pod;
    if (!this.#reads.hasRead(namespace)) return { kind: 'unclear', budgets: [], text: notRead };
    return this.#known.governing(namespace, labelsOf(pod));
  }

  /** Returns the budgets of `namespace`, or all of them; in no order that means anything. */
  list(namespace?: string): readonly KnownBudget[] {
    if (!this.#ports.isPermitted()) return [];
    this.#settle();
    const all = this.#known.list();
    return namespace === undefined ? all : all.filter((budget) => budget.namespace === namespace);
  }

  /**
   * Reports whether this process saw the budget `uid` being made, at most 10 s before `now`, and nothing can have been given
   * away that it governs; see {@link WitnessedCreations}. Another budget may have done so that is there, or lately was: that
   * one has a ledger of its own.
   */
  sawCreation(uid: string, now: Monotonic): boolean {
    return this.#creations.saw(uid, now) && !this.#followsAnother(uid);
  }

  /**
   * Returns when the selector of the budget `uid` was changed last to pods that another one may have given away; undefined:
   * never.
   */
  tookOverAt(uid: string): Monotonic | undefined {
    return this.#former.tookOverAt(uid);
  }

  #followsAnother(uid: string): boolean {
    const known = this.#known.list();
    const budget = known.find((each) => each.uid === uid);
    return budget !== undefined && this.#former.precede(budget, known);
  }

  /** Calls `handler` after what is known has changed, or whether anything is known. */
  onChange(handler: () => void): void {
    this.#handlers.push(handler);
  }

  #changed(change: Change<BudgetView>): void {
    const { kind, object: view } = change;
    const { hasSynced, freshness } = this.#ports.informer;
    // While the cache is being listed nothing counts as seen: what a list shows may have been made at any time.
    if (kind === 'added' && hasSynced && freshness.seen !== undefined) this.#creations.added(view);
    this.#settle();
    const isNews =
      this.#reads.unshown(view.namespace) === undefined
        ? this.#followed(change)
        : this.#renew(view.namespace);
    if (isNews) this.#tell();
  }

  /** Takes a change as the cache shows it. @returns whether it is new */
  #followed({ kind, object: view }: Change<BudgetView>): boolean {
    const { namespace, name, object } = view;
    const before = this.#known.get(namespace, name);
    const observation = kind === 'deleted' ? this.#known.remove(object) : this.#known.put(object);
    this.#ports.onObserved?.(observation);
    return this.#isNews(view, before);
  }

  /** Reports whether more is known of a budget than `before`, which is remembered then. */
  #isNews({ namespace, name }: BudgetView, before: KnownBudget | undefined): boolean {
    const known = this.#known.get(namespace, name);
    if (known === before) return false;
    if (before !== undefined) this.#former.left(before);
    if (known?.uid === before?.uid) this.#former.changed(known, before, this.#known.list());
    return true;
  }

  /** Takes what lists have answered, and lets the cache alone count again where it has reached them. */
  #settle(): void {
    let isNews = false;
    for (const namespace of this.#reads.settle()) isNews = this.#renew(namespace) || isNews;
    if (isNews) this.#tell();
  }

  /** Knows of `namespace` what there is now. @returns whether that is new */
  #renew(namespace: string): boolean {
    const views = this.#viewsOf(namespace);
    const uids = new Set(views.map(({ uid }) => uid));
    let isNews = false;
    for (const known of this.#known.list()) {
      const { namespace: own, name, uid } = known;
      if (own !== namespace || uids.has(uid)) continue;
      this.#former.left(known);
      const observation = this.#known.remove({ metadata: { namespace, name, uid } });
      this.#ports.onObserved?.(observation);
      isNews = true;
    }
    for (const view of views) {
      const before = this.#known.get(namespace, view.name);
      const observation = this.#known.put(view.object);
      if (!this.#isNews(view, before)) continue;
      this.#ports.onObserved?.(observation);
      isNews = true;
    }
    return isNews;
  }

  #viewsOf(namespace: string): readonly BudgetView[] {
    const { lister } = this.#ports.informer;
    const cached = [...lister.list()].filter((view) => view.namespace === namespace);
    const read = this.#reads.unshown(namespace);
    return read === undefined ? cached : overlaid(read, { cached, lister }).views;
  }

  #tell(): void {
    for (const handler of this.#handlers) handler();
  }
}

const notRead = 'ZoneAwarePodDisruptionBudgets cannot be read yet, and one might govern this pod';
