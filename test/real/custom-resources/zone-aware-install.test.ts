/** The program in place of the zone-aware-controllers-for-k8s, as deploy/zone-aware-controllers installs it, on a real control plane. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import type { JsonObject } from '#base/json.ts';
import { millis } from '#base/units.ts';
import { numberAt, objectAt, objectsAt, textAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { Transport } from '#kubernetes/transport/transport.ts';
import { freePorts } from '#support/free-ports.ts';
import { OperatorProcess } from '../../integration/stages/operator-program.ts';
import { accountOf } from '../../real-cluster/control-plane/operator-account.ts';
import type { RealEnv } from '../../real-cluster/real-env.ts';
import { type RealLane, startRealLane } from '../../real-cluster/real-lane.ts';
import { applyStrictly } from '../../real-cluster/rendered.ts';
import { NO_INSTALLING } from '../../real-cluster/skip-reasons.ts';

const isExisting = (process.env['TEST_KUBECONFIG'] ?? '') !== '';
const ops = 'zone-aware-controllers-system';
const account = 'zone-aware-controllers-service-account';
const folderOfManifests = new URL('../../../deploy/zone-aware-controllers/', import.meta.url);
const zau = 'zoneawareupdates.zonecontrol.k8s.aws';
const zdb = 'zonedisruptionbudgets.zonecontrol.k8s.aws';
const replicas = 6;
const labels = { app: 'web' };

async function objectsIn(file: string): Promise<readonly JsonObject[]> {
  const source = await readFile(new URL(file, folderOfManifests), 'utf8');
  return parseAllDocuments(source).map((each) => each.toJS() as JsonObject);
}

/** The API server runs outside of the cluster network: it finds the program beside itself, at `port` (D-31). */
function reachable(object: JsonObject, port: number): JsonObject {
  const kind = textAt(object, 'kind');
  if (kind === 'Service') {
    return { ...object, spec: { type: 'ExternalName', externalName: 'localhost' } };
  }
  if (!kind.endsWith('WebhookConfiguration')) return object;
  const webhooks = objectsAt(object, 'webhooks').map((webhook) => ({
    ...webhook,
    clientConfig: { service: { ...objectAt(webhook, 'clientConfig', 'service'), port } },
  }));
  return { ...object, webhooks };
}

function podSpec(image: string): JsonObject {
  return { terminationGracePeriodSeconds: 1, containers: [{ name: 'main', image }] };
}

describe('deploy/zone-aware-controllers on a real control plane', {
  skip: isExisting ? NO_INSTALLING : false,
}, () => {
  let lane: RealLane;
  let admin: Transport;
  let env: RealEnv;
  let folder: string;
  let operator: OperatorProcess | undefined;

  before(async () => {
    lane = await startRealLane();
    admin = lane.plane.connectAsAdmin();
    env = await lane.env({ zones: ['a'], replicas: 1 });
    folder = await mkdtemp(join(tmpdir(), 'zone-aware-install-'));
  });

  after(async () => {
    operator?.kill('SIGKILL');
    await env?.close();
    await admin?.close();
    await lane?.close();
    await rm(folder, { recursive: true });
  });

  /** Until the API server knows the Role: a Lease that is refused at first makes every update wait for two minutes. */
  async function untilPermitted(): Promise<void> {
    const lease = { group: 'coordination.k8s.io', resource: 'leases', namespace: ops };
    const wanted = [
      { ...lease, verb: 'get', name: 'cebbe7b1.amp.aws' },
      { ...lease, verb: 'create' },
      { verb: 'list', resource: 'nodes' },
    ];
    const apiVersion = 'authorization.k8s.io/v1';
    const user = `system:serviceaccount:${ops}:${account}`;
    for (let tries = 0; tries < 300; tries += 1) {
      const answers = await Promise.all(
        wanted.map((resourceAttributes) =>
          env.ask('POST', `/apis/${apiVersion}/subjectaccessreviews`, {
            apiVersion,
            kind: 'SubjectAccessReview',
            spec: { user, resourceAttributes },
          }),
        ),
      );
      const allowed = answers.map(({ body }) => objectAt(body as JsonObject, 'status')['allowed']);
      if (allowed.every((is) => is === true)) return;
      await lane.plane.clock.sleep(millis(50));
    }
    throw new Error('Waited in vain until the API server knows the Roles');
  }

  /** As the shipped Deployment starts it, with the rights of its account and ports of its own. */
  async function start(port: number): Promise<OperatorProcess> {
    const objects = await objectsIn('operator.yaml');
    const deployment = objects.find(({ kind }) => kind === 'Deployment');
    const [container] = objectsAt(objectAt(deployment, 'spec', 'template', 'spec'), 'containers');
    const args = (container?.['args'] ?? []) as readonly string[];
    const { token } = await accountOf(lane.plane.admin, ops, account);
    const config = JSON.parse(lane.plane.kubeconfig(token)) as {
      contexts: readonly { name: string; context: object }[];
    };
    const contexts = config.contexts.map(({ name, context }) => ({
      name,
      context: { ...context, namespace: ops },
    }));
    const kubeconfig = join(folder, 'kubeconfig');
    await writeFile(kubeconfig, JSON.stringify({ ...config, contexts }), { mode: 0o600 });
    return new OperatorProcess([
      'zone-aware-controllers',
      ...args,
      // Each review that is answered is distinguished from debug on: by that it is known that the API server calls.
      '--zap-log-level=debug',
      `--kubeconfig=${kubeconfig}`,
      '--health-probe-bind-address=127.0.0.1:0',
      '--metrics-bind-address=127.0.0.1:0',
      `--server-tls.port=${port}`,
    ]);
  }

  const set = (): JsonObject | undefined => env.stored('statefulsets.apps', 'web');
  const names = Array.from({ length: replicas }, (_, ordinal) => `web-${ordinal}`);
  const imageOf = (pod: string): string =>
    textAt(objectsAt(objectAt(env.stored('pods', pod), 'spec'), 'containers')[0], 'image');
  const isWhole = (): boolean => numberAt(set(), 'status', 'readyReplicas') === replicas;

  async function evict(name: string, query = ''): Promise<number> {
    const path = `/api/v1/namespaces/${env.namespace}/pods/${name}/eviction${query}`;
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } };
    return (await env.ask('POST', path, body)).status;
  }

  /** Until the API server calls the webhook: it learns of a configuration, and of its CA, a moment after that is written. */
  async function untilCalled({ lines }: OperatorProcess): Promise<void> {
    for (let tries = 0; tries < 300; tries += 1) {
      await evict('web-0', '?dryRun=All');
      if (lines.some((line) => line.includes('msg="admission review answered"'))) return;
      await lane.plane.clock.sleep(millis(100));
    }
    throw new Error('Waited in vain until the API server calls the webhook');
  }

  test('is accepted, makes the API server trust it, and does all its work under the shipped Roles', {
    timeout: 240_000,
  }, async () => {
    const [port = 0] = await freePorts(1);
    const installed = [
      ...(await objectsIn('definitions.yaml')),
      ...(await objectsIn('operator.yaml')),
    ].map((each) => reachable(each, port));
    assert.deepEqual(await applyStrictly(admin, installed, ops), []);
    await untilPermitted();
    operator = await start(port);
    await operator.line(/msg="caches synced"/);
    const { namespace } = env;
    const client = lane.plane.admin;
    const body = {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'web' },
      spec: {
        replicas,
        serviceName: 'web',
        podManagementPolicy: 'Parallel',
        updateStrategy: { type: 'OnDelete' },
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: podSpec('web:1') },
      },
    };
    await client.create(resourceTypes.statefulSets, { namespace }, { body });
    await env.until('the pods are ready', isWhole);
    const apiVersion = 'zonecontrol.k8s.aws/v1';
    const budget = {
      apiVersion,
      kind: 'ZoneDisruptionBudget',
      metadata: { name: 'zdb' },
      spec: { selector: { matchLabels: labels }, maxUnavailable: 2 },
    };
    await client.create(resourceTypes.zoneDisruptionBudgets, { namespace }, { body: budget });
    await env.until('the budget tells what it allows', () => {
      const status = objectAt(env.stored(zdb, 'zdb'), 'status');
      return Object.values(objectAt(status, 'disruptionsAllowed')).length === 3;
    });
    const hooks = await objectsIn('webhook-configuration.yaml');
    const configured = hooks.map((each) => reachable(each, port));
    assert.deepEqual(await applyStrictly(admin, configured, ops), []);
    await untilCalled(operator);
    const zones = new Map<string, string>();
    for (const pod of names) {
      zones.set(textAt(env.stored('pods', pod), 'spec', 'nodeName'), pod);
    }
    const codes = await Promise.all([...zones.values()].map((pod) => evict(pod)));
    assert.deepEqual(
      codes.toSorted((one, other) => one - other),
      [201, 429, 429],
    );
    await env.until('one was evicted', () => !isWhole());
    await env.until('the pods are ready again', isWhole);

    const spec = { statefulset: 'web', maxUnavailable: 2 };
    const update = { apiVersion, kind: 'ZoneAwareUpdate', metadata: { name: 'zau' }, spec };
    await client.create(resourceTypes.zoneAwareUpdates, { namespace }, { body: update });
    const document = { spec: { template: { spec: podSpec('web:2') } } };
    const change = { kind: 'merge', document } as const;
    await client.patch(resourceTypes.statefulSets, { namespace, name: 'web' }, { body: change });
    await env.until('it is complete', () => {
      const [condition] = objectsAt(objectAt(env.stored(zau, 'zau'), 'status'), 'conditions');
      const status = objectAt(set(), 'status');
      const { currentRevision, updateRevision, updatedReplicas } = status;
      const isPromoted = currentRevision === updateRevision && updatedReplicas === replicas;
      const isNew = names.every((name) => imageOf(name) === 'web:2');
      return isNew && isPromoted && textAt(condition, 'reason') === 'Updated';
    });
    const { items } = await client.list(resourceTypes.events, { namespace });
    const told = items.filter((each) => textAt(each, 'involvedObject', 'name') === 'zau');
    assert.ok(told.some((each) => textAt(each, 'reason') === 'PodOutdated'));
    operator.kill('SIGTERM');
    assert.equal(await operator.exitCode(), 0);
    const wrong = operator.lines.filter((line) => /level=error|forbidden/i.test(line));
    assert.deepEqual(wrong, []);
  });

  test('has the configuration for cert-manager accepted, too', { timeout: 60_000 }, async () => {
    const objects = await objectsIn('webhook-configuration-cert-manager.yaml');
    assert.deepEqual(await applyStrictly(admin, objects, ops), []);
  });
});
