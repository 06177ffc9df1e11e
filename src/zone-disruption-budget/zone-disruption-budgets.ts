/**
 * ZoneDisruptionBudgets: what they select, how many pods of a zone may be away, and their status. Who is given what is
 * decided by `disruption/`, and stored by `control/`.
 */
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { seconds } from '#base/units.ts';
import { NodeZoneProofs } from '#control/consistent-read/node-zone-proofs.ts';
import { type LeadingTerm, LedgerTerm } from '#control/ledger/ledger-term.ts';
import type { PodZones } from '#control/watch/pod-zones.ts';
import type { WatchedPods } from '#control/watch/watched-pods.ts';
import { UnseenWrites } from '#control/write/unseen-writes.ts';
import type { Client } from '#kubernetes/client.ts';
import type { EventRecorder } from '#kubernetes/events/event-recorder.ts';
import type { Informer } from '#kubernetes/informer/informer.ts';
import { createWorkQueue } from '#kubernetes/queue/rate-limited-queue.ts';
import type { NodeView } from '#statefulset/parse-node.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import { NamespaceViews } from './cache/namespace-views.ts';
import type { ZoneBudgetView } from './cache/zone-budget-view.ts';
import { ZoneBudgetsInView } from './cache/zone-budgets-in-view.ts';
import { JudgedZoneEvictions } from './eviction/judged-evictions.ts';
import { JudgedZoneRollouts } from './ledger/judged-rollouts.ts';
import { ZoneLedgers } from './ledger/zone-ledgers.ts';
import { ZoneStandings } from './ledger/zone-standings.ts';
import { runZoneStatuses } from './status/run-zone-statuses.ts';
import { ZoneStatusWrites } from './status/zone-status-writes.ts';

const longestBackoff = seconds(30);

/** What {@link ZoneDisruptionBudgets} go through; for as long as the process lives. */
export interface ZoneDisruptionBudgetPorts {
  readonly client: Client;
  /** Where the ledgers are: the namespace of the operator (D-33). */
  readonly ledgerNamespace: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly budgets: Informer<ZoneBudgetView>;
  /** Which keeps the names of nodes, and is indexed by namespace. */
  readonly pods: Informer<PodView>;
  readonly statefulSets: Informer<StatefulSetView>;
  readonly nodes: Informer<NodeView>;
  /** Made of these caches: its handlers come before those of views, so that it remembers what a pod leaves behind. */
  readonly zones: PodZones;
  readonly watched: WatchedPods;
}

/**
 * What may be evicted under ZoneDisruptionBudgets is said here, on any replica: what is given away is in the ledger of
 * each budget by then. One replica leads: it alone begins the ledgers of new budgets, and writes their status.
 */
export class ZoneDisruptionBudgets {
  readonly evictions: JudgedZoneEvictions;
  /** The same for rollouts of this process. */
  readonly rollouts: JudgedZoneRollouts;
  readonly #clock: Clock;
  readonly #inView: ZoneBudgetsInView;
  readonly #views: NamespaceViews;
  readonly #standings: ZoneStandings;
  readonly #ledgers: ZoneLedgers;
  readonly #term: LedgerTerm;
  readonly #ports: ZoneDisruptionBudgetPorts;
  #onGiven: (budget: ZoneBudgetView) => void = () => undefined;

  constructor(ports: ZoneDisruptionBudgetPorts) {
    const { client, clock, log, pods, statefulSets, nodes, zones, watched } = ports;
    this.#clock = clock;
    this.#ports = ports;
    const inView = new ZoneBudgetsInView({ client, clock, informer: ports.budgets });
    const views = new NamespaceViews({ client, clock, pods, statefulSets });
    const standings = new ZoneStandings({ clock, views, zones, nodes, watched });
    this.#inView = inView;
    this.#views = views;
    this.#standings = standings;
    this.#ledgers = new ZoneLedgers({
      ...ports,
      inView,
      views,
      standings,
      sawCreation: (uid) => this.#mayBegin(uid),
      leader: (viewProvenAt) => this.#term.leader(viewProvenAt),
      begun: () => this.#term.begun(),
    });
    this.#term = new LedgerTerm({
      clock,
      log,
      sawCreation: (uid) => inView.sawCreation(uid, clock.monotonic()),
    });
    const shared = {
      clock,
      inView,
      views,
      standings,
      ledgers: this.#ledgers,
      nodeZones: new NodeZoneProofs({ client, clock, zones }),
      onGiven: (budget: ZoneBudgetView): void => this.#onGiven(budget),
    };
    this.evictions = new JudgedZoneEvictions({ ...shared, pods });
    this.rollouts = new JudgedZoneRollouts({
      ...shared,
      intents: this.#term.intents,
      term: () => this.#term.term,
    });
    inView.onChange((uids) => {
      if (uids === undefined) this.#budgetsChanged();
      else for (const uid of uids) this.#budgetChanged(uid);
    });
  }

  /** Notes that this process leads from now on, until {@link resign}. */
  lead(term: LeadingTerm): void {
    this.#term.lead(term);
    this.#budgetsChanged();
  }

  /** Notes that this process does not lead any more: it wants nothing, and ends no intent. */
  resign(): void {
    this.#term.resign();
  }

  /** Calls `wake` when what is known of budgets has changed. */
  onChange(wake: () => void): void {
    this.#inView.onChange(wake);
  }

  /**
   * Keeps the statuses up to date while this process leads, and says what is wrong with budgets, until `signal` aborts.
   *
   * @throws as {@link runZoneStatuses}
   */
  async keepStatuses(events: EventRecorder, signal: AbortSignal): Promise<void> {
    const { client, clock, budgets } = this.#ports;
    const queue = createWorkQueue({
      clock,
      name: 'zonedisruptionbudget',
      maxDelay: longestBackoff,
    });
    const unseen = new UnseenWrites(clock, budgets.freshness);
    await runZoneStatuses(
      {
        ...this.#ports,
        queue,
        inView: this.#inView,
        ledgers: this.#ledgers,
        standings: this.#standings,
        events,
        writes: new ZoneStatusWrites({ client, clock, unseen }),
        onGiven: (wake) => {
          this.#onGiven = wake;
        },
      },
      signal,
    );
  }

  /** Ends the writes that nothing asks for. */
  close(): void {
    this.#term.created.close();
    this.#ledgers.retain(new Set());
  }

  #mayBegin(uid: string): boolean {
    const now = this.#clock.monotonic();
    return this.#term.mayBegin(now) && this.#inView.sawCreation(uid, now);
  }

  /**
   * Follows budgets that came, changed or went: closes the ledgers of those that are gone, and begins new ones where this
   * process leads.
   */
  #budgetsChanged(): void {
    const budgets = this.#inView.list();
    const uids = new Set(budgets.map(({ uid }) => uid));
    this.#ledgers.retain(uids);
    this.#term.created.retain(this.#term.isLeading ? uids : new Set());
    for (const budget of budgets) this.#begin(budget);
  }

  /** Follows one budget that came, changed or went. */
  #budgetChanged(uid: string): void {
    const budget = this.#inView.get(uid);
    if (budget !== undefined) this.#begin(budget);
    else {
      this.#ledgers.forget(uid);
      this.#term.created.forget(uid);
    }
  }

  #begin(budget: ZoneBudgetView): void {
    if (!this.#term.isLeading || budget.parsed.kind === 'invalid') return;
    this.#term.created.look(budget, (signal) => this.#lookAtLedger(budget.uid, signal));
  }

  /** Looks at the ledger of a budget as that is by then: it may have changed since, or gone. */
  async #lookAtLedger(uid: string, signal: AbortSignal): Promise<void> {
    const budget = this.#inView.get(uid);
    if (budget?.parsed.kind !== 'valid') return;
    const ledger = this.#ledgers.of(budget, budget.parsed.spec);
    // Only a ledger that is begun is written.
    if (this.#inView.sawCreation(uid, this.#clock.monotonic())) {
      await this.#views.prove(budget.namespace, signal);
    }
    await ledger.look(signal);
  }
}
