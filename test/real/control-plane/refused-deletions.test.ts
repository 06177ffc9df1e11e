/**
 * What a real API server answers to the deletion, the eviction and the change of a pod that a webhook is in the way of, and what
 * is stored then: which answers of 5xx are refusals.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { millis } from '#base/units.ts';
import type { Client } from '#kubernetes/client.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { ApiError, isOutcomeUnknown } from '#kubernetes/transport/api-error.ts';
import { RawAnswer, type ReviewAnswer, WebhookServer } from '../../differential/webhook-server.ts';
import type { RealEnv } from '../../real-cluster/real-env.ts';
import { type RealLane, startRealLane } from '../../real-cluster/real-lane.ts';
import { NO_INSTALLING } from '../../real-cluster/skip-reasons.ts';

const isExisting = (process.env['TEST_KUBECONFIG'] ?? '') !== '';
const failed = /Internal error occurred: failed calling webhook "[a-z0-9-]+\.test\.example"/;

/** How a webhook is in the way. */
interface Obstacle {
  /** Where it is asked. @default its own path of the server */
  readonly url?: string;
  readonly answers?: ReviewAnswer;
  readonly status: number;
  readonly says: RegExp;
}

const denial =
  (code: number): ReviewAnswer =>
  () => ({
    allowed: false,
    status: { code, message: 'not now' },
  });
const denied = /admission webhook "[a-z0-9-]+\.test\.example" denied the request: not now/;

function rule(operations: readonly string[], resource: string): JsonObject {
  return { operations, apiGroups: [''], apiVersions: ['v1'], resources: [resource] };
}

const obstacles: Readonly<Record<string, Obstacle>> = {
  unreachable: { url: 'https://127.0.0.1:1/nobody', status: 500, says: failed },
  late: { answers: () => undefined, status: 500, says: failed },
  broken: {
    answers: () => new RawAnswer(503, 'text/plain', 'no backend'),
    status: 500,
    says: failed,
  },
  garbled: {
    answers: () => new RawAnswer(200, 'application/json', '{"kind":"Other"}'),
    status: 500,
    says: failed,
  },
  'denial-500': { answers: denial(500), status: 500, says: denied },
  'denial-503': { answers: denial(503), status: 503, says: denied },
  'denial-504': { answers: denial(504), status: 504, says: denied },
};

describe('a webhook in the way of a write, on a real API server', {
  skip: isExisting ? NO_INSTALLING : false,
}, () => {
  let lane: RealLane;
  let env: RealEnv;
  let hooks: WebhookServer;
  let admin: Client;

  before(async () => {
    lane = await startRealLane();
    env = await lane.env({ zones: ['a'], replicas: 1 });
    ({ admin } = lane.plane);
    hooks = await WebhookServer.start();
  });

  after(async () => {
    await env?.close();
    await lane?.close();
    await hooks?.close();
  });

  function configuration(kind: 'Validating' | 'Mutating'): JsonObject {
    const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': env.namespace } };
    const webhooks = Object.entries(obstacles).map(([name, { url, answers }]) => {
      if (answers !== undefined) hooks.at(`/${name}`, answers);
      const own = { url: hooks.url(`/${name}`), caBundle: hooks.caBundle };
      return {
        name: `${name}.test.example`,
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        timeoutSeconds: 1,
        failurePolicy: 'Fail',
        namespaceSelector,
        matchConditions: [{ name: 'about-it', expression: `request.name.startsWith("${name}-")` }],
        rules: [rule(['DELETE', 'UPDATE'], 'pods'), rule(['CREATE'], 'pods/eviction')],
        clientConfig: url === undefined ? own : { ...own, url },
      };
    });
    const metadata = { name: `${env.namespace}-${kind.toLowerCase()}` };
    return {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: `${kind}WebhookConfiguration`,
      metadata,
      webhooks,
    };
  }

  async function makePod(name: string): Promise<string> {
    const body = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: { containers: [{ name: 'main', image: 'main:1' }], nodeName: 'node-1' },
    };
    const { namespace } = env;
    const pod = await admin.create(resourceTypes.pods, { namespace, name }, { body });
    return pod.metadata.uid;
  }

  /** What is asked of the pod `name`. */
  const writes: Readonly<Record<string, (name: string, uid: string) => Promise<unknown>>> = {
    deletion: (name, uid) =>
      admin.delete(
        resourceTypes.pods,
        { namespace: env.namespace, name },
        { preconditions: { uid } },
      ),
    eviction: (name) => {
      const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } };
      return admin.create(
        resourceTypes.pods,
        { namespace: env.namespace, name },
        { body, subresource: 'eviction' },
      );
    },
    change: (name) =>
      admin.patch(
        resourceTypes.pods,
        { namespace: env.namespace, name },
        { body: { kind: 'merge', document: { metadata: { annotations: { a: 'b' } } } } },
      ),
  };

  for (const kind of ['Validating', 'Mutating'] as const) {
    test(`of a ${kind}WebhookConfiguration stores nothing, and its 5xx is no unknown outcome [found R-8]`, {
      timeout: 120_000,
    }, async () => {
      const { namespace } = env;
      const pods = new Map<string, string>();
      for (const obstacle of Object.keys(obstacles)) {
        for (const write of Object.keys(writes)) {
          const name = `${obstacle}-${write}-${kind.toLowerCase()}`;
          pods.set(name, await makePod(name));
        }
      }
      // A pod of its own: the change of it goes through until the webhooks are asked.
      const probe = `denial-500-probe-${kind.toLowerCase()}`;
      pods.set(probe, await makePod(probe));
      const plural = `${kind.toLowerCase()}webhookconfigurations`;
      const path = `/apis/admissionregistration.k8s.io/v1/${plural}`;
      assert.equal((await env.ask('POST', path, configuration(kind))).status, 201);
      await inForce(writes['change'], probe);
      for (const [obstacle, { status, says }] of Object.entries(obstacles)) {
        for (const [write, send] of Object.entries(writes)) {
          const name = `${obstacle}-${write}-${kind.toLowerCase()}`;
          const uid = pods.get(name) ?? '';
          const error = await send(name, uid).then(
            () => undefined,
            (thrown: unknown) => thrown,
          );
          assert.ok(error instanceof ApiError, `${name} was made`);
          assert.equal(error.status, status, `${name}: ${error.message}`);
          assert.match(error.message, says);
          const { metadata } = await admin.get(resourceTypes.pods, { namespace, name });
          const left = { uid: metadata.uid, ...traces(metadata) };
          assert.deepEqual(left, { uid, deletionTimestamp: undefined, annotations: undefined });
          assert.equal(isOutcomeUnknown(error), false, `${name}: ${error.message}`);
        }
      }
      const url = `${path}/${env.namespace}-${kind.toLowerCase()}`;
      assert.equal((await env.ask('DELETE', url)).status, 200);
      for (const name of pods.keys()) await removed(name);
    });
  }

  /** What each of the writes would leave behind. */
  function traces({ deletionTimestamp, annotations }: KubernetesObject['metadata']): object {
    return { deletionTimestamp, annotations };
  }

  /** Waits until the API server asks the webhooks: it learns of a configuration a moment after it is written. */
  async function inForce(
    send: ((name: string, uid: string) => Promise<unknown>) | undefined,
    name: string,
  ): Promise<void> {
    for (let tries = 0; tries < 100; tries += 1) {
      const isMade = await send?.(name, '').then(
        () => true,
        () => false,
      );
      if (isMade === false) return;
      await env.pass(millis(100));
    }
    throw new Error('Waited in vain until the API server asks the webhooks');
  }

  /** Deletes a pod, as soon as no webhook is asked any more. */
  async function removed(name: string): Promise<void> {
    const path = `/api/v1/namespaces/${env.namespace}/pods/${name}`;
    for (let tries = 0; tries < 100; tries += 1) {
      const { status } = await env.ask('DELETE', path, { gracePeriodSeconds: 0 });
      if (status === 200 || status === 404) return;
      await env.pass(millis(100));
    }
    throw new Error(`Waited in vain until ${name} is deleted`);
  }
});
