/** The program that runs everything, as a process of its own under the shipped Roles, behind an API server that calls its webhooks. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';
import { sharedPhasedConfigurations } from '#admission/webhook-configuration/phased-webhook-configurations.ts';
import { sharedZoneConfiguration } from '#admission/webhook-configuration/zone-webhook-configuration.ts';
import type { JsonObject } from '#base/json.ts';
import { webhookTypes } from '#certificate/webhook-configuration.ts';
import type { PolicyRule } from '#cluster/auth/authorizer.ts';
import { objectsAt, textAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { phasedRolloutDefinition } from '#phased-rollout/definition.ts';
import { statefulsetRolloutDefinition } from '#statefulset-rollout/definition.ts';
import { freePort } from '#support/free-ports.ts';
import { zoneAwareUpdateDefinition } from '#zone-aware-update/definition.ts';
import { zoneDisruptionBudgetDefinition } from '#zone-disruption-budget/definition.ts';
import { allFiles, programVersion } from '../../../scripts/generate-deploy.ts';
import { builtImage } from '../../../scripts/install/deployment.ts';
import { deployFiles } from '../../../scripts/install/operator-files.ts';
import { ask } from '../../scenarios/ask.ts';
import { type Ask, reviewPhasedRollouts } from '../../scenarios/phased-rollout-reviews.ts';
import { bundled } from '../stages/webhook-bundles.ts';
import { type ServingOperator, WebhookStage } from '../stages/webhook-stage.ts';

const namespace = 'test';
const user = { name: 'rollout-operator', groups: ['system:authenticated'] };
const image = builtImage(programVersion(fileURLToPath(new URL('../../..', import.meta.url))));
const usual = deployFiles(image, namespace);
const all = allFiles(image, namespace);

function nameOf(body: JsonObject): { readonly name: string } {
  return { name: textAt(body, 'metadata', 'name') };
}

/** What the roles in `texts` permit. */
function rulesIn(...texts: readonly (string | undefined)[]): readonly PolicyRule[] {
  return texts
    .flatMap((text) => parseAllDocuments(text ?? assert.fail('there is no such file')))
    .map((document) => document.toJS() as { kind: string; rules?: readonly PolicyRule[] })
    .flatMap(({ rules = [] }) => rules);
}

/** The arguments of the shipped Deployment that are not about the place it runs in. */
function shippedArguments(): readonly string[] {
  const deployment = parse(all['deployment.yaml'] ?? '') as {
    spec: { template: { spec: { containers: [{ args: string[] }] } } };
  };
  const [{ args }] = deployment.spec.template.spec.containers;
  return args.filter((argument) => !argument.includes('$('));
}

describe('the program that runs everything', () => {
  let stage: WebhookStage;
  let operator: ServingOperator;
  let probes: number;
  let metrics: number;
  const toServer: Ask = (method, path, body) =>
    ask(stage.cluster.transport(), { method, path, rest: body === undefined ? [] : [body] });

  before(async () => {
    stage = await WebhookStage.open(user);
    const { admin, cluster } = stage;
    const zoned = [zoneAwareUpdateDefinition, zoneDisruptionBudgetDefinition];
    const carrying = [statefulsetRolloutDefinition];
    for (const each of [phasedRolloutDefinition, ...zoned, ...carrying]) await install(each);
    const objects = parseAllDocuments(usual['webhook-objects.yaml'] ?? '');
    for (const body of objects.map((document) => document.toJS() as JsonObject)) {
      const type = body['kind'] === 'Secret' ? resourceTypes.secrets : resourceTypes.configMaps;
      await admin.create(type, { namespace }, { body });
    }
    const own = ['role.yaml', 'webhook-role.yaml', 'webhook-certificate-role.yaml'];
    const clusterRole = 'webhook-certificate-cluster-role.yaml';
    cluster.authorizer.restrict([
      {
        user: user.name,
        namespace,
        rules: rulesIn(
          ...own.map((file) => usual[file]),
          all['role.yaml'],
          all['statefulset-rollout-role.yaml'],
          all['zone-role.yaml'],
        ),
      },
      {
        user: user.name,
        rules: rulesIn(usual[clusterRole], all[clusterRole], all['zone-cluster-role.yaml']),
      },
    ]);
    [probes, metrics] = [await freePort(), await freePort()];
    operator = await stage.operator([
      ...shippedArguments(),
      `--health-probe-bind-address=127.0.0.1:${probes}`,
      `--metrics-bind-address=127.0.0.1:${metrics}`,
      '--metrics-secure=false',
      '--zap-log-level=info',
      `--watch-namespace=${namespace}`,
    ]);
  });

  after(async () => {
    await stage.close();
  });

  async function install(body: JsonObject): Promise<void> {
    const { admin, cluster } = stage;
    const served = new Promise<void>((resolve) => {
      cluster.eventLog.onCommit(({ resource, after: stored }) => {
        if (!resource.startsWith('customresourcedefinitions.')) return;
        const conditions = objectsAt(stored, 'status', 'conditions');
        if (conditions.some((each) => textAt(each, 'type') === 'Established')) resolve();
      });
    });
    await admin.create(resourceTypes.customResourceDefinitions, {}, { body });
    await served;
  }

  test('serves the webhooks of PhasedRollouts in addition to the others, by one Service and with one CA', async () => {
    const { port } = operator;
    const bodies = sharedPhasedConfigurations({ namespace, port });
    const names = bodies.map((body) => textAt(body, 'metadata', 'name'));
    const trusted = bundled(stage.cluster.eventLog, names);
    for (const body of bodies) {
      const isMutating = body['kind'] === 'MutatingWebhookConfiguration';
      await stage.admin.create(webhookTypes[isMutating ? 'mutating' : 'validating'], {}, { body });
    }
    await trusted;
    await reviewPhasedRollouts(toServer, namespace);
    await stage.configure(port);
    await stage.set({ name: 'guarded', labels: { 'grafana.com/no-downscale': 'true' } });
    await assert.rejects(stage.scale('guarded', 1), /is not allowed because it has the label/);
  });

  test('reviews evictions under the ZoneDisruptionBudgets of its namespace, by the same Service and with the same CA', async () => {
    const body = sharedZoneConfiguration({ namespace, port: operator.port });
    await configureEvictions(body);
    await budgetedPod(namespace);
    const answer = await evict(namespace);
    assert.equal(answer.status, 403);
    assert.match(JSON.stringify(answer.body), /denied the request: denying pod eviction for web-0/);
    await stage.admin.delete(webhookTypes.mutating, nameOf(body), { preconditions: {} });
  });

  test('lets no pod of another namespace go that it is asked about all the same, as it cannot see its budgets', async () => {
    const shipped = sharedZoneConfiguration({ namespace, port: operator.port });
    const [hook] = objectsAt(shipped, 'webhooks');
    const body = { ...shipped, webhooks: [{ ...hook, namespaceSelector: {} }] };
    await configureEvictions(body);
    await stage.admin.create(
      resourceTypes.namespaces,
      {},
      { body: { metadata: { name: 'apps' } } },
    );
    await budgetedPod('apps');
    const answer = await evict('apps');
    assert.ok(answer.status >= 400, `${answer.status} ${JSON.stringify(answer.body)}`);
    await stage.admin.delete(webhookTypes.mutating, nameOf(body), { preconditions: {} });
  });

  async function configureEvictions(body: JsonObject): Promise<void> {
    const trusted = bundled(stage.cluster.eventLog, [nameOf(body).name]);
    await stage.admin.create(webhookTypes.mutating, {}, { body });
    await trusted;
  }

  /** A pod that serves, and a budget that lets none go. */
  async function budgetedPod(at: string): Promise<void> {
    const { admin } = stage;
    const labels = { app: 'web' };
    const spec = { containers: [{ name: 'main', image: 'web:1' }] };
    const pod = { metadata: { name: 'web-0', labels }, spec };
    await admin.create(resourceTypes.pods, { namespace: at }, { body: pod });
    const conditions = [{ type: 'Ready', status: 'True' }];
    const document = { status: { phase: 'Running', conditions } };
    const write = { body: { kind: 'merge', document }, subresource: 'status' } as const;
    await admin.patch(resourceTypes.pods, { namespace: at, name: 'web-0' }, write);
    const budget = {
      apiVersion: 'zonecontrol.k8s.aws/v1',
      kind: 'ZoneDisruptionBudget',
      metadata: { name: 'web' },
      spec: { selector: { matchLabels: labels }, maxUnavailable: 0 },
    };
    await admin.create(resourceTypes.zoneDisruptionBudgets, { namespace: at }, { body: budget });
  }

  function evict(at: string): ReturnType<Ask> {
    const path = `/api/v1/namespaces/${at}/pods/web-0/eviction`;
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'web-0' } };
    return toServer('POST', path, eviction);
  }

  test('carries StatefulsetRollouts out', async () => {
    const type = resourceTypes.statefulsetRollouts;
    const labels = { app: 'carried' };
    const containers = [{ name: 'main', image: 'carried:1' }];
    const statefulset = {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'carried' },
      spec: {
        replicas: 0,
        serviceName: 'carried',
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers } },
      },
    };
    const body = {
      apiVersion: `${type.group}/${type.version}`,
      kind: type.kind,
      metadata: { name: 'carried' },
      spec: { percent: 100, statefulset },
    };
    const made = new Promise<void>((resolve) => {
      stage.cluster.eventLog.onCommit(({ resource, name }) => {
        if (resource === 'statefulsets.apps' && name === 'carried') resolve();
      });
    });
    await stage.admin.create(type, { namespace }, { body });
    await made;
    await operator.process.line(/msg="a capability runs" capability=statefulset-rollouts/);
  });

  test('serves readiness and metrics where the rollout-operator does', async () => {
    await operator.process.line(/msg="a capability runs" capability=phased-rollouts/);
    assert.equal((await fetch(`${operator.plain}/ready`)).status, 200);
    const exposition = await (await fetch(`${operator.plain}/metrics`)).text();
    assert.match(
      exposition,
      /rollout_operator_capability_enabled\{capability="phased-rollouts",reason="Installed"\} 1/,
    );
    assert.match(exposition, /capability="rollout-groups",reason="AlwaysOn"\} 1/);
  });

  test('serves probes and metrics besides where the flags of the other peer say so', async () => {
    for (const path of ['/healthz', '/readyz']) {
      assert.equal((await fetch(`http://127.0.0.1:${probes}${path}`)).status, 200);
    }
    const exposition = await fetch(`http://127.0.0.1:${metrics}/metrics`);
    assert.match(await exposition.text(), /^process_cpu_seconds_total /m);
  });

  test('is refused nothing under its Roles, lacks no rule, and ends in good order', async () => {
    const { process } = operator;
    process.kill('SIGTERM');
    assert.equal(await process.exitCode(), 0);
    const refused = stage.cluster.eventLog.calls
      .filter((call) => call.user === user.name && call.outcome === 403)
      .map(({ verb, resource, name }) => `${verb} ${resource} ${name}`);
    // The pod of another namespace, which it was asked about above.
    assert.deepEqual(refused, ['get pods web-0']);
    assert.deepEqual(
      process.lines.filter((line) => /lacks rules|does not run/.test(line)),
      [],
    );
  });
});

test('the command that runs everything ends with 2 for an unknown flag, and with 1 for flags that contradict one another', async () => {
  const stage = await WebhookStage.open();
  const unknown = stage.launch(['all', '--nonsense']);
  await unknown.line(/^flag provided but not defined: -nonsense$/);
  assert.equal(await unknown.exitCode(), 2);
  const contradicting = stage.launch(['all', '--leader-elect', '-leader-election.enabled=false']);
  await contradicting.line(/must agree: got true and false$/);
  assert.equal(await contradicting.exitCode(), 1);
  await stage.close();
});
