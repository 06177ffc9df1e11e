import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { millis } from '#base/units.ts';
import { createCluster, type EmbeddedCluster } from '#cluster/create-cluster.ts';
import type { Client } from '#kubernetes/client.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { ApiError } from '#kubernetes/transport/api-error.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { statefulsetRolloutDefinition } from './definition.ts';

/** The resource as the article shows it, field by field. */
const published: JsonObject = {
  bapi: { bapiUrl: 'https://bapi.example.internal', stageId: '2V6U3YXVO8OGtjQFEO9GJpQk1Xy' },
  channel: '#devel-rollouts',
  minPodEvictionIntervalSeconds: 10,
  pauseRequested: false,
  percent: 25,
  rolloutIdentity: 'GbTdWjQYgiiToKdoWDLN',
  serviceDiscovery: { dc: 'dc1', serviceNames: ['bedrock-example'] },
  statefulset: {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: {
      name: 'bedrock-example-prod',
      labels: { app: 'bedrock-example-prod', 'app.kubernetes.io/version': 'v1.custom-1709074522' },
      annotations: { 'slack.com/bedrock.git.branch': 'main' },
    },
    spec: {
      replicas: 4,
      selector: { matchLabels: { app: 'bedrock-example-prod' } },
      template: {
        metadata: { labels: { app: 'bedrock-example-prod' } },
        spec: {
          containers: [
            {
              name: 'main',
              image: 'registry.example/main@sha256:0',
              env: [{ name: 'A', value: 'b' }],
              resources: { requests: { cpu: '1000m' } },
            },
          ],
        },
      },
      updateStrategy: { type: 'OnDelete' },
    },
  },
};

describe('statefulsetRolloutDefinition', () => {
  let cluster: EmbeddedCluster;
  let client: Client;

  before(async () => {
    const clock = new FakeClock(Date.UTC(2026, 0, 31));
    cluster = await createCluster({ clock, seed: 1 });
    const transport = cluster.transport({ user: 'user', client: 'user' });
    client = createClient({ transport, clock, timeout: millis(0), userAgent: 'test' });
    const body = statefulsetRolloutDefinition;
    await client.create(resourceTypes.customResourceDefinitions, {}, { body });
    await clock.advance(100);
  });
  after(() => cluster.close());

  /** What the server says of an object with this `spec`: how it was stored, or the causes of its refusal. */
  async function stored(spec: JsonObject): Promise<JsonObject | string> {
    const body = { metadata: { generateName: 'sroll-' }, spec };
    try {
      const namespace = 'default';
      return await client.create(resourceTypes.statefulsetRollouts, { namespace }, { body });
    } catch (error) {
      if (error instanceof ApiError) return error.message;
      throw error;
    }
  }

  test('statefulsetRolloutDefinition keeps all that the article publishes, and the whole template [T-01]', async () => {
    const object = await stored(published);
    assert.deepEqual(typeof object === 'object' && object['spec'], published);
  });

  const forgotten = Object.fromEntries(
    Object.entries(published).filter(([name]) => name !== 'percent'),
  );
  const refused: Record<string, { readonly spec: JsonObject; readonly field: RegExp }> = {
    'a percentage of 101 [T-02]': { spec: { ...published, percent: 101 }, field: /spec\.percent/ },
    'a percentage of -1 [T-02]': { spec: { ...published, percent: -1 }, field: /spec\.percent/ },
    'no percentage [T-02]': { spec: forgotten, field: /spec\.percent/ },
    'a service twice': {
      spec: { ...published, serviceDiscovery: { serviceNames: ['a', 'a'] } },
      field: /serviceNames/,
    },
    'a stage of 10 KB': {
      spec: { ...published, bapi: { bapiUrl: 'https://a', stageId: 'x'.repeat(10_240) } },
      field: /stageId/,
    },
    'an unknown policy': {
      spec: { ...published, deletionPolicy: 'Keep' },
      field: /deletionPolicy/,
    },
  };
  for (const [fact, { spec, field }] of Object.entries(refused)) {
    test(`statefulsetRolloutDefinition refuses ${fact}`, async () => {
      const said = await stored(spec);
      assert.match(typeof said === 'string' ? said : 'stored', field);
    });
  }

  test('statefulsetRolloutDefinition is smaller than what client-side apply can annotate', () => {
    assert.ok(JSON.stringify(statefulsetRolloutDefinition).length < 262_144);
  });
});
