/** The webhooks of the real program behind the API server, over verified TLS. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { millis, seconds } from '#base/units.ts';
import { createCluster, type EmbeddedCluster } from '#cluster/create-cluster.ts';
import type { Config } from '#config/config.ts';
import { readConfig } from '#config/read-config.ts';
import type { Client } from '#kubernetes/client.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { ApiError } from '#kubernetes/transport/api-error.ts';
import { runOperator } from '#operator.ts';
import { prepared, setObject } from '#support/admission/admission-requests.ts';
import { FakePodHttp } from '#support/pods/fake-pod-http.ts';
import { PodFleet } from '#support/pods/pod-fleet.ts';
import { silentLogger } from '#support/telemetry/silent-logger.ts';
import { createHttpServerMetrics } from '#telemetry/http/http-server-metrics.ts';
import { createReadiness } from '#telemetry/http/readiness.ts';
import { BudgetMetrics } from '#telemetry/metrics/budget-metrics.ts';
import { createOperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { bundled } from '../stages/webhook-bundles.ts';

const namespace = 'test';
const name = 'ingester-zone-a';

function configOf(...flags: readonly string[]): Config {
  const outcome = readConfig([`-kubernetes.namespace=${namespace}`, ...flags]);
  if (outcome.kind === 'exit') throw new Error(outcome.stderr);
  return outcome.config;
}

const ours = {
  'grafana.com/inject-rollout-operator-ca': 'true',
  'grafana.com/namespace': namespace,
};

describe('the webhooks of the operator', () => {
  const clock = systemClock();
  const fleet = new PodFleet(clock);
  const ending = new AbortController();
  let cluster: EmbeddedCluster;
  let client: Client;
  let operator: Promise<void>;
  let port: number;

  before(async () => {
    cluster = await createCluster({ clock, seed: 1 });
    const plain = { clock, timeout: millis(0), userAgent: 'test' };
    client = createClient({ ...plain, transport: cluster.transport() });
    await client.create(resourceTypes.namespaces, {}, { body: { metadata: { name: namespace } } });
    const spec = { type: 'ExternalName', externalName: 'localhost' };
    const service = { metadata: { name: 'rollout-operator' }, spec };
    await client.create(resourceTypes.services, { namespace }, { body: service });
    port = await start();
    const trusted = bundled(cluster.eventLog, ['no-downscale-test', 'prepare-downscale-test']);
    await configure();
    await trusted;
  });

  function start(): Promise<number> {
    const registry = createMetricsRegistry();
    return new Promise((resolve, reject) => {
      operator = runOperator(
        {
          config: configOf('-server-tls.port=0', '-log.level=error'),
          clock,
          log: silentLogger,
          metrics: createOperatorMetrics(registry),
          budgetMetrics: new BudgetMetrics(registry),
          readiness: createReadiness(),
          transport: cluster.transport(),
          podHttp: new FakePodHttp({ fleet, clock, timeout: seconds(5) }),
          identity: 'test',
          admission: {
            registry,
            httpMetrics: createHttpServerMetrics(registry),
            podHttp: new FakePodHttp({ fleet, clock, timeout: seconds(5) }),
            host: '127.0.0.1',
            onListening: resolve,
          },
        },
        ending.signal,
      );
      operator.catch(reject);
    });
  }

  async function configure(): Promise<void> {
    const rule = {
      operations: ['UPDATE'],
      apiGroups: ['apps'],
      apiVersions: ['v1'],
      resources: ['statefulsets', 'statefulsets/scale'],
    };
    for (const [kind, hook, sideEffects] of [
      ['Validating', 'no-downscale', 'None'],
      ['Mutating', 'prepare-downscale', 'NoneOnDryRun'],
    ] as const) {
      const service = { namespace, name: 'rollout-operator', port, path: `/admission/${hook}` };
      const webhook = {
        name: `${hook}-${namespace}.grafana.com`,
        clientConfig: { service },
        rules: [rule],
        sideEffects,
        admissionReviewVersions: ['v1'],
      };
      const type = {
        group: 'admissionregistration.k8s.io',
        version: 'v1',
        plural: `${kind.toLowerCase()}webhookconfigurations`,
        kind: `${kind}WebhookConfiguration`,
        isNamespaced: false,
      };
      const metadata = { name: `${hook}-${namespace}`, labels: ours };
      const body = { metadata, webhooks: [webhook] };
      await client.create(type, {}, { body });
    }
  }

  after(async () => {
    ending.abort();
    await operator;
    await cluster.close();
  });

  async function fresh(labels: Readonly<Record<string, string>>): Promise<void> {
    const key = { namespace, name };
    await client
      .delete(resourceTypes.statefulSets, key, { preconditions: {} })
      .catch(() => undefined);
    const body = setObject({ name, replicas: 3, labels, annotations: prepared.annotations });
    await client.create(resourceTypes.statefulSets, { namespace }, { body });
    fleet.calls.length = 0;
  }

  /** The refusal of a change, as `code message`; undefined when it was made. */
  async function refusal(change: () => Promise<unknown>): Promise<string | undefined> {
    try {
      await change();
      return undefined;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return `${error.status} ${error.message}`;
    }
  }

  const key = { namespace, name };
  const body = { kind: 'merge', document: { spec: { replicas: 1 } } } as const;
  const patch = (): Promise<unknown> => client.patch(resourceTypes.statefulSets, key, { body });
  const scale = (): Promise<unknown> =>
    client.patch(resourceTypes.statefulSets, key, { body, subresource: 'scale' });

  const text =
    'Cannot patch StatefulSet "test/ingester-zone-a": admission webhook "no-downscale-test.grafana.com" denied the request: downscale of statefulsets/ingester-zone-a in test from 3 to 1 replicas is not allowed because it has the label \'grafana.com/no-downscale=true\'';

  for (const [by, change] of [
    ['a patch', patch],
    ['/scale', scale],
  ] as const) {
    test(`no-downscale refuses ${by} with the peer's text`, async () => {
      await fresh({ 'grafana.com/no-downscale': 'true' });
      assert.equal((await refusal(change))?.startsWith(`400 ${text}`), true);
    });

    test(`prepare-downscale prepares the pods of ${by}, and the set shrinks`, async () => {
      await fresh({ 'grafana.com/prepare-downscale': 'true' });
      assert.equal(await refusal(change), undefined);
      // The annotation moves the set's version, so the server applies the patch anew, and asks again: once (D-26).
      const once = ['POST ingester-zone-a-2', 'POST ingester-zone-a-1'];
      assert.deepEqual(fleet.story(), [...once, ...once]);
      const { spec, metadata } = await client.get(resourceTypes.statefulSets, key);
      assert.equal((spec as JsonObject)['replicas'], 1);
      assert.match(
        metadata.annotations?.['grafana.com/last-downscale'] ?? '',
        /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
      );
    });
  }

  test('prepare-downscale refuses where a pod refuses, and takes it back', async () => {
    await fresh({ 'grafana.com/prepare-downscale': 'true' });
    fleet.behave({ kind: 'answer', status: 500 }, 'ingester-zone-a-2');
    assert.match(
      (await refusal(patch)) ?? '',
      /^400 .*admission webhook "prepare-downscale-test\.grafana\.com" denied the request: downscale of statefulsets\/ingester-zone-a in test from 3 to 1 replicas is not allowed because one or more pods failed to prepare for shutdown\./,
    );
    fleet.behave({ kind: 'application' }, 'ingester-zone-a-2');
    const deletes = fleet.story().filter((call) => call.startsWith('DELETE'));
    assert.deepEqual(deletes, ['DELETE ingester-zone-a-2', 'DELETE ingester-zone-a-1']);
  });

  test('an autoscaler that writes /scale with a resourceVersion succeeds at its second try (D-26)', async () => {
    await fresh({ 'grafana.com/prepare-downscale': 'true' });
    const put = async (): Promise<unknown> => {
      const { metadata } = await client.get(resourceTypes.statefulSets, key);
      const { resourceVersion, uid } = metadata;
      const written = { name, namespace, resourceVersion, uid };
      return client.replace(resourceTypes.statefulSets, key, {
        body: {
          apiVersion: 'autoscaling/v1',
          kind: 'Scale',
          metadata: written,
          spec: { replicas: 1 },
        },
        subresource: 'scale',
      });
    };
    assert.match((await refusal(put)) ?? '', /^409 /);
    assert.equal(await refusal(put), undefined);
  });
});
