/** The definition of StatefulsetRollout on a real API server, which carries out its rules. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { millis } from '#base/units.ts';
import { objectAt, textAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { isConflict, isNotFound, isTooManyRequests } from '#kubernetes/transport/api-error.ts';
import { statefulsetRolloutDefinition } from '#statefulset-rollout/definition.ts';
import type { RealEnv } from '../../real-cluster/real-env.ts';
import { type RealLane, startRealLane } from '../../real-cluster/real-lane.ts';
import { NO_INSTALLING } from '../../real-cluster/skip-reasons.ts';

const isExisting = (process.env['TEST_KUBECONFIG'] ?? '') !== '';

const container = {
  name: 'main',
  image: 'registry.example/main@sha256:0',
  env: [{ name: 'A', value: 'b' }],
  resources: { requests: { cpu: '1000m' } },
};

/** A StatefulSet as resources carry it, with these fields of its spec. */
function carried(more: JsonObject = {}, name = 'web'): JsonObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name, labels: { app: name } },
    spec: {
      replicas: 4,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers: [container] } },
      updateStrategy: { type: 'OnDelete' },
      ...more,
    },
  };
}

/** All fields that are published. */
const published: JsonObject = {
  bapi: { bapiUrl: 'https://bapi.example.internal', stageId: '2V6U3YXVO8OGtjQFEO9GJpQk1Xy' },
  channel: '#devel-rollouts',
  minPodEvictionIntervalSeconds: 10,
  pauseRequested: false,
  percent: 25,
  rolloutIdentity: 'GbTdWjQYgiiToKdoWDLN',
  serviceDiscovery: { dc: 'dc1', serviceNames: ['bedrock-example'] },
  statefulset: carried(),
};

describe('the definition of StatefulsetRollout on a real API server', {
  skip: isExisting ? NO_INSTALLING : false,
}, () => {
  let lane: RealLane;
  let env: RealEnv;
  const path = '/apis/bedrock.operator.slack.com/v1/namespaces';

  before(async () => {
    lane = await startRealLane();
    env = await lane.env({ zones: ['a'], replicas: 1 });
    const { admin, clock } = lane.plane;
    const body = statefulsetRolloutDefinition;
    await admin.create(resourceTypes.customResourceDefinitions, {}, { body }).catch((error) => {
      if (!isConflict(error)) throw error;
    });
    for (let tries = 0; tries < 300; tries += 1) {
      const query = { namespace: env.namespace };
      const isServed = await admin.list(resourceTypes.statefulsetRollouts, query).then(
        () => true,
        (error: unknown) => {
          // It is not served yet, or its storage is not ready.
          if (isNotFound(error) || isTooManyRequests(error)) return false;
          throw error;
        },
      );
      if (isServed) return;
      await clock.sleep(millis(50));
    }
    throw new Error('Waited in vain until the API server serves StatefulsetRollouts');
  });

  after(async () => {
    await env?.close();
    await lane?.close();
  });

  /** What the server says of an object with this `spec`: how it was stored, or why not. */
  async function stored(spec: JsonObject, name = ''): Promise<JsonObject | string> {
    const { namespace } = env;
    const apiVersion = 'bedrock.operator.slack.com/v1';
    const kind = 'StatefulsetRollout';
    const metadata = name === '' ? { generateName: 'sroll-' } : { name };
    const body = { apiVersion, kind, metadata, spec };
    const url = `${path}/${namespace}/statefulsetrollouts?fieldValidation=Strict`;
    const answer = await env.ask('POST', url, body);
    const said = answer.body as JsonObject;
    return answer.status < 300 ? said : textAt(said, 'message');
  }

  test('is taken with all that is published, and the whole template is kept [T-01]', async () => {
    const object = await stored(published);
    assert.equal(typeof object, 'object', JSON.stringify(object));
    assert.deepEqual(objectAt(object as JsonObject, 'spec'), published);
  });

  test('is taken with all that is ours', async () => {
    const rest = Object.fromEntries(
      Object.entries(published).filter(([field]) => field !== 'bapi'),
    );
    const object = await stored({
      ...rest,
      notifications: {
        slack: {
          channel: '#devel-rollouts',
          level: 'info',
          tokenSecretRef: { name: 's', key: 'k' },
        },
      },
      callback: {
        webhook: {
          url: 'https://hooks.example/a?b=c',
          id: 'a',
          signingSecretRef: { name: 's', key: 'k' },
        },
      },
      versionLeak: { policy: 'Pin', repair: true },
      rollback: { minPodEvictionIntervalSeconds: 1, unreadyPods: 'Evict' },
      deletionPolicy: 'Orphan',
      replicasOwnership: 'External',
      immutableFieldPolicy: 'RecreateOrphan',
      maxParallelWithoutBudget: 3,
      progressDeadlineSeconds: 600,
      rolloutTimeoutSeconds: 0,
    });
    assert.equal(typeof object, 'object', JSON.stringify(object));
  });

  const bare: JsonObject = { percent: 100, statefulset: carried() };
  const webhook = { url: 'https://a', id: 'b' };
  const refused: Record<string, { readonly spec: JsonObject; readonly field: RegExp }> = {
    'a percentage of 101 [T-02]': { spec: { ...bare, percent: 101 }, field: /spec\.percent/ },
    'no percentage [T-02]': { spec: { statefulset: carried() }, field: /spec\.percent/ },
    'another update strategy [T-03]': {
      spec: { ...bare, statefulset: carried({ updateStrategy: { type: 'RollingUpdate' } }) },
      field: /spec\.statefulset\.spec\.updateStrategy\.type.*must be OnDelete/,
    },
    'two channels [T-05]': {
      spec: { ...bare, channel: '#a', notifications: { slack: { channel: '#b' } } },
      field: /spec\.channel.*must be equal/,
    },
    'a repair without a pin [T-06]': {
      spec: { ...bare, versionLeak: { repair: true } },
      field: /spec\.versionLeak\.repair.*needs policy Pin/,
    },
    'two receivers': {
      spec: { ...bare, bapi: published['bapi'], callback: { webhook } },
      field: /spec\.callback.*cannot both be set/,
    },
    'a user in a URL': {
      spec: { ...bare, callback: { webhook: { ...webhook, url: 'https://me@host/' } } },
      field: /spec\.callback\.webhook\.url.*without a user/,
    },
    'no service of a discovery': {
      spec: { ...bare, serviceDiscovery: { dc: 'dc1' } },
      field: /serviceNames must have at least one/,
    },
    'a negative number of replicas': {
      spec: { ...bare, statefulset: carried({ replicas: -1 }) },
      field: /replicas must be 0 or more/,
    },
    'another kind': {
      spec: { ...bare, statefulset: { ...carried(), kind: 'Deployment' } },
      field: /must be a StatefulSet of apps\/v1/,
    },
  };
  for (const [fact, { spec, field }] of Object.entries(refused)) {
    test(`refuses ${fact}`, async () => {
      const said = await stored(spec);
      assert.match(typeof said === 'string' ? said : 'stored', field);
    });
  }

  test('lets nobody change the name of the set, and anybody the percentage [T-04]', async () => {
    assert.equal(typeof (await stored(bare, 'named')), 'object');
    const url = `${path}/${env.namespace}/statefulsetrollouts/named`;
    const found = (await env.ask('GET', url)).body as JsonObject;
    const renamed = { ...found, spec: { ...bare, statefulset: carried({}, 'other') } };
    const answer = await env.ask('PUT', url, renamed);
    assert.match(textAt(answer.body as JsonObject, 'message'), /metadata\.name.*cannot be changed/);
    const raised = { ...found, spec: { ...bare, percent: 50 } };
    assert.equal((await env.ask('PUT', url, raised)).status, 200);
  });
});
