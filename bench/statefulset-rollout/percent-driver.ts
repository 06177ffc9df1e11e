import type { JsonObject } from '#base/json.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Informer } from '#kubernetes/informer/informer.ts';
import { createInformer } from '#kubernetes/informer/shared-informer.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { isTooManyRequests } from '#kubernetes/transport/api-error.ts';
import { parsePod } from '#statefulset/parse-pod.ts';
import type { PodView } from '#statefulset/view.ts';
import {
  type NativeBudgetView,
  parseNativeBudget,
} from '#statefulset-rollout/reconcile/native-budget.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { namespace } from '../cluster/workload.ts';

/** So many evictions are under way at once, as with the operator. */
const mostAtOnce = 10;

/** A set of which `most` pods may be away at once. */
interface Driven {
  readonly name: string;
  readonly replicas: number;
  readonly most: number;
}

/**
 * Rotates a set by the Eviction API as fast as is possible: keeps nothing but counts, stores nothing, and sends the next eviction
 * the instant its watches show that the budget allows one.
 */
export class PercentDriver {
  readonly #client: Client;
  readonly #set: Driven;
  readonly #pods: Informer<PodView>;
  readonly #budgets: Informer<NativeBudgetView>;
  readonly #ending = new AbortController();
  readonly #done = Promise.withResolvers<void>();
  /** Names of pods that are up. */
  readonly #up = new Set<string>();
  /** Pods that are to go, the highest ordinal first. */
  readonly #left: PodView[] = [];
  /** Names of pods whose eviction was sent, and that the watch still shows up. */
  readonly #sent = new Set<string>();
  #running: Promise<unknown> = Promise.resolve();
  #underWay = 0;
  #allowed = 0;

  private constructor(client: Client, set: Driven) {
    this.#client = client;
    this.#set = set;
    const common = {
      client,
      clock: systemClock(),
      namespace,
      indexers: {},
      report: (problem: unknown): void =>
        this.#done.reject(new Error(`A watch has a problem: ${JSON.stringify(problem)}`)),
    };
    const { pods, podDisruptionBudgets } = resourceTypes;
    this.#pods = createInformer({ ...common, type: pods, isSpecRead: false, project: parsePod });
    this.#budgets = createInformer({
      ...common,
      type: podDisruptionBudgets,
      project: parseNativeBudget,
    });
    this.#pods.onChange(({ kind, object }) => {
      this.#see(object, kind !== 'deleted');
      this.#send();
    });
    this.#budgets.onChange(({ object }) => {
      this.#allowed = object.disruptionsAllowed ?? 0;
      this.#send();
    });
  }

  /** Begins to watch, and resolves once all is shown. */
  static async start(client: Client, set: Driven): Promise<PercentDriver> {
    const driver = new PercentDriver(client, set);
    const { signal } = driver.#ending;
    driver.#running = Promise.all([driver.#pods.run(signal), driver.#budgets.run(signal)]);
    await Promise.all([driver.#pods.synced, driver.#budgets.synced]);
    return driver;
  }

  /** Evicts all pods that are there now, once `document` has changed the set. @throws what an eviction fails with */
  async drive(document: JsonObject): Promise<void> {
    const { name, replicas } = this.#set;
    const pods = Array.from({ length: replicas }, (_, index) =>
      this.#pods.lister.get(namespace, `${name}-${replicas - 1 - index}`),
    ).filter((pod) => pod !== undefined);
    const body = { kind: 'merge', document } as const;
    const type = resourceTypes.statefulSets;
    await this.#client.patch(type, { namespace, name }, { body });
    await this.#observed();
    this.#left.push(...pods);
    this.#send();
    await this.#done.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#running.catch(() => undefined);
  }

  /** A pod that is made before the controller of the set has seen its spec is an old one. */
  async #observed(): Promise<void> {
    const key = { namespace, name: this.#set.name };
    for (;;) {
      const { metadata, status } = await this.#client.get(resourceTypes.statefulSets, key);
      const { observedGeneration } = Object(status) as { readonly observedGeneration?: number };
      if ((observedGeneration ?? 0) >= (metadata.generation ?? 0)) return;
    }
  }

  #see(pod: PodView, isThere: boolean): void {
    const isUp = isThere && !pod.isTerminating && pod.unready === undefined;
    if (isUp) this.#up.add(pod.name);
    else {
      this.#up.delete(pod.name);
      this.#sent.delete(pod.name);
    }
  }

  #send(): void {
    for (;;) {
      const [next] = this.#left;
      if (next === undefined || this.#underWay >= mostAtOnce || this.#free() <= 0) return;
      this.#left.shift();
      void this.#evict(next);
    }
  }

  #free(): number {
    const { replicas, most } = this.#set;
    const away = replicas - this.#up.size + this.#sent.size;
    return Math.min(most - away, this.#allowed - this.#underWay);
  }

  /** The watch may have shown before what an eviction was refused on. */
  async #readBudget(): Promise<void> {
    const key = { namespace, name: this.#set.name };
    const budget = await this.#client.get(resourceTypes.podDisruptionBudgets, key);
    this.#allowed = parseNativeBudget(budget).disruptionsAllowed ?? 0;
  }

  async #evict(pod: PodView): Promise<void> {
    const { name, uid } = pod;
    const body = {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { namespace, name },
      deleteOptions: { preconditions: { uid } },
    };
    this.#underWay += 1;
    this.#sent.add(name);
    try {
      const write = { body, subresource: 'eviction' } as const;
      await this.#client.create(resourceTypes.pods, { namespace, name }, write);
    } catch (error) {
      if (!isTooManyRequests(error)) this.#done.reject(error);
      this.#sent.delete(name);
      this.#left.unshift(pod);
      await this.#readBudget();
    }
    this.#underWay -= 1;
    if (this.#left.length === 0 && this.#underWay === 0) this.#done.resolve();
    this.#send();
  }
}
