/** The Roles in deploy/statefulset-rollout as they are generated: all that is done is permitted, also beside the rollouts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import type { JsonObject } from '#base/json.ts';
import { minutes } from '#base/units.ts';
import type { PolicyRule } from '#cluster/auth/authorizer.ts';
import { textAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { programVersion, statefulsetRolloutFiles } from '../../../scripts/generate-deploy.ts';
import { builtImage } from '../../../scripts/install/deployment.ts';
import { PercentStage } from '../statefulset-rollout/percent-stage.ts';

const namespace = 'demo';
const user = 'operator-1';
const root = fileURLToPath(new URL('../../..', import.meta.url));
const shipped = statefulsetRolloutFiles(builtImage(programVersion(root)));

function rulesOf(wanted: 'Role' | 'ClusterRole'): readonly PolicyRule[] {
  return parseAllDocuments(shipped['operator.yaml'] ?? '')
    .map((document) => document.toJS() as JsonObject)
    .filter(({ kind }) => kind === wanted)
    .flatMap(({ rules }) => rules as unknown as readonly PolicyRule[]);
}

/** What docs/statefulset-rollout.md says to grant where references are used. */
function secretsNamed(resourceNames: readonly string[]): PolicyRule {
  return { apiGroups: [''], resources: ['secrets'], verbs: ['get'], resourceNames };
}

/**
 * A stage whose program may do what the manifests let it, and a Secret with a key to sign by.
 *
 * @param secrets names of those that it may read besides
 */
async function underRoles(secrets: readonly string[] = []): Promise<PercentStage> {
  const opened = await PercentStage.open();
  const { env } = opened;
  const data = { callback: Buffer.from('secret').toString('base64') };
  const body = { metadata: { name: 'keys', namespace }, data };
  await env.client.create(resourceTypes.secrets, { namespace }, { body });
  env.cluster.authorizer.restrict([
    { user, rules: rulesOf('ClusterRole') },
    { user, namespace, rules: rulesOf('Role') },
    ...(secrets.length === 0 ? [] : [{ user, namespace, rules: [secretsNamed(secrets)] }]),
  ]);
  opened.start();
  return opened;
}

function callsOf({ env }: PercentStage): PercentStage['env']['cluster']['eventLog']['calls'] {
  return env.cluster.eventLog.calls.filter((call) => call.user === user);
}

const webhook = {
  url: 'https://deploys.example/done',
  id: 'stage-1',
  signingSecretRef: { name: 'keys', key: 'callback' },
};

test('the Roles that are shipped permit reading no Secret; one that a resource names is granted by name (G-22)', async () => {
  const rules = [...rulesOf('ClusterRole'), ...rulesOf('Role')];
  assert.deepEqual(
    rules.filter(({ resources }) => resources.includes('secrets') || resources.includes('*')),
    [],
  );
  const opened = await underRoles(['keys']);
  await opened.create('db:1', { callback: { webhook } });
  await opened.ended();
  assert.equal(opened.receiver.calls.length, 1);
  assert.equal(opened.condition('CallbackDelivered'), 'True CallbackDelivered');
  await opened.close();
});

test('a Secret that no Role lets be read is reported by its name, and keeps no rollout', async () => {
  const opened = await underRoles();
  await opened.create('db:1', { callback: { webhook } });
  await opened.ended();
  assert.equal(opened.receiver.calls.length, 0);
  const lastError = textAt(opened.status(), 'rollout', 'callback', 'lastError');
  assert.match(lastError, /Secret keys cannot be read: .*demo\/keys.* \(403 Forbidden\)/);
  await opened.close();
});

test('the Roles permit all that a rollout does that tells Slack and a receiver', async () => {
  const opened = await underRoles(['keys']);
  const { env } = opened;
  const told = { channel: '#deploys', callback: { webhook } };
  await opened.create('db:1', told);
  await opened.ended();
  const broken = env.kubelet.behaviours.add({ match: { image: '*:2' }, behave: 'crashLoop' });
  await opened.edit({ progressDeadlineSeconds: 60, statefulset: opened.carried('db:2') });
  await opened.ended('RolloutFailed');
  broken.remove();
  await opened.edit({ statefulset: opened.carried('db:1') });
  await opened.ended();
  await env.clock.advance(minutes(2));
  const standing = textAt(opened.status(), 'slackMessage', 'ts');
  await opened.remove();
  await opened.until('it is gone', () => opened.rollout() === undefined);
  assert.notEqual(standing, '');
  const refused = callsOf(opened).filter(({ outcome }) => outcome === 403);
  assert.deepEqual(
    refused.map(({ verb, resource, subresource }) => `${verb} ${resource}/${subresource}`),
    [],
  );
  await opened.close();
});
