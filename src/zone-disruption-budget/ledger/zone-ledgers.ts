import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import type { Monotonic } from '#base/units.ts';
import { DisruptionLedger } from '#control/ledger/disruption-ledger.ts';
import { LedgerStore } from '#control/ledger/ledger-store.ts';
import { RefusedLedgers } from '#control/ledger/refused-ledgers.ts';
import { LoggedFailures } from '#control/write/logged-failures.ts';
import type { Begun } from '#disruption/decision/decide.ts';
import type { Leader } from '#disruption/release.ts';
import type { Client } from '#kubernetes/client.ts';
import { type ZoneBudgetSpec, zoneLedgerName } from '../api.ts';
import type { NamespaceViews } from '../cache/namespace-views.ts';
import type { ZoneBudgetView } from '../cache/zone-budget-view.ts';
import type { ZoneBudgetsInView } from '../cache/zone-budgets-in-view.ts';
import { selectorText } from '../spec/same-selectors.ts';
import type { ZoneStandings } from './zone-standings.ts';

/** What {@link ZoneLedgers} go through. */
export interface ZoneLedgerPorts {
  readonly client: Client;
  /** Where the ledgers are: the namespace of the operator (D-33). */
  readonly ledgerNamespace: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly inView: Pick<ZoneBudgetsInView, 'tookOverAt'>;
  readonly views: Pick<NamespaceViews, 'prove'>;
  readonly standings: Pick<ZoneStandings, 'of'>;
  /** Reports whether this process may begin the ledger of a budget, as it saw that being made. */
  sawCreation(uid: string): boolean;
  leader(viewProvenAt: Monotonic | undefined): Leader | undefined;
  /** Returns the disruptions of this process that are under way. */
  begun(): readonly Begun[];
}

interface Kept {
  /** As it is now: what it says may change under one ledger. */
  current: { readonly budget: ZoneBudgetView; readonly spec: ZoneBudgetSpec };
  readonly ledger: DisruptionLedger;
}

/** The ledgers of all budgets that this process was asked about, one for each uid. */
export class ZoneLedgers {
  readonly #ports: ZoneLedgerPorts;
  readonly #refused: RefusedLedgers;
  readonly #byUid = new Map<string, Kept>();

  constructor(ports: ZoneLedgerPorts) {
    this.#ports = ports;
    this.#refused = new RefusedLedgers(ports.log);
  }

  /** Returns the ledger of `budget`, which says `spec`. */
  of(budget: ZoneBudgetView, spec: ZoneBudgetSpec): DisruptionLedger {
    const kept = this.#byUid.get(budget.uid) ?? this.#opened({ budget, spec });
    kept.current = { budget, spec };
    return kept.ledger;
  }

  /** Closes the ledgers of budgets that are gone. */
  retain(uids: ReadonlySet<string>): void {
    for (const uid of this.#byUid.keys()) if (!uids.has(uid)) this.forget(uid);
  }

  /** Closes the ledger of the budget `uid`, which is gone. */
  forget(uid: string): void {
    this.#byUid.get(uid)?.ledger.close();
    this.#byUid.delete(uid);
  }

  #opened(current: Kept['current']): Kept {
    const ports = this.#ports;
    const { clock, ledgerNamespace } = ports;
    const { namespace, name: budget, uid } = current.budget;
    const name = zoneLedgerName({ namespace, name: budget });
    const object = `ConfigMap ${ledgerNamespace}/${name}`;
    const failures = new LoggedFailures(ports.log, object);
    const ledger = new DisruptionLedger({
      clock,
      map: new LedgerStore({
        client: ports.client,
        key: { namespace: ledgerNamespace, name },
        term: () => ports.leader(undefined)?.term,
        onRefused: (refusal) => this.#refused.refused(refusal),
      }),
      object,
      budget: { kind: 'ZoneDisruptionBudget', namespace, name: budget, uid },
      sawCreation: () => ports.sawCreation(uid),
      bearing: () => ({
        tookOverAt: ports.inView.tookOverAt(uid),
        binding: bindingOf(kept.current.spec),
      }),
      view: (now) => ports.standings.of(kept.current.budget, kept.current.spec, now),
      prove: (signal, since) => ports.views.prove(namespace, signal, since),
      leader: (viewProvenAt) => ports.leader(viewProvenAt),
      begun: () => ports.begun(),
      onTidied: (failure) => failures.ended(failure),
    });
    const kept: Kept = { current, ledger };
    this.#byUid.set(uid, kept);
    return kept;
  }
}

/** Returns which pods a budget binds, and whether: what goes while it does not is in no ledger. */
function bindingOf({ selector, isDryRun }: ZoneBudgetSpec): string {
  return `${isDryRun ? 'dry run ' : ''}${selectorText(selector)}`;
}
