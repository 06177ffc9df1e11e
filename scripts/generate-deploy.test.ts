import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { deployFiles, operatorWithWebhooks, programVersion } from './generate-deploy.ts';

const root = join(import.meta.dirname, '..');
const folder = join(root, 'deploy');

describe('deployFiles()', () => {
  const files = deployFiles(programVersion(root));

  test('is what deploy/ holds; else run scripts/generate-deploy.ts', () => {
    const stored = Object.fromEntries(
      readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')]),
    );
    assert.deepEqual(stored, files);
  });

  test('permits to delete pods, to hold a Lease, and nothing on Secrets or whole types with "*"', () => {
    const { rules } = parse(files['role.yaml'] ?? '') as {
      rules: { resources: string[]; verbs: string[] }[];
    };
    const pods = rules.find(({ resources }) => resources.includes('pods'));
    assert.deepEqual(pods?.verbs, ['delete', 'list', 'watch']);
    const leases = rules.find(({ resources }) => resources.includes('leases'));
    assert.deepEqual(leases?.verbs, ['create', 'get', 'update']);
    const all = JSON.stringify(rules);
    assert.doesNotMatch(all, /secrets|"\*"/);
  });

  test('binds the Role to the account that the Deployment runs as', () => {
    const deployment = parse(files['deployment.yaml'] ?? '') as {
      spec: { template: { spec: { serviceAccountName: string } } };
    };
    const binding = parse(files['role-binding.yaml'] ?? '') as { subjects: { name: string }[] };
    const account = deployment.spec.template.spec.serviceAccountName;
    assert.deepEqual(
      binding.subjects.map(({ name }) => name),
      [account],
    );
  });

  test('leads the API server from the webhook configurations to the port of the Deployment', () => {
    const of = (file: string): unknown[] =>
      parseAllDocuments(files[file] ?? '').map((document) => document.toJS() as unknown);
    const [deployment] = of('deployment-with-webhooks.yaml') as {
      spec: { template: { spec: { containers: { args: string[]; ports: object[] }[] } } };
    }[];
    const [container] = deployment?.spec.template.spec.containers ?? [];
    assert.ok(container?.args.includes('-server-tls.enabled=true'));
    assert.deepEqual(container?.ports[1], { name: 'https', containerPort: 8443 });
    const [service] = of('webhook-service.yaml') as {
      metadata: { name: string };
      spec: { ports: { port: number; targetPort: string }[] };
    }[];
    assert.equal(service?.spec.ports[0]?.targetPort, 'https');
    const configurations = of('webhook-configurations.yaml') as {
      kind: string;
      webhooks: { clientConfig: { service: { name: string; port: number } } }[];
    }[];
    assert.equal(configurations.length, 2);
    for (const { webhooks } of configurations) {
      const [webhook] = webhooks;
      assert.equal(webhook?.clientConfig.service.name, service.metadata.name);
      assert.equal(webhook.clientConfig.service.port, service.spec.ports[0]?.port);
    }
  });

  test('operatorWithWebhooks() has one Deployment, and names no namespace but the given one', () => {
    const objects = parseAllDocuments(operatorWithWebhooks('1', 'cells')).map(
      (document) => document.toJS() as unknown,
    ) as { kind: string; metadata: { name: string } }[];
    const kinds = objects.map(({ kind }) => kind).toSorted();
    assert.deepEqual(kinds, [
      'ClusterRole',
      'ClusterRoleBinding',
      'CustomResourceDefinition',
      'Deployment',
      'MutatingWebhookConfiguration',
      'Role',
      'Role',
      'Role',
      'RoleBinding',
      'RoleBinding',
      'RoleBinding',
      'Service',
      'ServiceAccount',
      'ValidatingWebhookConfiguration',
    ]);
    assert.doesNotMatch(JSON.stringify(objects), /demo/);
  });
});
