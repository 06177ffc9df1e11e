import { indexes } from '#control/group-sets.ts';
import type { DisruptionRequest } from '#disruption/decide.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Informer } from '#kubernetes/informer.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import { ambiguousVerdict } from './ambiguity.ts';
import { askLedger } from './ask-ledger.ts';
import type { BudgetLedger, BudgetLedgers } from './budget-ledgers.ts';
import type { BudgetsInView } from './budgets-in-view.ts';
import type { EvictionBudgets, EvictionVerdict } from './eviction-budgets.ts';
import type { GovernedSets } from './governed-sets.ts';
import { ownerProblem } from './pod-owner.ts';

/** What {@link JudgedEvictions} go through. */
export interface EvictionPorts {
  readonly client: Client;
  readonly pods: Pick<Informer<PodView>, 'lister'>;
  readonly statefulSets: Pick<Informer<StatefulSetView>, 'lister'>;
  readonly inView: BudgetsInView;
  readonly sets: GovernedSets;
  readonly ledgers: BudgetLedgers;
}

/** Evictions, as the budgets and their ledgers have them; the same on every replica. */
export class JudgedEvictions implements EvictionBudgets {
  readonly #ports: EvictionPorts;

  constructor(ports: EvictionPorts) {
    this.#ports = ports;
  }

  pod(namespace: string, name: string): PodView | undefined {
    return this.#ports.pods.lister.get(namespace, name);
  }

  mayGovern(namespace: string): boolean {
    const { inView } = this.#ports;
    return inView.proof(namespace).kind === 'unproven' || inView.list(namespace).length > 0;
  }

  async judgeEviction(
    pod: PodView,
    { isDryRun }: { readonly isDryRun: boolean },
    signal: AbortSignal,
  ): Promise<EvictionVerdict> {
    const { client, inView, ledgers } = this.#ports;
    const governing = inView.governing(pod);
    if (governing.kind === 'none') return { kind: 'not-governed' };
    if (governing.kind === 'unclear') return ambiguousVerdict(governing);
    const ledger = ledgers.of(governing.budget, governing.spec);
    if (!this.#hasSet(pod)) {
      const { ref } = ledger.budget;
      const text = await ownerProblem(pod, client, signal);
      return text === undefined
        ? { kind: 'unclear', budget: ref, why: setNotSeen, until: undefined }
        : { kind: 'no-set', budget: ref, text };
    }
    return this.#ask(ledger, { pod, asking: { by: 'eviction' }, isDryRun }, signal);
  }

  async #ask(
    ledger: BudgetLedger,
    request: DisruptionRequest,
    signal: AbortSignal,
  ): Promise<EvictionVerdict> {
    const { sets } = this.#ports;
    const { ref: budget } = ledger.budget;
    const [answer] = await askLedger(ledger, [request], { sets, signal });
    switch (answer?.kind) {
      case 'allowed':
        return { kind: 'allowed', budget, isRepeated: answer.isRepeated };
      case 'denied':
        return { kind: 'denied', budget, denial: answer.denial };
      case 'unclear':
        return { kind: 'unclear', budget, why: answer.why, until: answer.until };
      default:
        return { kind: 'unclear', budget, why: notProven, until: undefined };
    }
  }

  #hasSet({ controllerUid }: PodView): boolean {
    const { lister } = this.#ports.statefulSets;
    return controllerUid !== undefined && lister.by(indexes.uid, controllerUid).length > 0;
  }
}

const setNotSeen = 'the StatefulSet that controls the pod has not been seen yet';

const notProven =
  'the view of the pods could not be proven to be fresh, as the cluster has changed each time';
