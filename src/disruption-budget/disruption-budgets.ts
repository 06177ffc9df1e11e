/**
 * ZoneAwarePodDisruptionBudgets: what they say, which pods they are about, and what is wrong with them. Who is given what
 * is decided by `disruption/`, and stored by `control/`.
 */
import { assertNever } from '#base/assert-never.ts';
import type { Clock } from '#base/clock.ts';
import { getOrAdd } from '#base/get-or-add.ts';
import type { Logger } from '#base/logger.ts';
import type { Instant, Monotonic } from '#base/units.ts';
import type { BudgetProof } from '#control/budget/budget-sight.ts';
import type { GroupBudgets, WantedDisruption } from '#control/budget/group-budgets.ts';
import { type AskOptions, askLedger } from '#control/ledger/ask-ledger.ts';
import { type LeadingTerm, LedgerTerm } from '#control/ledger/ledger-term.ts';
import { type Budget, rolloutOverride } from '#disruption/budget.ts';
import type { DisruptionRequest } from '#disruption/decision/decide.ts';
import { permissionsOn, type Wanted } from '#disruption/decision/governance.ts';
import type { Permission } from '#disruption/decision/permission.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Informer } from '#kubernetes/informer/informer.ts';
import { parseGroupKey } from '#statefulset/group.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import type { RequestOutcome } from '#telemetry/metrics/budget-metrics.ts';
import type { BudgetsInView } from './cache/budgets-in-view.ts';
import { ambiguityText } from './eviction/ambiguity.ts';
import type { EvictionBudgets } from './eviction/eviction-budgets.ts';
import { JudgedEvictions } from './eviction/judged-evictions.ts';
import { allowedOutcome, outcomeOfDenial } from './eviction/request-outcome.ts';
import { BudgetLedgers } from './ledger/budget-ledgers.ts';
import type { GovernedSets } from './ledger/governed-sets.ts';
import type { Standings } from './ledger/standings.ts';
import type { Governing, KnownBudget } from './spec/known-budgets.ts';

/** What {@link DisruptionBudgets} go through; for as long as the process lives. */
export interface DisruptionBudgetPorts {
  readonly client: Client;
  /** The namespace that this process looks at; empty for all. */
  readonly namespace: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly pods: Pick<Informer<PodView>, 'lister'>;
  readonly statefulSets: Pick<Informer<StatefulSetView>, 'lister'>;
  readonly inView: BudgetsInView;
  readonly sets: GovernedSets;
  readonly standings: Standings;
  /** Called once where the Role permits no ledger to be stored, with the verb that it refuses. */
  readonly onLedgerRefused?: ((verb: string) => void) | undefined;
  /** Counts an answer to a rollout or a scale-down as one to an eviction. */
  count(outcome: RequestOutcome): void;
}

/**
 * The one authority for voluntary disruption (architecture rule 3): rollouts, scale-downs and evictions ask it, and it
 * gives away what the ledgers of the budgets have stored.
 */
export class DisruptionBudgets {
  /** The same for evictions. */
  readonly evictions: EvictionBudgets;
  /** Those that were asked. */
  readonly ledgers: Pick<BudgetLedgers, 'trouble'>;
  readonly #ports: DisruptionBudgetPorts;
  readonly #ledgers: BudgetLedgers;
  readonly #term: LedgerTerm;

  constructor(ports: DisruptionBudgetPorts) {
    const { client, clock, log, inView, sets, standings } = ports;
    this.#ports = ports;
    this.#ledgers = new BudgetLedgers({
      client,
      clock,
      log,
      standings,
      sawCreation: (uid, now) => this.#mayBegin(uid, now),
      tookOverAt: (uid) => inView.tookOverAt(uid),
      forget: (scope) => sets.forget(scope),
      prove: (scope, signal, since) => sets.prove(scope, signal, since),
      leader: (viewProvenAt) => this.#term.leader(viewProvenAt),
      begun: () => this.#term.begun(),
      onLedgerRefused: ports.onLedgerRefused,
    });
    this.#term = new LedgerTerm({
      clock,
      log,
      sawCreation: (uid) => inView.sawCreation(uid, clock.monotonic()),
    });
    this.ledgers = this.#ledgers;
    this.evictions = new JudgedEvictions({ ...ports, ledgers: this.#ledgers });
    inView.onChange(() => this.#budgetsChanged());
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

  /** Ends the writes that nothing asks for. */
  close(): void {
    this.#term.created.close();
    this.#ledgers.close();
  }

  /** Reports whether nothing can have been let go under the budget `uid` that its ledger would have. */
  #mayBegin(uid: string, now: Monotonic): boolean {
    if (this.#term.isFirst(now)) return true;
    return this.#term.mayBegin(now) && this.#ports.inView.sawCreation(uid, now);
  }

  #proof(key: string): BudgetProof {
    return this.#ports.inView.proof(parseGroupKey(key).namespace);
  }

  async #look(key: string, signal: AbortSignal): Promise<void> {
    await this.#ports.inView.look(parseGroupKey(key).namespace, signal);
  }

  judge(wanted: readonly WantedDisruption[], now: Instant): readonly Permission[] {
    const judged = new Map<WantedDisruption, Permission>();
    for (const { governing, asked } of this.#byBudget(wanted)) {
      const permissions = this.#permissions(governing, asked, now);
      for (const [index, one] of asked.entries()) {
        judged.set(one, permissions[index] ?? ungoverned);
      }
    }
    return wanted.map((one) => judged.get(one) ?? ungoverned);
  }

  async ask(wanted: readonly WantedDisruption[], signal: AbortSignal): Promise<void> {
    const { term } = this.#term;
    if (term === undefined) return;
    await Promise.all(
      this.#byBudget(wanted).map(async ({ governing, asked }) => {
        if (governing.kind !== 'one') return;
        const ledger = this.#ledgers.of(governing.budget, governing.spec);
        const requests = asked.map(
          ({ by, ...one }): DisruptionRequest => ({
            pod: one.pod,
            asking: { by, term },
            override: overrideOf(ledger.budget, { by, ...one }),
          }),
        );
        const prove: AskOptions['prove'] = (within, since) =>
          this.#ports.sets.prove(ledger.scope, within, since);
        for (const answer of await askLedger(ledger.ledger, requests, { prove, signal })) {
          if (answer.kind === 'allowed') this.#ports.count(allowedOutcome);
          if (answer.kind === 'denied') this.#ports.count(outcomeOfDenial(answer.denial));
        }
      }),
    );
  }

  /** Returns the same for the capability `name`: what others want and have under way by the same keys is not its own. */
  of(name: string): GroupBudgets {
    return {
      proof: (key) => this.#proof(key),
      look: (key, signal) => this.#look(key, signal),
      judge: (wanted, now) => this.judge(wanted, now),
      ask: (wanted, signal) => this.ask(wanted, signal),
      wants: (key, uids) => this.#term.intents.wants(name, key, uids),
      follow: (underWay) => this.#term.intents.follow(name, underWay),
    };
  }

  #permissions(
    governing: Governing,
    asked: readonly WantedDisruption[],
    now: Instant,
  ): readonly Permission[] {
    if (governing.kind === 'none') return asked.map(() => ungoverned);
    if (governing.kind === 'unclear') {
      const message = ambiguityText(governing);
      return asked.map(() => ({ kind: 'unclear', message, until: undefined }));
    }
    const { budget, ledger } = this.#ledgers.of(governing.budget, governing.spec);
    const questions = asked.map(
      (one): Wanted => ({
        pod: one.pod,
        by: one.by,
        override: overrideOf(budget, one),
      }),
    );
    return permissionsOn(ledger.moment(now), questions);
  }

  /** Returns each pod with what governs it; those of one budget together, in their order. */
  #byBudget(wanted: readonly WantedDisruption[]): readonly {
    readonly governing: Governing;
    readonly asked: readonly WantedDisruption[];
  }[] {
    const found = new Map<string, { governing: Governing; asked: WantedDisruption[] }>();
    for (const one of wanted) {
      const governing = this.#ports.inView.governing(one.pod);
      const key = keyOf(governing);
      getOrAdd(found, key, () => ({ governing, asked: [] })).asked.push(one);
    }
    return [...found.values()];
  }

  /**
   * Follows budgets that came, changed or went: closes the ledgers of those that are gone, and begins new ones where this
   * process leads.
   */
  #budgetsChanged(): void {
    const budgets = this.#ports.inView.list();
    for (const scope of this.#ledgers.retain(new Set(budgets.map(({ uid }) => uid)))) {
      this.#ports.sets.forget(scope);
    }
    const { isLeading } = this.#term;
    this.#term.created.retain(new Set(isLeading ? budgets.map(({ uid }) => uid) : []));
    if (!isLeading) return;
    for (const known of budgets) {
      if (known.spec === undefined) continue;
      this.#term.created.look(known, (signal) => this.#lookAtLedger(known, signal));
    }
  }

  /** Looks at the ledger of a budget as that is by then: it may have changed since, or gone. */
  async #lookAtLedger({ namespace, uid }: KnownBudget, signal: AbortSignal): Promise<void> {
    const { inView, sets, clock } = this.#ports;
    const known = inView.list(namespace).find((each) => each.uid === uid);
    if (known?.spec === undefined) return;
    const { ledger, scope } = this.#ledgers.of(known, known.spec);
    // Only a ledger that is begun is written.
    if (inView.sawCreation(uid, clock.monotonic())) await sets.prove(scope, signal);
    await ledger.look(signal);
  }
}

const ungoverned: Permission = { kind: 'ungoverned' };

function overrideOf({ mode }: Budget, { by, maxUnavailable }: WantedDisruption): number {
  // How many go at once is the down-scale's own to say: it only keeps out of the way of other zones.
  return by === 'scale-down' ? 1 : rolloutOverride(mode, maxUnavailable);
}

function keyOf(governing: Governing): string {
  switch (governing.kind) {
    case 'none':
      return '';
    case 'one':
      return governing.budget.uid;
    case 'unclear':
      return ambiguityText(governing);
    default:
      return assertNever(governing);
  }
}
