import type { Clock } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import type { Logger } from '#base/logger.ts';
import { type Millis, millis } from '#base/units.ts';
import type { Client } from '#kubernetes/client.ts';
import type { EventRecorder } from '#kubernetes/events/event-recorder.ts';
import type { Change, Informer } from '#kubernetes/informer/informer.ts';
import type { WorkQueue } from '#kubernetes/queue/work-queue.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { isConflict, isNotFound } from '#kubernetes/transport/api-error.ts';
import type { SeededRandom } from '../../seeded-random.ts';
import { runWorkers } from '../run-workers.ts';
import { budgetStatus } from './budget-status.ts';
import { ControllerScales } from './controller-scales.ts';
import { type BudgetNote, needsScale, planBudget } from './plan-budget.ts';
import type { BudgetPod, BudgetView, ScaledSet } from './views.ts';

/** The window between a change of a pod and the status of its budget (PD-4). */
export interface DisruptionDelay {
  readonly minimum: Millis;
  readonly maximum: Millis;
}

/** What the disruption controller is made of. */
export interface DisruptionControllerOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly budgets: Informer<BudgetView>;
  /** Indexed by {@link budgetPodIndexers}. */
  readonly pods: Informer<BudgetPod>;
  readonly sets: Informer<ScaledSet>;
  /** Keys are `namespace/name` of budgets. */
  readonly queue: WorkQueue;
  readonly events: EventRecorder;
  readonly random: SeededRandom;
  readonly delay: DisruptionDelay;
}

/** Indexes of the pod cache. */
export const budgetPodIndexers = Object.freeze({
  namespace: (pod: BudgetPod) => [pod.namespace],
});

/** Keeps the status of PodDisruptionBudgets, a moment after each change (PD-1…PD-4). */
export class DisruptionController {
  readonly #options: DisruptionControllerOptions;
  readonly #scales: ControllerScales;

  constructor(options: DisruptionControllerOptions) {
    this.#options = options;
    this.#scales = new ControllerScales(options.client, options.sets);
    options.budgets.onChange(({ kind, object }) => {
      if (kind !== 'deleted') this.#wake(object);
    });
    options.pods.onChange((change) => this.#podChanged(change));
  }

  /** Syncs budgets until the queue is shut down; begins when all caches are filled. */
  async run(): Promise<void> {
    const { budgets, pods, sets, queue, log } = this.#options;
    await Promise.all([budgets.synced, pods.synced, sets.synced]);
    await runWorkers({ queue, log, count: 1, reconcile: (key) => this.#reconcile(key) });
  }

  #wake({ namespace, name }: BudgetView): void {
    const { queue, random, delay } = this.#options;
    const spread = Math.max(0, delay.maximum - delay.minimum);
    const window = millis(delay.minimum + random.below(Math.floor(spread) + 1));
    queue.addAfter(`${namespace}/${name}`, window);
  }

  #podChanged(change: Change<BudgetPod>): void {
    const { object } = change;
    const states = change.kind === 'updated' ? [object, change.old] : [object];
    for (const budget of this.#options.budgets.lister.list()) {
      if (budget.namespace !== object.namespace) continue;
      if (states.some(({ labels }) => budget.selects(labels))) this.#wake(budget);
    }
  }

  async #reconcile(key: string): Promise<void> {
    const { budgets, pods, clock, queue } = this.#options;
    const slash = key.indexOf('/');
    const namespace = key.slice(0, slash);
    const budget = budgets.lister.get(namespace, key.slice(slash + 1));
    if (budget === undefined) return;
    const selected = pods.lister
      .by('namespace', namespace)
      .filter(({ labels }) => budget.selects(labels));
    const replicas = needsScale({ budget })
      ? await this.#scales.of(selected)
      : new Map<string, number>();
    const now = clock.now();
    const plan = planBudget({ budget, pods: selected, replicas }, now);
    for (const note of plan.notes) this.#record(budget, note);
    const status = budgetStatus(budget, plan.status, now);
    if (status !== undefined) await this.#write(key, budget, status);
    if (plan.requeueAfter !== undefined) queue.addAfter(key, plan.requeueAfter);
  }

  async #write(key: string, budget: BudgetView, status: JsonObject): Promise<void> {
    const { client, queue } = this.#options;
    const { namespace, name, object } = budget;
    try {
      await client.replace(
        resourceTypes.podDisruptionBudgets,
        { namespace, name },
        { body: { ...object, status }, subresource: 'status' },
      );
    } catch (error) {
      if (isNotFound(error)) return;
      // An eviction was faster: its disruption must be counted first, and no fail safe is due (PD-4).
      if (!isConflict(error)) throw error;
      queue.addRateLimited(key);
    }
  }

  #record(budget: BudgetView, note: BudgetNote): void {
    const { type, reason, message, pod } = note;
    const budgetKind = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget' };
    const subject = pod ?? budget;
    const kind = pod === undefined ? budgetKind : { apiVersion: 'v1', kind: 'Pod' };
    const { namespace, name, uid } = subject;
    this.#options.events.record({
      about: { ...kind, namespace, name, uid },
      type,
      reason,
      message,
    });
  }
}
