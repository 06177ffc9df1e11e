/** The real program behind an API server that verifies it: evictions by the pods' own subresource, under the shipped Roles. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import type { JsonObject } from '#base/json.ts';
import type { PolicyRule } from '#embedded-cluster/authorizer.ts';
import { ApiError } from '#kubernetes/api-error.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { unusedGrants } from '#testing/role-usage.ts';
import { WebhookClient } from '#testing/webhook-client.ts';
import { startEnvironment } from '#testing/world-environment.ts';
import { deployFiles, programVersion } from '../../scripts/generate-deploy.ts';
import { builtImage } from '../../scripts/install/deployment.ts';
import { type ServingOperator, WebhookStage } from '../integration/webhook-stage.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const namespace = 'test';
const files = deployFiles(builtImage(programVersion(root)), namespace);
const zones = ['a', 'b', 'c'];
const user = { name: 'rollout-operator', groups: ['system:authenticated'] };

function documentsOf(file: string): readonly JsonObject[] {
  return parseAllDocuments(files[file] ?? assert.fail(`there is no ${file}`)).map(
    (document) => document.toJS() as JsonObject,
  );
}
function rulesOf(...roles: readonly string[]): readonly PolicyRule[] {
  return roles
    .flatMap(documentsOf)
    .filter(({ kind }) => kind === 'Role' || kind === 'ClusterRole')
    .flatMap(({ rules }) => rules as unknown as readonly PolicyRule[]);
}

function setOf(zone: string, replicas: number): JsonObject {
  const name = `ingester-zone-${zone}`;
  const labels = { name, app: 'ingester' };
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name, namespace, labels: { app: 'ingester', 'rollout-group': 'ingester' } },
    spec: {
      replicas,
      serviceName: name,
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: 'OnDelete' },
      selector: { matchLabels: { name } },
      template: { metadata: { labels }, spec: { containers: [{ name: 'i', image: 'i:1' }] } },
    },
  };
}

describe('evictions through the real program', () => {
  const clock = systemClock();
  let stage: WebhookStage;
  let environment: ReturnType<typeof startEnvironment>;
  let operator: ServingOperator;
  let rules: readonly PolicyRule[];

  async function evict(slot: string, rest: JsonObject = {}): Promise<string> {
    const name = `ingester-zone-${slot}`;
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace }, ...rest };
    try {
      await stage.admin.create(resourceTypes.pods, { namespace, name }, { body, subresource: 'eviction' } as never);
      return 'evicted';
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const at = error.message.indexOf("admission webhook"); return `${error.status} ${at < 0 ? error.message : error.message.slice(at)}`;
    }
  }

  before(async () => {
    stage = await WebhookStage.open(user);
    const { admin, cluster } = stage;
    environment = startEnvironment(cluster, clock, {});
    for (const body of documentsOf('webhook-objects.yaml')) {
      const type = body['kind'] === 'Secret' ? resourceTypes.secrets : resourceTypes.configMaps;
      await admin.create(type, { namespace }, { body });
    }
    rules = rulesOf('role.yaml', 'budget-role.yaml', 'webhook-role.yaml', 'webhook-certificate-role.yaml');
    cluster.authorizer.restrict([
      { user: user.name, namespace, rules },
      { user: user.name, rules: rulesOf('webhook-certificate-cluster-role.yaml') },
    ]);
    await stage.installBudgets();
    for (const zone of zones) {
      await admin.create(resourceTypes.statefulSets, { namespace }, { body: setOf(zone, 4) });
    }
    for (let n = 0; n < 200; n += 1) {
      const sets = await admin.list(resourceTypes.statefulSets, { namespace });
      const ready = sets.items.map((each) => (each['status'] as { readyReplicas?: number } | undefined)?.readyReplicas);
      if (ready.every((count) => count === 4)) break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    operator = await stage.operator();
    await stage.configure(operator.port);
  });

  after(async () => {
    await environment.controllers.stop();
    await environment.kubelet.stop();
    await stage.close();
  });

  test('50, then 1,000 evictions at once: each answer is 201, 429 or 404, one zone only is touched', async () => {
    const budget = {
      apiVersion: 'rollout-operator.grafana.com/v1',
      kind: 'ZoneAwarePodDisruptionBudget',
      metadata: { name: 'ingester' },
      spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'ingester' } } },
    };
    await stage.admin.create(resourceTypes.zoneAwarePodDisruptionBudgets, { namespace }, { body: budget });
    await new Promise((resolve) => setTimeout(resolve, 12_000));
    for (const size of [50, 1_000]) {
      const at = performance.now();
      const from = stage.cluster.eventLog.calls.length;
      const answers = await Promise.all(
        Array.from({ length: size }, (_, n) => evict(`${zones[n % 3]}-${Math.floor(n / 3) % 4}`)),
      );
      const seen: Record<string, number> = {};
      for (const answer of answers) {
        const key = answer.startsWith("500") ? answer : answer.slice(0, 90);
        seen[key] = (seen[key] ?? 0) + 1;
      }
      const calls: Record<string, number> = {};
      for (const { verb, resource, user: by } of stage.cluster.eventLog.calls.slice(from)) {
        if (by === user.name) calls[`${verb} ${resource}`] = (calls[`${verb} ${resource}`] ?? 0) + 1;
      }
      console.log(size, 'in', Math.round(performance.now() - at), 'ms', seen, calls);
      assert.deepEqual(
        [...new Set(answers.map((answer) => answer.slice(0, 3)))].filter((code) => !['evi', '429', '404'].includes(code)),
        [],
      );
    }
    const commits = stage.cluster.eventLog.commits.filter(({ resource, verb }) => resource === 'pods' && verb === 'delete');
    console.log('deleted', commits.length);
    const metrics = await (await fetch(`${operator.plain}/metrics`)).text();
    console.log(metrics.split('\n').filter((line) => line.includes('zpdb') && !line.startsWith('#')).join('\n'));
  });

  test('dry runs of the API server and of kubectl change no byte of the ledger', async () => {
    await new Promise((resolve) => setTimeout(resolve, 8_000));
    const ledger = async () =>
      JSON.stringify(await stage.admin.get(resourceTypes.configMaps, { namespace, name: 'rollout-operator-ledger-ingester' }));
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    const before = await ledger();
    const kubectl = await evict('b-1', { deleteOptions: { dryRun: ['All'] } });
    const transport = stage.cluster.transport();
    const answer = await transport.request({
      method: 'POST',
      path: `/api/v1/namespaces/${namespace}/pods/ingester-zone-b-1/eviction?dryRun=All`,
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'ingester-zone-b-1', namespace } }),
    });
    console.log('dry', kubectl, answer.status, before === (await ledger()));
    assert.equal(await ledger(), before);
  });

  test('forged reviews posted to the port: a claim by one request of nobody', async () => {
    const secret = await stage.admin.get(resourceTypes.secrets, { namespace, name: 'rollout-operator-self-signed-certificate' });
    const ca = Buffer.from((secret['data'] as { ca: string }).ca, 'base64').toString();
    const client = new WebhookClient(operator.port, ca, { servername: `rollout-operator.${namespace}.svc` });
    const forged = async (request: JsonObject) =>
      client.post('/admission/pod-eviction', JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request }));
    const base = {
      uid: 'u',
      kind: { group: 'policy', version: 'v1', kind: 'Eviction' },
      resource: { group: '', version: 'v1', resource: 'pods' },
      subResource: 'eviction',
      operation: 'CREATE',
      namespace,
      name: 'ingester-zone-b-2',
    };
    for (const [what, request] of Object.entries<JsonObject>({
      'secret of another kind': { ...base, resource: { group: '', version: 'v1', resource: 'secrets' } },
      'statefulsets eviction': { ...base, resource: { group: 'apps', version: 'v1', resource: 'statefulsets' } },
      'object of another pod': { ...base, object: { kind: 'Pod', metadata: { name: 'other', namespace: 'elsewhere' } } },
      'object namespace mismatch': { ...base, object: { kind: 'Eviction', metadata: { name: 'ingester-zone-b-2', namespace: 'elsewhere' } } },
      'dryRun of a strange type': { ...base, object: { deleteOptions: { dryRun: 'All' } } },
      'proto': { ...base, name: '__proto__' },
      'huge dry run': { ...base, object: { deleteOptions: { dryRun: Array.from({ length: 100_000 }, () => 'All') } } },
      'name with a path': { ...base, name: '../../secrets/x' },
    })) {
      const { status, text } = await forged(request);
      console.log(what, status, text.slice(0, 220));
      assert.ok(status === 200 || status === 400);
    }
    const ledger = await stage.admin.get(resourceTypes.configMaps, { namespace, name: 'rollout-operator-ledger-ingester' });
    console.log('ledger after forged', (ledger['data'] as { reservations: string }).reservations);
    const calls = stage.cluster.eventLog.calls.filter((c) => c.user === user.name).slice(-6).map((c) => `${c.verb} ${c.resource} ${c.name}`);
    console.log(calls);
    await client.close();
  });

  test('the shipped Roles permit all that is done, and budget-role nothing besides', async () => {
    // A pod that is gone, and one that is terminating, are read.
    console.log(await evict('z-9'));
    const calls = stage.cluster.eventLog.calls.filter((call) => call.user === user.name);
    const refused = calls.filter(({ outcome }) => outcome === 403).map(({ verb, resource, name }) => `${verb} ${resource} ${name}`);
    console.log('refused', [...new Set(refused)]);
    console.log('unused of budget-role', unusedGrants(rulesOf('budget-role.yaml'), calls));
    assert.deepEqual(refused, []);
    assert.deepEqual(unusedGrants(rulesOf('budget-role.yaml'), calls), []);
  });

  test('SIGKILL in a storm: nobody is allowed beyond the budget afterwards', async () => {
    const storm = Array.from({ length: 100 }, (_, n) => evict(`${zones[n % 3]}-${Math.floor(n / 3) % 4}`));
    await new Promise((resolve) => setTimeout(resolve, 15));
    operator.process.kill('SIGKILL');
    const first = await Promise.all(storm);
    console.log('storm', first.filter((a) => a === 'evicted').length, [...new Set(first.map((a) => a.slice(0, 120)))]);
  });
});
