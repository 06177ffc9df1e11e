/** A scrape of the program that runs everything, once resources by zone and StatefulsetRollouts show all that they can show. */
import { writeFile } from 'node:fs/promises';
import { sharedZoneConfiguration } from '#admission/webhook-configuration/zone-webhook-configuration.ts';
import type { JsonObject } from '#base/json.ts';
import { millis } from '#base/units.ts';
import { webhookTypes } from '#certificate/webhook-configuration.ts';
import { numberAt, textAt } from '#cluster/json/read-json.ts';
import { createAll, install } from '#demo/cluster/apply-manifests.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { statefulsetRolloutDefinition } from '#statefulset-rollout/definition.ts';
import { CallbackServer, withStatus } from '#support/external-services/callback-server.ts';
import { ConsulAgent } from '#support/external-services/consul-agent.ts';
import { ConsulServer, refusing } from '#support/external-services/consul-server.ts';
import { SlackServer } from '#support/external-services/slack-server.ts';
import { startEnvironment } from '#support/world/world-environment.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { zoneAwareUpdateDefinition } from '#zone-aware-update/definition.ts';
import { zoneDisruptionBudgetDefinition } from '#zone-disruption-budget/definition.ts';
import { bundled } from '../integration/stages/webhook-bundles.ts';
import { type ServingOperator, WebhookStage } from '../integration/stages/webhook-stage.ts';
import { ask } from '../scenarios/ask.ts';
import { scrapeWith } from './scrape-with.ts';

const namespace = 'test';
const clock = systemClock();
const token = 'xoxb-1';

const definitions = [
  zoneAwareUpdateDefinition,
  zoneDisruptionBudgetDefinition,
  statefulsetRolloutDefinition,
];

/** Returns what it shows. @throws {Error} that names what it lacks when `signal` aborts */
export async function allScrape(signal: AbortSignal): Promise<string> {
  const stage = await WebhookStage.open();
  const living = startEnvironment(stage.cluster, clock, {});
  const outside = new Outside();
  try {
    await Promise.all([living.controllers.ready, living.kubelet.ready]);
    await install(stage.admin, definitions, clock);
    const operator = await startAll(stage, outside);
    const { plain } = operator;
    await Promise.all([
      rollByZone(stage, operator, signal),
      rollByPercent(stage, { plain, outside }, signal),
    ]);
    return await scrapeWith(plain, [...shownOfZones, ...shownOfRollouts], signal);
  } finally {
    await Promise.all([living.controllers.stop(), living.kubelet.stop()]);
    await stage.close();
    await outside.close();
  }
}

/** Those whom StatefulsetRollouts ask and tell. The first question and the first callback are refused, each for a while. */
class Outside {
  readonly #slack = new SlackServer();
  readonly #consul = new ConsulServer();
  readonly #receiver = new CallbackServer({ clock });
  /** Where callbacks go. */
  bapiUrl = '';

  /** Starts listening. @param tokenFile is written @returns flags that say where they are */
  async listen(tokenFile: string): Promise<readonly string[]> {
    await writeFile(tokenFile, token, { mode: 0o600 });
    this.#slack.tokens.set(token, { bot: 'B1', scopes: ['chat:write'] });
    this.#receiver.obstacles.push(withStatus(503));
    const [slack, consul, receiver] = await Promise.all([
      this.#slack.listen(),
      this.#consul.listen(),
      this.#receiver.listen(),
    ]);
    const consulUrl = `http://127.0.0.1:${consul}`;
    const [ID, Meta] = ['asking-0-kv', { 'pod-name': 'asking-0' }];
    await new ConsulAgent(consulUrl).register({ ID, Name: 'kv', Meta }, 'critical');
    this.#consul.obstacles.push(refusing(500, 'No cluster leader'));
    this.bapiUrl = `http://127.0.0.1:${receiver}`;
    return [
      `--slack-token-file=${tokenFile}`,
      `--slack-api-url=${slack.href}`,
      `--consul-address=${consulUrl}`,
      `--callback-allowed-hosts=${this.bapiUrl}`,
      '--callback-permit-loopback',
    ];
  }

  async close(): Promise<void> {
    await Promise.all([this.#slack.close(), this.#consul.close(), this.#receiver.close()]);
  }
}

/** Starts the program, and has evictions reviewed by it. */
async function startAll(stage: WebhookStage, outside: Outside): Promise<ServingOperator> {
  const flags = await outside.listen(stage.path('slack-token'));
  const operator = await stage.operator(['all', ...flags]);
  const body = sharedZoneConfiguration({ namespace, port: operator.port });
  const trusted = bundled(stage.cluster.eventLog, [textAt(body, 'metadata', 'name')]);
  await stage.admin.create(webhookTypes.mutating, {}, { body });
  await trusted;
  return operator;
}

const shownOfEvictions = [
  /^zdb_eviction_status_reason\{status="denied",reason="DeniedByZdb"\} [1-9]/m,
  /^zdb_eviction_status_reason\{status="allowed",reason="DisruptionAllowed"\} [1-9]/m,
];

const shownOfZones = [/^zau_status_old_replicas\{.*zone=/m, ...shownOfEvictions];

/** Evicts some of three pods in three zones, of which a budget lets one zone lack pods, and updates all. */
async function rollByZone(
  stage: WebhookStage,
  { plain }: ServingOperator,
  signal: AbortSignal,
): Promise<void> {
  const { admin } = stage;
  const type = resourceTypes.statefulSets;
  const key = { namespace, name: 'web' };
  await createAll(admin, [
    setOf('web', { replicas: 3, updateStrategy: { type: 'OnDelete' } }),
    custom('ZoneDisruptionBudget', {
      selector: { matchLabels: { app: 'web' } },
      maxUnavailable: 1,
    }),
  ]);
  const evicting = new AbortController();
  const evictions = evictAll(stage, AbortSignal.any([signal, evicting.signal]));
  try {
    await scrapeWith(plain, shownOfEvictions, signal);
  } finally {
    evicting.abort();
    await evictions;
  }
  await createAll(admin, [custom('ZoneAwareUpdate', { statefulset: 'web', maxUnavailable: 1 })]);
  const document = { spec: { template: templateOf('web', 2) } };
  await admin.patch(type, key, { body: { kind: 'strategic', document } });
}

/** Asks for the eviction of each pod, one after the other, whenever all are ready, until `signal` aborts. */
async function evictAll(stage: WebhookStage, signal: AbortSignal): Promise<void> {
  const transport = stage.cluster.transport();
  while (!signal.aborted) {
    const isReady = numberAt(await stage.stored('web'), 'status', 'readyReplicas') === 3;
    for (const name of isReady ? ['web-0', 'web-1', 'web-2'] : []) {
      const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } };
      const path = `/api/v1/namespaces/${namespace}/pods/${name}/eviction`;
      await ask(transport, { method: 'POST', path, rest: [body] });
    }
    await clock.sleep(millis(500), { signal, owner: 'evictions' }).catch(() => undefined);
  }
}

const shownOfRollouts = [
  /^statefulset_rollout_partial_age_seconds\{/m,
  /^statefulset_rollout_budget_slots\{/m,
  /^statefulset_rollout_pod_rotation_seconds_count\{/m,
  /^statefulset_rollout_evictions_total\{.*result="accepted"\} [1-9]/m,
  /^statefulset_rollout_completed_total\{.*result="done",rollback="false"\} [1-9]/m,
  /^statefulset_rollout_slack_requests_total\{.*result="ok"\} [1-9]/m,
  /^statefulset_rollout_slack_requests_total\{.*result="refused"\} [1-9]/m,
  /^statefulset_rollout_consul_requests_total\{result="ok"\} [1-9]/m,
  /^statefulset_rollout_consul_requests_total\{result="unavailable"\} [1-9]/m,
  /^statefulset_rollout_consul_snapshot_age_seconds /m,
  /^statefulset_rollout_callback_attempts_total\{result="delivered"\} [1-9]/m,
  /^statefulset_rollout_callback_attempts_total\{result="temporary"\} [1-9]/m,
];

/** Leaves a rollout partial that is told of, and begins one that waits for Consul, in a channel that there is not. */
async function rollByPercent(
  { admin }: WebhookStage,
  { plain, outside }: { readonly plain: string; readonly outside: Outside },
  signal: AbortSignal,
): Promise<void> {
  const { bapiUrl } = outside;
  const budget = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'told', namespace },
    spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'told' } } },
  };
  const told = { percent: 100, channel: '#deploys', bapi: { bapiUrl, stageId: 'one' } };
  const asking = {
    percent: 100,
    channel: '#nowhere',
    serviceDiscovery: { serviceNames: ['kv'] },
  };
  await createAll(admin, [budget, carrier('told', told), carrier('asking', asking)]);
  const made = /^statefulset_rollout_completed_total\{.*name="told",result="done".*\} 1$/m;
  await scrapeWith(plain, [made], signal);
  const statefulset = setOf('told', { replicas: 2 }, 2);
  const document = { spec: { percent: 50, statefulset, bapi: { bapiUrl, stageId: 'two' } } };
  const key = { namespace, name: 'told' };
  const body = { kind: 'merge', document } as const;
  await admin.patch(resourceTypes.statefulsetRollouts, key, { body });
}

/** Returns a rollout of two pods. */
function carrier(name: string, spec: JsonObject): JsonObject {
  return {
    apiVersion: 'bedrock.operator.slack.com/v1',
    kind: 'StatefulsetRollout',
    metadata: { name, namespace },
    spec: { statefulset: setOf(name, { replicas: 2 }), ...spec },
  };
}

/** Returns a resource by zone, named as the set that it is about. */
function custom(kind: string, spec: JsonObject): JsonObject {
  return { apiVersion: 'zonecontrol.k8s.aws/v1', kind, metadata: { name: 'web', namespace }, spec };
}

function setOf(name: string, rest: JsonObject, version = 1): JsonObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name, namespace },
    spec: {
      serviceName: name,
      podManagementPolicy: 'Parallel',
      selector: { matchLabels: { app: name } },
      template: templateOf(name, version),
      ...rest,
    },
  };
}

function templateOf(name: string, version: number): JsonObject {
  const containers = [{ name: 'main', image: `${name}:${version}` }];
  return { metadata: { labels: { app: name } }, spec: { containers } };
}
