/** The program in place of the sts-phased-rollout-operator, as deploy/phased-rollout installs it, on a real control plane. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import type { JsonObject } from '#base/json.ts';
import { millis } from '#base/units.ts';
import { objectAt, objectsAt, textAt } from '#cluster/json/read-json.ts';
import type { Transport } from '#kubernetes/transport/transport.ts';
import { freePorts } from '#support/free-ports.ts';
import { OperatorProcess } from '../../integration/stages/operator-program.ts';
import { accountOf } from '../../real-cluster/control-plane/operator-account.ts';
import { type RealLane, startRealLane } from '../../real-cluster/real-lane.ts';
import { applyStrictly } from '../../real-cluster/rendered.ts';
import { NO_INSTALLING } from '../../real-cluster/skip-reasons.ts';
import { ask } from '../../scenarios/ask.ts';
import { type Ask, reviewPhasedRollouts } from '../../scenarios/phased-rollout-reviews.ts';

const isExisting = (process.env['TEST_KUBECONFIG'] ?? '') !== '';
const namespace = 'sts-phased-rollout-operator-system';
const account = 'sts-phased-rollout-operator-controller-manager';
const folderOfManifests = new URL('../../../deploy/phased-rollout/', import.meta.url);
const phasedRollouts = '/apis/sts.plus/v1alpha1/namespaces/default/phasedrollouts';

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

/** Status and body of a scrape. */
function scrape(port: number, token: string): Promise<readonly [number | undefined, string]> {
  const headers = token === '' ? {} : { authorization: `Bearer ${token}` };
  const { promise, resolve, reject } =
    Promise.withResolvers<readonly [number | undefined, string]>();
  const options = { port, host: '127.0.0.1', path: '/metrics', headers, rejectUnauthorized: false };
  get(options, (response) => {
    text(response).then((body) => resolve([response.statusCode, body]), reject);
  }).on('error', reject);
  return promise;
}

describe('deploy/phased-rollout on a real control plane', {
  skip: isExisting ? NO_INSTALLING : false,
}, () => {
  let lane: RealLane;
  let admin: Transport;
  let folder: string;
  const toServer: Ask = (method, path, body) =>
    ask(admin, { method, path, rest: body === undefined ? [] : [body] });

  before(async () => {
    lane = await startRealLane();
    admin = lane.plane.connectAsAdmin();
    folder = await mkdtemp(join(tmpdir(), 'phased-front-'));
  });

  after(async () => {
    await admin?.close();
    await lane?.close();
    await rm(folder, { recursive: true });
  });

  /** Until the API server calls both webhooks: it learns of a configuration a moment after it is written. */
  async function untilCalled(): Promise<void> {
    const query = { expr: 'up{', url: 'http://h' };
    const body = {
      apiVersion: 'sts.plus/v1alpha1',
      kind: 'PhasedRollout',
      metadata: { name: 'probe' },
      spec: { targetRef: 'web', check: { query } },
    };
    for (let tries = 0; tries < 300; tries += 1) {
      const { status } = await toServer('POST', `${phasedRollouts}?dryRun=All`, body);
      if (status === 422) return;
      await lane.plane.clock.sleep(millis(100));
    }
    throw new Error('Waited in vain until the API server calls the webhooks');
  }

  /** As the shipped Deployment starts it, with the rights of its account and ports of its own. */
  async function start(port: number, metrics: number): Promise<OperatorProcess> {
    const objects = await objectsIn('operator.yaml');
    const deployment = objects.find(({ kind }) => kind === 'Deployment');
    const [container] = objectsAt(objectAt(deployment, 'spec', 'template', 'spec'), 'containers');
    const args = (container?.['args'] ?? []) as readonly string[];
    const { token } = await accountOf(lane.plane.admin, namespace, account);
    const config = JSON.parse(lane.plane.kubeconfig(token)) as {
      contexts: readonly { name: string; context: object }[];
    };
    const contexts = config.contexts.map(({ name, context }) => ({
      name,
      context: { ...context, namespace },
    }));
    const kubeconfig = join(folder, 'kubeconfig');
    await writeFile(kubeconfig, JSON.stringify({ ...config, contexts }), { mode: 0o600 });
    return new OperatorProcess([
      'phased-rollout',
      ...args,
      `--kubeconfig=${kubeconfig}`,
      '--health-probe-bind-address=127.0.0.1:0',
      `--metrics-bind-address=127.0.0.1:${metrics}`,
      `--server-tls.port=${port}`,
    ]);
  }

  test('is accepted, reviews as the peer does, and lets be scraped who may', {
    timeout: 240_000,
  }, async () => {
    const [port = 0, metrics = 0] = await freePorts(2);
    const objects = [
      ...(await objectsIn('definition.yaml')),
      ...(await objectsIn('operator.yaml')),
      ...(await objectsIn('webhook-configurations.yaml')),
    ];
    const reached = objects.map((each) => reachable(each, port));
    assert.deepEqual(await applyStrictly(admin, reached, namespace), []);
    const operator = await start(port, metrics);
    await operator.line(/msg="webhooks served"/);
    await untilCalled();
    await reviewPhasedRollouts(toServer, 'default');
    const { token } = await accountOf(lane.plane.admin, namespace, account);
    assert.equal((await scrape(metrics, ''))[0], 401);
    assert.equal((await scrape(metrics, 'nonsense'))[0], 401);
    assert.equal((await scrape(metrics, token))[0], 403);
    await permitScrapes();
    const reader = await accountOf(lane.plane.admin, namespace, 'reader');
    const [status, exposition] = await scrape(metrics, reader.token);
    assert.equal(status, 200);
    assert.match(exposition, /^rollout_operator_admission_reviews_total\{.*"Denied"\} \d+$/m);
    operator.kill('SIGTERM');
    assert.equal(await operator.exitCode(), 0);
    // Nobody answers any more: their policy is Ignore.
    const { status: created } = await toServer('POST', phasedRollouts, {
      apiVersion: 'sts.plus/v1alpha1',
      kind: 'PhasedRollout',
      metadata: { name: 'unreviewed' },
      spec: { targetRef: 'web', check: { query: { expr: 'up{', url: 'http://h' } } },
    });
    assert.equal(created, 201);
  });

  test('has the configurations of the peer for cert-manager accepted, too', {
    timeout: 60_000,
  }, async () => {
    const objects = await objectsIn('webhook-configurations-cert-manager.yaml');
    assert.deepEqual(await applyStrictly(admin, objects, namespace), []);
  });

  /** The ClusterRole `metrics-reader` of the peer, and an account that has it. */
  async function permitScrapes(): Promise<void> {
    const metadata = { name: 'metrics-reader' };
    const apiVersion = 'rbac.authorization.k8s.io/v1';
    const rules = [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }];
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', ...metadata };
    const subjects = [{ kind: 'ServiceAccount', name: 'reader', namespace }];
    const objects = [
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'reader', namespace } },
      { apiVersion, kind: 'ClusterRole', metadata, rules },
      { apiVersion, kind: 'ClusterRoleBinding', metadata, roleRef, subjects },
    ];
    assert.deepEqual(await applyStrictly(admin, objects, namespace), []);
  }
});
