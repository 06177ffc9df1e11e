import { BudgetsInView } from '#disruption-budget/cache/budgets-in-view.ts';
import { compilePattern } from '#disruption-budget/pattern/compile-pattern.ts';
import type { BudgetObservation } from '#disruption-budget/spec/known-budgets.ts';
import type { PodView } from '#statefulset/view.ts';
import { podView, T0 } from '../objects/views.ts';
import { BudgetServer } from './budget-server.ts';

const { signal } = new AbortController();

/** A pod of the group `ingester`. */
export const podOfIngester: PodView = podView({ labels: { 'rollout-group': 'ingester' } });

/** The budgets of a {@link BudgetServer} as they are in view. */
export class BudgetBench {
  readonly server = new BudgetServer();
  /** What was observed, for the metric. */
  readonly observed: BudgetObservation[] = [];
  /** Whether the Role permits listing budgets. */
  isPermitted = true;
  /** How often it was notified of a change. */
  changes = 0;
  readonly budgets = this.follow();

  constructor() {
    this.budgets.onChange(() => {
      this.changes += 1;
    });
  }

  /** Follows the budgets as they are seen from now on. */
  follow(): BudgetsInView {
    const { client, clock, informer } = this.server;
    return new BudgetsInView({
      client,
      clock,
      informer,
      isPermitted: () => this.isPermitted,
      compile: compilePattern,
      onObserved: (observation) => this.observed.push(observation),
    });
  }

  /** Lists the budgets of a namespace. */
  readonly look = (namespace = 'test'): Promise<void> => this.budgets.look(namespace, signal);

  /** Returns the name, uid and generation of the budget that governs the pod, or why that is not clear. */
  governing(of = podOfIngester): string {
    const found = this.budgets.governing(of);
    if (found.kind === 'none') return 'none';
    if (found.kind === 'unclear') return found.text;
    const { name, uid, generation } = found.budget;
    return `${name} ${uid} ${generation}`;
  }

  /** Returns when the view was proven, in milliseconds since the start; or why it is not. */
  provenAt(namespace = 'test'): number | string {
    const proof = this.budgets.proof(namespace);
    return proof.kind === 'proven' ? proof.provenAt - T0 : proof.kind;
  }
}
