/** The very first start of an installation, beside a budget that is there already: what the program finds, by its own process. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { webhookConfigurations } from '#admission/webhook-configuration/webhook-configurations.ts';
import type { JsonObject } from '#base/json.ts';
import { webhookTypes } from '#certificate/webhook-configuration.ts';
import { objectAt, objectsAt, textAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { freePort } from '#support/free-ports.ts';
import { budgetOver } from '#support/objects/budgets.ts';
import { bundled } from '../stages/webhook-bundles.ts';
import { WebhookStage } from '../stages/webhook-stage.ts';
import { ca } from './hostile-trust-stage.ts';

const namespace = 'test';
const labels = { app: 'governed' };

/** Two zones of a ready pod each, and a budget of one pod over both. */
async function makeGovernedPods(stage: WebhookStage): Promise<void> {
  await stage.installBudgets();
  for (const name of ['governed-a', 'governed-b']) {
    await stage.set({ name, labels, replicas: 1 });
    const uid = textAt(await stage.stored(name), 'metadata', 'uid');
    const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name, uid, controller: true };
    const metadata = { name: `${name}-0`, labels, ownerReferences: [owner] };
    const spec = { containers: [{ name: 'ingester', image: 'ingester:1' }] };
    await stage.admin.create(resourceTypes.pods, { namespace }, { body: { metadata, spec } });
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    const body = { kind: 'merge', document: { status } } as const;
    const key = { namespace, name: metadata.name };
    await stage.admin.patch(resourceTypes.pods, key, { body, subresource: 'status' });
  }
  const spec = { selector: { matchLabels: labels }, maxUnavailable: 1 };
  const body = { ...budgetOver('governed', labels), spec };
  await stage.admin.create(resourceTypes.zoneAwarePodDisruptionBudgets, { namespace }, { body });
}

/** Makes the configuration of evictions, which leads to `port`. @returns when it carries the CA of the program */
async function configure(
  stage: WebhookStage,
  port: number,
  bundle: string,
): Promise<() => Promise<unknown>> {
  const [shipped = {}] = webhookConfigurations({ namespace, port, isConditional: false }).filter(
    (each) => textAt(each, 'metadata', 'name').startsWith('pod-eviction-'),
  );
  const webhooks = objectsAt(shipped, 'webhooks').map((each): JsonObject => {
    const clientConfig = objectAt(each, 'clientConfig');
    const caBundle = Buffer.from(bundle).toString('base64');
    return { ...each, clientConfig: { ...clientConfig, ...(bundle !== '' && { caBundle }) } };
  });
  await stage.admin.create(webhookTypes.validating, {}, { body: { ...shipped, webhooks } });
  const trusted = bundled(stage.cluster.eventLog, [textAt(shipped, 'metadata', 'name')]);
  return () => trusted;
}

async function evict({ admin }: WebhookStage, name: string): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/pods/${name}/eviction`;
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } };
  try {
    await admin.raw({ method: 'POST', path, body });
    return 'allowed';
  } catch (error) {
    return String(error);
  }
}

const cases = [
  {
    title: 'a pod is let go at once where nobody can have answered evictions before [found R-20]',
    bundle: '',
    want: /^allowed$/,
  },
  {
    title:
      'it waits where another program could answer evictions before, as in a move [found R-20]',
    bundle: ca,
    want: /there is no ConfigMap test\/rollout-operator-ledger-governed/,
  },
];
describe('the very first start beside a budget', () => {
  for (const { title, bundle, want } of cases) {
    describe(bundle === '' ? 'after an installation' : 'after another program', () => {
      let stage: WebhookStage;

      before(async () => {
        stage = await WebhookStage.open();
        await makeGovernedPods(stage);
      });

      after(async () => {
        await stage.close();
      });

      test(title, async () => {
        const port = await freePort();
        const trusted = await configure(stage, port, bundle);
        await stage.operator(['-leader-election.enabled=true', `-server-tls.port=${port}`]);
        await trusted();
        assert.match(await evict(stage, 'governed-a-0'), want);
        assert.match(await evict(stage, 'governed-b-0'), /429|there is no ConfigMap/);
      });
    });
  }
});
