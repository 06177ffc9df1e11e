import type { Clock } from '#base/clock.ts';
import { maxDecisionAge } from '#control/consistent-read/basis.ts';
import { type AskOptions, askLedger } from '#control/ledger/ask-ledger.ts';
import { indexes } from '#control/watch/group-sets.ts';
import type { DisruptionRequest } from '#disruption/decision/decide.ts';
import { denialByView } from '#disruption/decision/governance.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Informer } from '#kubernetes/informer/informer.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import { selects } from '../api.ts';
import type { BudgetsInView } from '../cache/budgets-in-view.ts';
import type { BudgetLedger, BudgetLedgers } from '../ledger/budget-ledgers.ts';
import type { GovernedSets } from '../ledger/governed-sets.ts';
import type { Standings } from '../ledger/standings.ts';
import type { Governing } from '../spec/known-budgets.ts';
import { ambiguousVerdict } from './ambiguity.ts';
import type { EvictionBudgets, EvictionVerdict } from './eviction-budgets.ts';
import { PodOwners } from './pod-owner.ts';

type GoverningOne = Extract<Governing, { kind: 'one' }>;

/** What {@link JudgedEvictions} go through. */
export interface EvictionPorts {
  readonly client: Client;
  readonly clock: Pick<Clock, 'monotonic' | 'now'>;
  /** The namespace that this process looks at; empty for all. */
  readonly namespace: string;
  readonly pods: Pick<Informer<PodView>, 'lister'>;
  readonly statefulSets: Pick<Informer<StatefulSetView>, 'lister'>;
  readonly inView: BudgetsInView;
  readonly sets: GovernedSets;
  readonly standings: Standings;
  readonly ledgers: BudgetLedgers;
}

/** Evictions, as the budgets and their ledgers have them; the same on every replica. */
export class JudgedEvictions implements EvictionBudgets {
  readonly #ports: EvictionPorts;
  readonly #owners = new PodOwners();

  constructor(ports: EvictionPorts) {
    this.#ports = ports;
  }

  pod(namespace: string, name: string): PodView | undefined {
    return this.#ports.pods.lister.get(namespace, name);
  }

  mayGovern(namespace: string): boolean {
    const { inView, namespace: own } = this.#ports;
    if (own !== '' && own !== namespace) return false;
    return !this.#isFresh(namespace) || inView.list(namespace).length > 0;
  }

  governs(pod: PodView): boolean {
    return this.#ports.inView.governing(pod).kind !== 'none';
  }

  async judgeEviction(
    pod: PodView,
    { isDryRun }: { readonly isDryRun: boolean },
    signal: AbortSignal,
  ): Promise<EvictionVerdict> {
    const { inView } = this.#ports;
    if (!this.#isFresh(pod.namespace)) {
      // What is known may be enough to deny; a budget that is not seen yet governs all the same (D-51).
      const known = await this.#judged(pod, true, signal);
      if (known?.kind === 'denied') return known;
      await inView.look(pod.namespace, signal);
    }
    return (
      (await this.#judged(pod, isDryRun, signal)) ?? {
        kind: 'unclear',
        budget: undefined,
        why: changedEachTime,
        until: undefined,
      }
    );
  }

  /** Judges the eviction. @returns undefined when the budgets over the pod change each time that they are asked */
  async #judged(
    pod: PodView,
    isDryRun: boolean,
    signal: AbortSignal,
  ): Promise<EvictionVerdict | undefined> {
    const { inView } = this.#ports;
    for (let changes = 0; changes < mostChanges; changes += 1) {
      const governing = inView.governing(pod);
      if (governing.kind === 'none') {
        return { kind: 'not-governed', isSetGoverned: this.#isSetGoverned(pod) };
      }
      if (governing.kind === 'unclear') return ambiguousVerdict(governing);
      const verdict = await this.#verdict(pod, { governing, isDryRun }, signal);
      if (verdict !== undefined) return verdict;
    }
    return undefined;
  }

  /** Judges the eviction once. @returns undefined when the budgets over the pod have changed since */
  async #verdict(
    pod: PodView,
    { governing, isDryRun }: { readonly governing: GoverningOne; readonly isDryRun: boolean },
    signal: AbortSignal,
  ): Promise<EvictionVerdict | undefined> {
    const { client, clock, inView, ledgers, standings } = this.#ports;
    const ledger = ledgers.of(governing.budget, governing.spec);
    if (!this.#hasSet(pod)) {
      const { ref } = ledger.budget;
      const text = await this.#owners.problem(pod, client, signal);
      return text === undefined
        ? { kind: 'unclear', budget: ref, why: setNotSeen, until: undefined }
        : { kind: 'no-set', budget: ref, text };
    }
    const request: DisruptionRequest = { pod, asking: { by: 'eviction' }, isDryRun };
    // To ask for what the pods alone forbid costs no request, however often.
    const now = clock.now();
    const { standing } = standings.of(ledger.budget, ledger.scope, now);
    const denial = denialByView({ pod, by: 'eviction' }, standing, now);
    if (denial !== undefined) return { kind: 'denied', budget: ledger.budget.ref, denial };
    const isAsked = (): boolean => {
      const now = inView.governing(pod);
      return now.kind === 'one' && now.budget === governing.budget;
    };
    return this.#ask(ledger, request, { signal, isAsked });
  }

  /** Reports whether the view of the budgets is proven to be at most 10 s old, or they are no part of it. */
  #isFresh(namespace: string): boolean {
    const proof = this.#ports.inView.proof(namespace);
    if (proof.kind === 'not-permitted') return true;
    if (proof.kind === 'unproven') return false;
    return this.#ports.clock.monotonic() - proof.provenAt <= maxDecisionAge;
  }

  async #ask(
    ledger: BudgetLedger,
    request: DisruptionRequest,
    options: Omit<AskOptions, 'prove'>,
  ): Promise<EvictionVerdict | undefined> {
    const { ref: budget } = ledger.budget;
    const prove: AskOptions['prove'] = (signal, since) =>
      this.#ports.sets.prove(ledger.scope, signal, since);
    const [answer] = await askLedger(ledger.ledger, [request], { prove, ...options });
    switch (answer?.kind) {
      case 'outdated':
        return undefined;
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

  #hasSet(pod: PodView): boolean {
    return this.#setsOf(pod).length > 0;
  }

  #isSetGoverned(pod: PodView): boolean {
    const budgets = this.#ports.inView.list(pod.namespace);
    return this.#setsOf(pod).some(({ labels }) =>
      budgets.some(({ matchLabels }) => matchLabels && selects({ matchLabels }, labels)),
    );
  }

  #setsOf({ controllerUid }: PodView): readonly StatefulSetView[] {
    const { lister } = this.#ports.statefulSets;
    return controllerUid === undefined ? [] : lister.by(indexes.uid, controllerUid);
  }
}

/** How often the budgets over a pod may change while they are asked. */
const mostChanges = 5;

const changedEachTime =
  'the disruption budgets over the pod have changed each time that they were asked';

const setNotSeen = 'the StatefulSet that controls the pod has not been seen yet';

const notProven =
  'the view of the pods could not be proven to be fresh, as the cluster has changed each time';
