/** The Roles in deploy/ as they are generated: every feature of the shipped set-ups works, and no verb is granted in vain. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';
import type { JsonObject } from '#base/json.ts';
import { minutes, seconds } from '#base/units.ts';
import { webhookTypes } from '#certificate/webhook-configuration.ts';
import type { PolicyRule } from '#cluster/auth/authorizer.ts';
import type { EmbeddedCluster } from '#cluster/create-cluster.ts';
import type { Call } from '#cluster/event-log.ts';
import { zoneAwarePodDisruptionBudgetDefinition } from '#disruption-budget/api.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { prepared } from '#support/admission/admission-requests.ts';
import { mirrorAnnotations } from '#support/objects/scaling.ts';
import { PodFleet } from '#support/pods/pod-fleet.ts';
import { PodFleetServer } from '#support/pods/pod-fleet-server.ts';
import { unusedGrants } from '#support/world/role-usage.ts';
import { World } from '#support/world/world.ts';
import { evict, reviewEvictions } from '#support/world/world-evictions.ts';
import { images, NAMESPACE } from '#support/world/world-group.ts';
import { OPERATOR_USER } from '#support/world/world-operator.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { programVersion } from '../../../scripts/generate-deploy.ts';
import { builtImage } from '../../../scripts/install/deployment.ts';
import { deployFiles } from '../../../scripts/install/operator-files.ts';
import { budgetedWorld, makeBudget } from '../stages/budget-stage.ts';
import { deletedPods, small } from '../stages/rollout-stage.ts';
import {
  annotateSet,
  autoscale,
  createTemplate,
  reportedBy,
  untilScaled,
} from '../stages/scaling-stage.ts';
import { WebhookStage } from '../stages/webhook-stage.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const namespace = 'test';
const files = deployFiles(builtImage(programVersion(root)), namespace);

/** The documents of a file that would be applied. */
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

function callsOf({ eventLog }: EmbeddedCluster, user: string): readonly Call[] {
  return eventLog.calls.filter((call) => call.user === user);
}

function refused(calls: readonly Call[]): readonly string[] {
  return calls
    .filter(({ outcome }) => outcome === 403)
    .map(({ verb, resource, subresource, name }) => [verb, resource, subresource, name].join(' '));
}

/** Makes `cluster` refuse the first streaming list of each of `resources`, as an older server does: pages are listed then. */
function withoutStreaming({ faults }: EmbeddedCluster, resources: readonly string[]): void {
  for (const resource of resources) {
    const action = { kind: 'error', code: 422 } as const;
    faults.add({ match: { verb: 'watch', resource }, count: 1, action });
  }
}

test('the Role without webhooks permits all that is done, and nothing besides', async () => {
  const world = await World.create(small);
  const definition = { body: zoneAwarePodDisruptionBudgetDefinition };
  await world.run(world.admin.create(resourceTypes.customResourceDefinitions, {}, definition));
  await createTemplate(world, 'ingester', 2);
  const rules = rulesOf('role.yaml');
  world.cluster.authorizer.restrict([{ user: OPERATOR_USER, namespace: NAMESPACE, rules }]);
  withoutStreaming(world.cluster, [
    resourceTypes.zoneAwarePodDisruptionBudgets.plural,
    resourceTypes.replicaTemplates.plural,
  ]);
  await world.readyOperator();
  await world.setImage(images.new);
  await world.untilRolled(images.new);
  for (const zone of world.zones) await annotateSet(world, zone, mirrorAnnotations('ingester'));
  await autoscale(world, { type: resourceTypes.replicaTemplates, name: 'ingester' }, 3);
  await untilScaled(world, [3, 3]);
  await world.clock.advance(seconds(10));
  assert.equal(reportedBy(world, 'ingester'), 3);
  // What lasts is reported again, in the same Event.
  await world.patchSet('a', { spec: { updateStrategy: { type: 'RollingUpdate' } } });
  await world.setImage(images.old);
  await world.clock.advance(minutes(25));
  const calls = callsOf(world.cluster, OPERATOR_USER);
  assert.deepEqual(refused(calls), []);
  assert.deepEqual(unusedGrants(rules, calls), []);
  await world.close();
});

/** A world under `roles`, with a budget over its group. */
async function budgetedUnder(...roles: readonly string[]): Promise<World> {
  const world = await budgetedWorld(small);
  await makeBudget(world);
  world.cluster.authorizer.restrict([
    { user: OPERATOR_USER, namespace: NAMESPACE, rules: rulesOf(...roles) },
  ]);
  return world;
}

test('the Role for budgets permits all that obeying them takes, and nothing besides', async () => {
  const world = await budgetedUnder('role.yaml', 'budget-role.yaml');
  await world.readyOperator();
  await world.clock.advance(minutes(3));
  await world.setImage(images.new);
  await world.untilRolled(images.new);
  // A pod that serves no client is read before it is let go.
  world.kubelet.behaviours.add({
    behave: 'imagePullBackOff',
    match: { name: 'ingester-zone-a-0' },
  });
  await world.deletePod('ingester-zone-a-0');
  await world.clock.advance(seconds(20));
  await reviewEvictions(world);
  assert.equal(await evict(world, 'ingester-zone-a-0'), '201');
  const calls = callsOf(world.cluster, OPERATOR_USER);
  assert.deepEqual(refused(calls), []);
  assert.deepEqual(unusedGrants(rulesOf('budget-role.yaml'), calls), []);
  await world.close();
});

test('without the Role for budgets what it grants is reported where there is a budget, and the leader remembers its ledger [found R-21]', async () => {
  const world = await budgetedUnder('role.yaml');
  await world.readyOperator();
  await world.clock.advance(seconds(90));
  await world.setImage(images.new);
  await world.clock.advance(seconds(15));
  // What was let go before this process is unknown for two minutes.
  assert.deepEqual(deletedPods(world), []);
  await world.untilRolled(images.new);
  const told = world.record.log.filter(({ message }) => message === 'the Role lacks rules');
  assert.deepEqual(
    told.map(({ fields }) => parse(String(fields['rules'])) as unknown),
    [rulesOf('budget-role.yaml')],
  );
  await world.close();
});

describe('the Roles with webhooks', () => {
  const user = { name: 'rollout-operator', groups: ['system:authenticated'] };
  const inNamespace = rulesOf('webhook-role.yaml', 'webhook-certificate-role.yaml');
  const inCluster = rulesOf('webhook-certificate-cluster-role.yaml');
  const clock = systemClock();
  const pods = new PodFleetServer(new PodFleet(clock), clock);
  let stage: WebhookStage;

  before(async () => {
    stage = await WebhookStage.open(user);
    const { admin, cluster } = stage;
    await admin.create(
      resourceTypes.customResourceDefinitions,
      {},
      { body: zoneAwarePodDisruptionBudgetDefinition },
    );
    for (const body of documentsOf('webhook-objects.yaml')) {
      const type = body['kind'] === 'Secret' ? resourceTypes.secrets : resourceTypes.configMaps;
      await admin.create(type, { namespace }, { body });
    }
    cluster.authorizer.restrict([
      { user: user.name, namespace, rules: [...rulesOf('role.yaml'), ...inNamespace] },
      { user: user.name, rules: inCluster },
    ]);
  });

  after(async () => {
    await stage.close();
    await pods.close();
  });

  /** The flags of the shipped Deployment that are not about the place it runs in. */
  function shippedFlags(): readonly string[] {
    const deployment = parse(files['deployment-with-webhooks.yaml'] ?? '') as {
      spec: { template: { spec: { containers: { args: string[] }[] } } };
    };
    const [container] = deployment.spec.template.spec.containers;
    return (container?.args ?? []).filter((flag) => !flag.includes('$('));
  }

  test('permit all that is done, and nothing besides', async () => {
    // As in a pod, which has its name for a host name.
    const env = { HTTP_PROXY: (await pods.listen()).href, HOSTNAME: 'rollout-operator-0' };
    const { cluster } = stage;
    withoutStreaming(
      cluster,
      Object.values(webhookTypes).map(({ plural }) => plural),
    );
    const { process, port } = await stage.operator(shippedFlags(), env);
    await stage.configure(port);
    await stage.set({ name: 'guarded', labels: { 'grafana.com/no-downscale': 'true' } });
    await stage.set({ name: 'asked', ...prepared });
    await stage.set({ name: 'sibling', ...prepared, replicas: 0 });
    await assert.rejects(stage.scale('guarded', 1), /is not allowed because it has the label/);
    await stage.scale('asked', 2);
    process.kill('SIGTERM');
    assert.equal(await process.exitCode(), 0);
    const calls = callsOf(cluster, user.name);
    assert.deepEqual(refused(calls), []);
    assert.deepEqual(unusedGrants([...inNamespace, ...inCluster], calls), []);
  });
});
