/** The Roles in deploy/zone-aware-controllers as they are generated: all that is done is permitted, and no verb in vain. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import type { JsonObject } from '#base/json.ts';
import { minutes, seconds } from '#base/units.ts';
import type { PolicyRule } from '#cluster/auth/authorizer.ts';
import { numberAt } from '#cluster/json/read-json.ts';
import { readZoneAwareConfig, sharedZoneAwareConfig } from '#config/zone-aware-config.ts';
import { zoneAwarePodDisruptionBudgetDefinition } from '#disruption-budget/api.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { unusedGrants } from '#support/world/role-usage.ts';
import { zoneDisruptionBudgetDefinition } from '#zone-disruption-budget/definition.ts';
import { programVersion, zoneAwareFiles } from '../../../scripts/generate-deploy.ts';
import { builtImage } from '../../../scripts/install/deployment.ts';
import { reviewEviction } from '../stages/zone-evictions.ts';
import { type ZoneUpdateRun, ZoneUpdateStage } from '../zone-aware-update/zone-update-stage.ts';

const namespace = 'demo';
const user = 'operator-1';
const root = fileURLToPath(new URL('../../..', import.meta.url));
const shipped = zoneAwareFiles(builtImage(programVersion(root)));

function rulesOf(wanted: 'Role' | 'ClusterRole'): readonly PolicyRule[] {
  return parseAllDocuments(shipped['operator.yaml'] ?? '')
    .map((document) => document.toJS() as JsonObject)
    .filter(({ kind }) => kind === wanted)
    .flatMap(({ rules }) => rules as unknown as readonly PolicyRule[]);
}

/** That of the certificate is done by a process of its own. */
function isOfCertificate({ resources }: PolicyRule): boolean {
  return /^secrets$|webhookconfigurations$/.test(resources.join());
}

async function underRoles(
  own: readonly PolicyRule[],
  cluster: readonly PolicyRule[],
): Promise<{ readonly stage: ZoneUpdateStage; readonly run: ZoneUpdateRun }> {
  const stage = await ZoneUpdateStage.open();
  for (const body of [zoneDisruptionBudgetDefinition, zoneAwarePodDisruptionBudgetDefinition]) {
    await stage.env.client.create(resourceTypes.customResourceDefinitions, {}, { body });
  }
  await stage.env.clock.runUntilIdle();
  stage.env.cluster.authorizer.restrict([
    { user, rules: cluster },
    { user, namespace, rules: own },
  ]);
  // As an older server does, which answers no streaming lists: pages are listed then.
  for (const resource of [resourceTypes.nodes.plural, resourceTypes.zoneAwareUpdates.plural]) {
    const action = { kind: 'error', code: 422 } as const;
    stage.env.cluster.faults.add({ match: { user, verb: 'watch', resource }, count: 1, action });
  }
  const outcome = readZoneAwareConfig(['--leader-elect'], { CONTROLLERS: 'zau' });
  assert.ok(outcome.kind === 'run');
  const run = stage.start(sharedZoneAwareConfig(outcome.config, namespace));
  return { stage, run };
}

test('the Roles of the zone-aware controllers permit all that is done, and nothing besides [zau 97]', async () => {
  const own = rulesOf('Role').filter((rule) => !isOfCertificate(rule));
  const cluster = rulesOf('ClusterRole').filter((rule) => !isOfCertificate(rule));
  const { stage, run } = await underRoles(own, cluster);
  const { env } = stage;
  await stage.pass(seconds(5));
  const body = {
    apiVersion: 'zonecontrol.k8s.aws/v1',
    kind: 'ZoneDisruptionBudget',
    metadata: { name: 'zdb', namespace },
    spec: { selector: { matchLabels: { app: 'db' } }, maxUnavailable: 4 },
  };
  await env.client.create(resourceTypes.zoneDisruptionBudgets, { namespace }, { body });
  await stage.create({ pauseRolloutAlarm: 'Ingesters' });
  await stage.until('it is settled', () => stage.condition() === 'True Updated');
  // What was edited while a step was taken is read again.
  let isEdited = false;
  env.cluster.eventLog.onCommit(({ resource, after }) => {
    const isGoing =
      resource === 'pods' && JSON.stringify(after ?? {}).includes('deletionTimestamp');
    if (!isGoing || isEdited) return;
    isEdited = true;
    void stage.edit({ ignoreAlarm: true });
  });
  await stage.change('db:2');
  await stage.completed('db:2');
  // A pod that is seen nowhere is read; the API server says itself that there is none.
  assert.equal(await stage.finish(reviewEviction({ env, webhook: run.webhook }, 'db-99')), '');
  // What lasts is reported again, in the same Event.
  await env.patchSet({ spec: { updateStrategy: { type: 'RollingUpdate' } } });
  await stage.change('db:3');
  await stage.pass(minutes(25));
  assert.equal(numberAt(stage.set(), 'status', 'readyReplicas'), 12);
  const calls = env.cluster.eventLog.calls.filter((call) => call.user === user);
  const refused = calls.filter(({ outcome }) => outcome === 403);
  assert.deepEqual(
    refused.map(({ verb, resource }) => `${verb} ${resource}`),
    [],
  );
  assert.deepEqual(unusedGrants([...own, ...cluster], calls), []);
  stage.isDisturbed = true;
  await stage.close();
});
