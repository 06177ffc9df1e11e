import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import type { Instant, Monotonic } from '#base/units.ts';
import {
  DisruptionLedger,
  type DisruptionLedgerOptions,
} from '#control/ledger/disruption-ledger.ts';
import { LedgerStore } from '#control/ledger/ledger-store.ts';
import { RefusedLedgers } from '#control/ledger/refused-ledgers.ts';
import { type SetScope, selectorOf } from '#control/watch/group-sets.ts';
import { LoggedFailures } from '#control/write/logged-failures.ts';
import type { Budget } from '#disruption/budget.ts';
import type { Begun } from '#disruption/decision/decide.ts';
import type { Leader } from '#disruption/release.ts';
import type { Client } from '#kubernetes/client.ts';
import type { BudgetSpec } from '../api.ts';
import { ledgerName } from '../api.ts';
import type { KnownBudget } from '../spec/known-budgets.ts';
import { judgedBudget } from './judged-budget.ts';
import type { Standings } from './standings.ts';

/** What {@link BudgetLedgers} go through. */
export interface BudgetLedgerPorts {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly standings: Pick<Standings, 'of'>;
  /** Reports whether this process saw the budget being made just now. */
  sawCreation(uid: string, now: Monotonic): boolean;
  /** Returns when the budget came to select what another one may have given away; undefined: it has not. */
  tookOverAt(uid: string): Monotonic | undefined;
  /** Has the view of the sets of `scope` proven again. */
  prove(scope: SetScope, signal: AbortSignal, since: Monotonic | undefined): Promise<void>;
  /** Forgets the sets of `scope`, which no caller uses any more. */
  forget(scope: SetScope): void;
  leader(viewProvenAt: Monotonic | undefined): Leader | undefined;
  begun(): readonly Begun[];
  /** Called once where the Role permits no ledger to be stored, with the verb that it refuses. */
  readonly onLedgerRefused?: ((verb: string) => void) | undefined;
}

/** A budget that can be judged by, and its ledger. */
export interface BudgetLedger {
  readonly budget: Budget;
  readonly scope: SetScope;
  readonly ledger: DisruptionLedger;
}

interface Kept {
  /** As it is now: its limit may change under one ledger. */
  current: { readonly budget: Budget; readonly scope: SetScope };
  readonly ledger: DisruptionLedger;
}

/** The ledgers of all budgets that this process was asked about, one for each uid. */
export class BudgetLedgers {
  readonly #ports: BudgetLedgerPorts;
  readonly #refused: RefusedLedgers;
  readonly #byUid = new Map<string, Kept>();

  constructor(ports: BudgetLedgerPorts) {
    this.#ports = ports;
    this.#refused = new RefusedLedgers(ports.log, ports.onLedgerRefused);
  }

  /** Returns the ledger of `known`, which says `spec`. */
  of(known: KnownBudget, spec: BudgetSpec): BudgetLedger {
    const budget = judgedBudget(known, spec);
    const scope = { namespace: known.namespace, matchLabels: spec.matchLabels };
    const kept = this.#byUid.get(known.uid) ?? this.#opened({ budget, scope });
    if (kept.current.budget !== budget) {
      if (selectorOf(kept.current.scope) !== selectorOf(scope))
        this.#ports.forget(kept.current.scope);
      kept.current = { budget, scope };
    }
    return { ...kept.current, ledger: kept.ledger };
  }

  /** Closes the ledgers of budgets that are gone, and says which sets nothing looks at any more. */
  retain(uids: ReadonlySet<string>): readonly SetScope[] {
    const gone = [...this.#byUid].filter(([uid]) => !uids.has(uid));
    for (const [uid, { ledger }] of gone) {
      ledger.close();
      this.#byUid.delete(uid);
    }
    return gone.map(([, { current }]) => current.scope);
  }

  /** Returns why it is unknown what is given away under the budget `uid`; undefined while that is known, or was not asked yet. */
  trouble(uid: string): string | undefined {
    return this.#byUid.get(uid)?.ledger.trouble();
  }

  close(): void {
    this.retain(new Set());
  }

  #opened(current: Kept['current']): Kept {
    const ports = this.#ports;
    const { client, clock, log, standings } = ports;
    const { ref } = current.budget;
    const name = ledgerName(ref.name);
    const object = `ConfigMap ${ref.namespace}/${name}`;
    const failures = new LoggedFailures(log, object);
    const options: DisruptionLedgerOptions = {
      clock,
      map: new LedgerStore({
        client,
        key: { namespace: ref.namespace, name },
        term: () => ports.leader(undefined)?.term,
        onRefused: (refusal) => this.#refused.refused(refusal),
      }),
      object,
      budget: ref,
      sawCreation: () => ports.sawCreation(ref.uid, clock.monotonic()),
      bearing: () => ({ tookOverAt: ports.tookOverAt(ref.uid), binding: undefined }),
      view: (now: Instant) => standings.of(kept.current.budget, kept.current.scope, now),
      prove: (signal, since) => ports.prove(kept.current.scope, signal, since),
      leader: (viewProvenAt) => ports.leader(viewProvenAt),
      begun: () => ports.begun(),
      onTidied: (failure) => failures.ended(failure),
    };
    const kept: Kept = { current, ledger: new DisruptionLedger(options) };
    this.#byUid.set(ref.uid, kept);
    return kept;
  }
}
