/** ZoneDisruptionBudgets in virtual time: a set over three zones, and replicas of the webhook that evictions ask. */
import assert from 'node:assert/strict';
import type { AdmissionRequest } from '#admission/review/review.ts';
import { aborted } from '#base/async/aborted.ts';
import type { JsonObject } from '#base/json.ts';
import { type Instant, type Millis, millis, minutes, seconds } from '#base/units.ts';
import { objectAt, textAt } from '#cluster/json/read-json.ts';
import { silentRecorder } from '#kubernetes/events/events.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { openZoneBudgets } from '#operator/zone-aware/zone-budgets.ts';
import { KeptLog } from '#support/telemetry/kept-log.ts';
import { zoneDisruptionBudgetDefinition } from '#zone-disruption-budget/definition.ts';
import { type Environment, startEnvironment } from '../stages/virtual-environment.ts';
import { evict, reviewEviction } from '../stages/zone-evictions.ts';
import { zoneFaults } from '../zone-aware-update/zone-update-judge.ts';

const namespace = 'demo';
const replicas = 12;
const ledgerNamespace = 'ops';
const plural = 'zonedisruptionbudgets';
const resourceName = `${plural}.zonecontrol.k8s.aws`;
const patience = minutes(30);

/** One process that answers evictions, as the operator composes it. */
export class ZoneBudgetReplica {
  readonly log = new KeptLog();
  /** What was counted, such as `denied DeniedByZdb`. */
  readonly counted: string[] = [];
  readonly #env: Environment;
  readonly #user: string;
  readonly #end = new AbortController();
  readonly #transport;
  readonly #budgets;

  constructor(env: Environment, user: string) {
    const { clock, cluster } = env;
    const { log } = this;
    this.#env = env;
    this.#user = user;
    this.#transport = cluster.transport({ user });
    const transport = this.#transport;
    const client = createClient({ transport, clock, timeout: millis(0), userAgent: user });
    this.#budgets = openZoneBudgets({
      client,
      reviewClient: client,
      ledgerNamespace,
      clock,
      log,
      count: (status, reason) => this.counted.push(`${status} ${reason}`),
    });
    this.#budgets.run(this.#end.signal).catch(() => undefined);
  }

  /** Leads from now on, until it dies; nobody did before. */
  lead(): void {
    const now = this.#env.clock.monotonic();
    const term = {
      term: this.#user,
      predecessor: { overAt: now, ownOverAt: now },
      events: silentRecorder,
    };
    void this.#budgets.lead(term, () => aborted(this.#end.signal));
  }

  /** It is gone, and none of its requests leaves any more. */
  die(): void {
    this.#transport.revoke();
    this.#end.abort();
  }

  /** Has an eviction of a pod reviewed as an API server does: an empty text, or code and message of the denial. */
  async review(name: string, rest: Partial<AdmissionRequest> = {}): Promise<string> {
    return reviewEviction({ env: this.#env, webhook: this.#budgets.webhook }, name, rest);
  }

  /** The same; a pod that may go goes. */
  async evict(name: string): Promise<string> {
    return evict({ env: this.#env, webhook: this.#budgets.webhook }, name);
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
  static async open({ nodes = 3 } = {}): Promise<ZoneBudgetStage> {
    const env = await startEnvironment({ kubelet: { nodes: { count: nodes } } });
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

  /** The status of a budget as it is stored. */
  status(name = 'db'): JsonObject {
    return objectAt(this.env.stored(resourceName).get(name), 'status');
  }

  /** How often a status was written since `from`, and by whom, such as `replica-1`. */
  statusWriters(from: Instant): readonly string[] {
    return this.env.cluster.eventLog.calls
      .filter(({ verb, resource }) => verb === 'update' && resource.startsWith(plural))
      .filter(({ startedAt }) => startedAt >= from)
      .map(({ user }) => user);
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
