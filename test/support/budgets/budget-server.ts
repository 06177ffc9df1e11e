import type { JsonObject, JsonValue } from '#base/json.ts';
import type { Instant } from '#base/units.ts';
import { type BudgetView, budgetView } from '#disruption-budget/cache/budget-view.ts';
import type { Client, ListResult } from '#kubernetes/client.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { FakeInformer } from '../api-server/fake-informer.ts';
import { unlessAborted } from '../api-server/unless-aborted.ts';
import { FakeClock } from '../clocks/fake-clock.ts';
import { T0 } from '../objects/views.ts';
import { formatRfc3339 } from '../oracles/rfc3339.ts';
import { GroupWorld, refusal } from '../rollouts/group-world.ts';

const type = resourceTypes.zoneAwarePodDisruptionBudgets;

/** What a test says of a budget. */
export interface StoredBudget {
  /** @default 'ingester' */
  readonly name?: string;
  /** @default 'test' */
  readonly namespace?: string;
  /** @default the name with `-uid` */
  readonly uid?: string;
  /** @default 1 */
  readonly generation?: number;
  /** @default one pod of the group `ingester` */
  readonly spec?: JsonValue;
  /** @default now, by a clock that is right */
  readonly createdAt?: Instant;
}

/** Returns the `spec` that selects `matchLabels`, for one pod. */
export function selecting(matchLabels: JsonValue): JsonObject {
  return { maxUnavailable: 1, selector: { matchLabels } };
}

/** The `spec` of the budget over the group `ingester`. */
export const overIngester: JsonObject = selecting({ 'rollout-group': 'ingester' });

/** Budgets on a tiny API server, and a cache that shows its changes only when a test says so. */
export class BudgetServer {
  readonly clock = new FakeClock(T0);
  readonly informer: FakeInformer<BudgetView>;
  /** What was asked of the server, such as `budgets of test`. */
  readonly requests: string[] = [];
  /** Whether the type is served. */
  isInstalled = true;
  /** Called before a request leaves; when that takes time, it waits as for a limiter. */
  atSend: () => void | Promise<void> = () => undefined;
  /** Called when a request has left, before it is answered. */
  before: () => void | Promise<void> = () => undefined;
  /** Called after a request has been answered, before the answer arrives; throws to lose it. */
  after: () => void | Promise<void> = () => undefined;
  readonly client: Client;
  #revision = 100;
  readonly #objects = new Map<string, KubernetesObject>();
  #events: (() => void)[] = [];

  constructor() {
    const { clock } = this;
    this.informer = new FakeInformer({ clock, type, project: budgetView, indexers: {} });
    const list: Client['list'] = ({ plural }, { namespace = '' }, options) =>
      unlessAborted(this.#list(`${plural} of ${namespace}`, namespace, options), options?.signal);
    this.client = { ...new GroupWorld({ sets: [], pods: [] }).client, list };
    this.informer.freshness.delivered(String(this.#revision));
  }

  /** Stores a budget; `show` lets the cache see it. */
  put(budget: StoredBudget = {}): KubernetesObject {
    const { name = 'ingester', namespace = 'test', generation = 1, spec = overIngester } = budget;
    const { uid = `${name}-uid`, createdAt = this.clock.now() } = budget;
    this.#revision += 1;
    const resourceVersion = String(this.#revision);
    const creationTimestamp = formatRfc3339(createdAt);
    const metadata = { namespace, name, uid, generation, resourceVersion, creationTimestamp };
    const { kind } = type;
    const object = { apiVersion: 'rollout-operator.grafana.com/v1', kind, metadata, spec };
    this.#objects.set(`${namespace}/${name}`, object);
    this.#events.push(() => this.informer.show(object));
    return object;
  }

  /** Removes a budget. */
  drop(name = 'ingester', namespace = 'test'): void {
    const object = this.#objects.get(`${namespace}/${name}`);
    if (object === undefined) throw new Error(`Cannot find budget "${namespace}/${name}"`);
    this.#objects.delete(`${namespace}/${name}`);
    this.#revision += 1;
    const metadata = { ...object.metadata, resourceVersion: String(this.#revision) };
    this.#events.push(() => this.informer.remove({ ...object, metadata }));
  }

  /** Lets the cache see all that happened, or the first `count` changes of it. */
  show(count = Infinity): void {
    for (const event of this.#events.splice(0, count)) event();
  }

  /** Notifies the cache that it has been shown everything. */
  bookmark(): void {
    this.informer.freshness.delivered(String(this.#revision));
  }

  /** Notes that the cache begins a list, which the server answers now; what happened meanwhile is not reported one by one. */
  relist(): void {
    this.#events = [];
    this.informer.freshness.reset();
    this.informer.lister.beginList();
    for (const object of this.#objects.values()) this.informer.list(object);
    this.informer.freshness.listed(String(this.#revision), this.clock.monotonic());
    this.informer.endList(String(this.#revision));
  }

  /** Uninstalls the type: the server does not serve the type any more, as the cache learns at once. */
  uninstall(): void {
    this.isInstalled = false;
    this.#objects.clear();
    this.#events = [];
    this.informer.absence = { provenAt: this.clock.monotonic() };
    this.informer.freshness.reset();
    this.informer.empty();
    this.informer.tellState();
  }

  async #list(
    request: string,
    namespace: string,
    options: Parameters<Client['list']>[2],
  ): Promise<ListResult> {
    await Promise.resolve();
    await this.atSend();
    options?.beforeSend?.();
    this.requests.push(request);
    await this.before();
    const isInstalled = this.isInstalled;
    const items = [...this.#objects.values()].filter(
      ({ metadata }) => metadata.namespace === namespace,
    );
    const resourceVersion = String(this.#revision);
    await this.after();
    if (!isInstalled) throw refusal(404);
    return { resourceVersion, items };
  }
}
