/** ZoneDisruptionBudgets in virtual time: a set over three zones, and replicas of the authority that evictions ask. */
import assert from 'node:assert/strict';
import type { JsonObject } from '#base/json.ts';
import { type Millis, millis, minutes, seconds } from '#base/units.ts';
import { podIndexers, statefulSetIndexers } from '#control/group-sets.ts';
import { textAt } from '#embedded-cluster/controllers/read-json.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { createInformer } from '#kubernetes/shared-informer.ts';
import { parseNode } from '#statefulset/parse-node.ts';
import { parsePod } from '#statefulset/parse-pod.ts';
import { parseStatefulSet } from '#statefulset/parse-statefulset.ts';
import { KeptLog } from '#testing/kept-log.ts';
import { zoneDisruptionBudgetDefinition } from '#zone-disruption-budget/definition.ts';
import { refusalsIn } from '#zone-disruption-budget/eviction-verdict.ts';
import { zonePodIndexers } from '#zone-disruption-budget/namespace-views.ts';
import { zoneBudgetView } from '#zone-disruption-budget/zone-budget-view.ts';
import { ZoneDisruptionBudgets } from '#zone-disruption-budget/zone-disruption-budgets.ts';
import { type Environment, startEnvironment } from './virtual-environment.ts';
import { zoneFaults } from './zone-update-judge.ts';

const namespace = 'demo';
const replicas = 12;
const ledgerNamespace = 'ops';
const patience = minutes(30);

/** One process that answers evictions. */
export class ZoneBudgetReplica {
  readonly authority: ZoneDisruptionBudgets;
  readonly log = new KeptLog();
  readonly #env: Environment;
  readonly #killing = new AbortController();
  readonly #transport;
  readonly #term: string;

  constructor(env: Environment, user: string) {
    const { clock, cluster } = env;
    this.#env = env;
    this.#term = user;
    this.#transport = cluster.transport({ user });
    const client = createClient({
      transport: this.#transport,
      clock,
      timeout: millis(0),
      userAgent: user,
    });
    const { signal } = this.#killing;
    const of = { client, clock, report: () => undefined };
    const budgets = createInformer({
      ...of,
      type: resourceTypes.zoneDisruptionBudgets,
      project: zoneBudgetView,
      indexers: {},
      isAbsentAllowed: true,
    });
    const pods = createInformer({
      ...of,
      type: resourceTypes.pods,
      isSpecRead: 'node-name',
      project: parsePod,
      indexers: { ...podIndexers, ...zonePodIndexers },
    });
    const statefulSets = createInformer({
      ...of,
      type: resourceTypes.statefulSets,
      project: parseStatefulSet,
      indexers: statefulSetIndexers,
    });
    const nodes = createInformer({
      ...of,
      type: resourceTypes.nodes,
      project: parseNode,
      indexers: {},
    });
    const { log } = this;
    const caches = { budgets, pods, statefulSets, nodes };
    this.authority = new ZoneDisruptionBudgets({ client, clock, log, ledgerNamespace, ...caches });
    for (const each of Object.values(caches)) {
      each.synced.catch(() => undefined);
      each.run(signal).catch(() => undefined);
    }
  }

  /** Leads from now on; nobody did before. */
  lead(): void {
    const now = this.#env.clock.monotonic();
    this.authority.lead({ term: this.#term, predecessorsOverAt: now, mayBeginAt: now });
  }

  /** It is gone, and none of its requests leaves any more. */
  die(): void {
    this.#transport.revoke();
    this.#killing.abort();
    this.authority.close();
  }

  /** What the budgets say to the eviction of a pod: why none may go, or an empty text. A pod that may go goes. */
  async evict(name: string): Promise<string> {
    const { evictions } = this.authority;
    const pod = evictions.pod(namespace, name);
    if (pod === undefined) return 'not seen';
    const { signal } = this.#killing;
    const verdicts = await evictions.judgeEviction(pod, { isDryRun: false }, signal);
    const [refusal] = refusalsIn(verdicts);
    if (refusal?.kind === 'denied') return `denied: ${refusal.denial.kind}`;
    if (refusal !== undefined) return `${refusal.kind}: ${refusal.why}`;
    const key = { namespace, name };
    await this.#env.client
      .delete(resourceTypes.pods, key, { preconditions: { uid: pod.uid } })
      .catch(() => undefined);
    return '';
  }
}

/** See the head of the file. */
export class ZoneBudgetStage {
  readonly env: Environment;
  readonly running: ZoneBudgetReplica[] = [];
  /** As many pods of one zone as may be away. */
  cap = 1;

  private constructor(env: Environment) {
    this.env = env;
  }

  /** A set `db` of twelve pods over three zones, all ready, and the definition. */
  static async open(): Promise<ZoneBudgetStage> {
    const env = await startEnvironment({ kubelet: { nodes: { count: 3 } } });
    const stage = new ZoneBudgetStage(env);
    const body = zoneDisruptionBudgetDefinition;
    await env.client.create(resourceTypes.customResourceDefinitions, {}, { body });
    const metadata = { name: ledgerNamespace };
    const ops = { apiVersion: 'v1', kind: 'Namespace', metadata };
    await env.client.create(resourceTypes.namespaces, metadata, { body: ops });
    await env.createSet({ replicas, podManagementPolicy: 'Parallel' });
    await env.clock.runUntilIdle();
    return stage;
  }

  /** Starts a replica. */
  async start(): Promise<ZoneBudgetReplica> {
    const replica = new ZoneBudgetReplica(this.env, `replica-${this.running.length + 1}`);
    this.running.push(replica);
    await this.pass(seconds(5));
    return replica;
  }

  async create(spec: JsonObject, name = 'db'): Promise<void> {
    const body = {
      apiVersion: 'zonecontrol.k8s.aws/v1',
      kind: 'ZoneDisruptionBudget',
      metadata: { name, namespace },
      spec: { selector: { matchLabels: { app: 'db' } }, ...spec },
    };
    await this.env.client.create(resourceTypes.zoneDisruptionBudgets, { namespace }, { body });
    await this.pass(seconds(1));
  }

  async edit(spec: JsonObject, name = 'db'): Promise<void> {
    const body = { kind: 'merge', document: { spec } } as const;
    await this.env.client.patch(resourceTypes.zoneDisruptionBudgets, { namespace, name }, { body });
  }

  /** Waits for `work` while time passes. */
  async finish<T>(work: Promise<T>): Promise<T> {
    const ended = { is: false };
    const done = work.finally(() => {
      ended.is = true;
    });
    done.catch(() => undefined);
    await this.env.clock.runUntil(() => ended.is);
    return done;
  }

  /** Pods of a zone such as `zone-a`, by name. */
  podsOf(zone: string): readonly string[] {
    const node = `node-${['zone-a', 'zone-b', 'zone-c'].indexOf(zone)}`;
    return [...this.env.stored('pods')]
      .filter(([name, pod]) => name.startsWith('db-') && textAt(pod, 'spec', 'nodeName') === node)
      .map(([name]) => name)
      .toSorted();
  }

  /** Whether all pods are there and ready. */
  isWhole(): boolean {
    const names = Array.from({ length: replicas }, (_, ordinal) => `db-${ordinal}`);
    return names.every((name) => {
      const pod = this.env.stored('pods').get(name);
      const isLeaving = textAt(pod, 'metadata', 'deletionTimestamp') !== '';
      return pod !== undefined && !isLeaving && this.env.isReady(name);
    });
  }

  async until(what: string, holds: () => boolean, limit: Millis = patience): Promise<void> {
    const { clock } = this.env;
    const end = clock.monotonic() + limit;
    await clock.runUntil(() => holds() || clock.monotonic() > end);
    assert.ok(holds(), what);
  }

  async pass(span: Millis): Promise<void> {
    await this.env.clock.advance(span);
  }

  /** What is wrong with the history, one sentence each. */
  faults(): readonly string[] {
    const { commits } = this.env.cluster.eventLog;
    return zoneFaults({ commits, cap: this.cap, replicas });
  }

  async close(): Promise<void> {
    assert.deepEqual(this.faults(), []);
    for (const each of this.running) each.die();
    await this.pass(millis(1));
    await this.env.close();
  }
}
