import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { WebhookClient } from '#testing/webhook-client.ts';
import { type ServingOperator, WebhookStage } from '../integration/webhook-stage.ts';

const namespace = 'test';

describe('evictions over as many connections as an API server opens', () => {
  let stage: WebhookStage;
  let operator: ServingOperator;
  let ca: string;

  before(async () => {
    stage = await WebhookStage.open();
    await stage.installBudgets();
    operator = await stage.operator();
    const key = { namespace, name: 'rollout-operator-self-signed-certificate' };
    const secret = await stage.admin.get(resourceTypes.secrets, key);
    ca = Buffer.from((secret['data'] as { ca: string }).ca, 'base64').toString();
  });

  after(async () => {
    await stage.close();
  });

  for (const size of [200, 300, 600, 1_000]) {
    test(`${size} reviews at once, one a connection: each is answered`, async () => {
      const client = new WebhookClient(operator.port, ca, {
        servername: `rollout-operator.${namespace}.svc`,
        connections: size,
      });
      const body = JSON.stringify({
        apiVersion: 'admission.k8s.io/v1',
        kind: 'AdmissionReview',
        request: {
          uid: 'u',
          kind: { group: 'policy', version: 'v1', kind: 'Eviction' },
          resource: { group: '', version: 'v1', resource: 'pods' },
          subResource: 'eviction',
          operation: 'CREATE',
          namespace,
          name: 'x',
        },
      });
      const at = performance.now();
      const answers = await Promise.all(
        Array.from({ length: size }, () =>
          client.post('/admission/pod-eviction', body).then(
            ({ status }) => String(status),
            (error: Error & { code?: string }) => `${error.code ?? ''} ${error.message}`,
          ),
        ),
      );
      const seen: Record<string, number> = {};
      for (const answer of answers) seen[answer] = (seen[answer] ?? 0) + 1;
      console.log(size, Math.round(performance.now() - at), 'ms', seen);
      await client.close();
      assert.deepEqual(Object.keys(seen), ['200']);
    });
  }
});
