import { webhookConfigurations } from '#admission/webhook-configuration/webhook-configurations.ts';
import { millis } from '#base/units.ts';
import { webhookTypes } from '#certificate/webhook-configuration.ts';
import type { Commit } from '#cluster/event-log.ts';
import { objectsAt, textAt } from '#cluster/json/read-json.ts';
import { ledgerName, zoneAwarePodDisruptionBudgetDefinition } from '#disruption-budget/api.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { isNotFound } from '#kubernetes/transport/api-error.ts';
import { budgetOver } from '#support/objects/budgets.ts';
import { ApiGate } from './api-gate.ts';
import type { ClusterHost } from './cluster-host.ts';
import type {
  Drained,
  EvictionCommands,
  EvictionSight,
  PodName,
  Trouble,
} from './eviction-commands.ts';
import { EvictionWatch } from './eviction-watch.ts';
import { isUp } from './group-watch.ts';
import { inTurns } from './in-turns.ts';
import { namespace, operatorUser } from './workload.ts';

const secretName = 'rollout-operator-self-signed-certificate';
const budgetType = resourceTypes.zoneAwarePodDisruptionBudgets;
/** How long a ledger may take to be begun, in ms: as long as the first look at the budgets may. */
const patience = 60_000;

/** What the process of the cluster does about evictions on command. */
export class EvictionHost implements EvictionCommands {
  readonly #host: ClusterHost;
  #admin: Client | undefined;
  #watch: EvictionWatch | undefined;
  #gate: ApiGate | undefined;

  constructor(host: ClusterHost) {
    this.#host = host;
  }

  async installBudgets(): Promise<void> {
    const established = this.#untilCommit(
      ({ resource, after }) =>
        resource.startsWith('customresourcedefinitions.') &&
        objectsAt(after, 'status', 'conditions').some(
          (each) => textAt(each, 'type') === 'Established',
        ),
    );
    const body = zoneAwarePodDisruptionBudgetDefinition;
    await this.#client.create(resourceTypes.customResourceDefinitions, {}, { body });
    await established;
  }

  async createBudgets({
    groups,
    maxUnavailable,
  }: Parameters<EvictionCommands['createBudgets']>[0]): Promise<void> {
    const missing = new Set(groups.map((group) => ledgerName(group)));
    const begun = this.#untilCommit(({ resource, name }) => {
      if (resource === 'configmaps') missing.delete(name);
      return missing.size === 0;
    });
    await inTurns(groups, async (group) => {
      const { spec, ...budget } = budgetOver(group, { app: group });
      const body = { ...budget, spec: { ...Object(spec), maxUnavailable } as typeof budget };
      await this.#client.create(budgetType, { namespace }, { body });
    });
    await within(patience, 'the ledgers of new budgets', begun);
  }

  async dropBudgets({ groups }: { readonly groups: readonly string[] }): Promise<void> {
    await inTurns(groups, async (name) => {
      await this.#client.delete(budgetType, { namespace, name }, { preconditions: {} });
    });
  }

  async authority(): Promise<string> {
    const key = { namespace, name: secretName };
    const secret = await this.#client.get(resourceTypes.secrets, key);
    return Buffer.from(textAt(secret, 'data', 'ca'), 'base64').toString();
  }

  async reviewEvictions({ port }: { readonly port: number }): Promise<void> {
    const shipped = webhookConfigurations({ namespace, port }).find((each) =>
      textAt(each, 'metadata', 'name').startsWith('pod-eviction-'),
    );
    const caBundle = Buffer.from(await this.authority()).toString('base64');
    const url = `https://localhost:${port}/admission/pod-eviction`;
    const webhooks = objectsAt(shipped, 'webhooks').map((webhook) => ({
      ...webhook,
      clientConfig: { url, caBundle },
    }));
    const body = { ...shipped, webhooks };
    await this.#client.create(webhookTypes.validating, {}, { body });
  }

  async reviewNothing(): Promise<void> {
    const name = `pod-eviction-${namespace}`;
    await this.#client.delete(webhookTypes.validating, { name }, { preconditions: {} });
  }

  async spoil({ pod: name }: { readonly pod: string }): Promise<void> {
    const conditions = ['Ready', 'ContainersReady'].map((type) => ({ type, status: 'False' }));
    const document = { status: { conditions } };
    await this.#client.patch(
      resourceTypes.pods,
      { namespace, name },
      { body: { kind: 'strategic', document }, subresource: 'status' },
    );
  }

  async podsOf({ set }: { readonly set: string }): Promise<readonly PodName[]> {
    const labelSelector = `name=${set}`;
    const { items } = await this.#client.list(resourceTypes.pods, { namespace, labelSelector });
    return items
      .map(({ metadata: { name, uid } }) => ({ name, uid }))
      .toSorted((one, other) => ordinalOf(one) - ordinalOf(other));
  }

  async watchEvictions(): Promise<void> {
    if (this.#watch !== undefined) {
      this.#watch.begin();
      return;
    }
    const { cluster, sets, podsPerSet } = this.#host;
    const { items } = await this.#client.list(resourceTypes.pods, { namespace });
    const pods = items.map((pod) => [pod.metadata.name, pod] as const);
    const monotonic = (): number => cluster.clock.monotonic();
    const watch = new EvictionWatch(monotonic, { sets, podsPerSet, pods });
    cluster.eventLog.onCommit((commit) => watch.committed(commit));
    cluster.eventLog.onCall((call) => watch.called(call));
    this.#watch = watch;
  }

  seenEvictions(): Promise<EvictionSight> {
    return Promise.resolve(this.#watching.seen());
  }

  async drained({
    set,
    patience: limit,
  }: {
    readonly set: string;
    readonly patience: number;
  }): Promise<Drained> {
    const watch = this.#watching;
    const pods = await this.podsOf({ set });
    const { clock } = this.#host.cluster;
    const start = clock.monotonic();
    const all = Promise.all(pods.map((pod) => watch.replaced(pod)));
    await within(limit, `the drain of ${set}`, all);
    return { wall: clock.monotonic() - start };
  }

  async drainPerfectly({
    set,
    atOnce,
    patience: limit,
  }: Parameters<EvictionCommands['drainPerfectly']>[0]): Promise<Drained> {
    const watch = this.#watching;
    const left = [...(await this.podsOf({ set }))];
    const { clock } = this.#host.cluster;
    const start = clock.monotonic();
    const work = async (): Promise<void> => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        const replaced = watch.replaced(next);
        await this.#evict(next);
        await replaced;
      }
    };
    const all = Promise.all(Array.from({ length: atOnce }, work));
    await within(limit, `the perfect drain of ${set}`, all);
    return { wall: clock.monotonic() - start };
  }

  async execute({ pod: name }: { readonly pod: string }): ReturnType<EvictionCommands['execute']> {
    try {
      const pod = await this.#client.get(resourceTypes.pods, { namespace, name });
      const isReserved = this.#watching.hasReserved(pod.metadata.uid);
      const isHeld = this.#watching.isHeld(name);
      await this.#evict({ name });
      if (isReserved) return 'reserved';
      if (!isUp(pod)) return 'unready';
      return isHeld ? 'predecessor' : 'unreserved';
    } catch (error) {
      if (isNotFound(error)) return 'absent';
      throw error;
    }
  }

  async openGate(): Promise<string> {
    const gate = new ApiGate(Number(new URL(this.#host.url).port));
    await gate.open();
    this.#gate = gate;
    return gate.url;
  }

  async trouble(trouble: Trouble): Promise<void> {
    const { faults } = this.#host.cluster;
    const match = { user: operatorUser };
    faults.clear();
    if (trouble.kind === 'gone') await this.#gate?.shut();
    else await this.#gate?.open();
    if (trouble.kind === 'slow') {
      faults.add({ match, action: { kind: 'delay', delay: millis(trouble.delay) } });
    }
    if (trouble.kind === 'failing') {
      faults.add({ match, probability: trouble.share, action: { kind: 'error', code: 500 } });
    }
  }

  get #client(): Client {
    this.#admin ??= this.#host.client();
    return this.#admin;
  }

  get #watching(): EvictionWatch {
    if (this.#watch === undefined) throw new Error('Cannot tell of evictions that nothing watches');
    return this.#watch;
  }

  async #evict({ name }: Pick<PodName, 'name'>): Promise<void> {
    const path = `/api/v1/namespaces/${namespace}/pods/${name}/eviction`;
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } };
    await this.#client.raw({ method: 'POST', path, body });
  }

  #untilCommit(isIt: (commit: Commit) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const stop = this.#host.cluster.eventLog.onCommit((commit) => {
        if (!isIt(commit)) return;
        stop();
        resolve();
      });
    });
  }
}

function ordinalOf({ name }: PodName): number {
  return Number(name.slice(name.lastIndexOf('-') + 1));
}

async function within(limit: number, what: string, work: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Error(`Waited in vain for ${what}, ${limit} ms`)),
    limit,
  );
  try {
    await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
