import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { deployFiles, operatorWithWebhooks, programVersion } from './generate-deploy.ts';

/** What the tests read of a Deployment. */
interface Deployment {
  readonly spec: {
    readonly replicas: number;
    readonly strategy: { readonly rollingUpdate: object };
    readonly selector: object;
    readonly template: {
      readonly metadata: { readonly labels: object };
      readonly spec: {
        readonly affinity: { readonly podAntiAffinity: object };
        readonly securityContext: {
          readonly runAsUser: number;
          readonly runAsGroup: number;
          readonly runAsNonRoot: boolean;
        };
        readonly containers: readonly {
          readonly readinessProbe: { readonly httpGet: object };
          readonly livenessProbe: {
            readonly httpGet: object;
            readonly periodSeconds: number;
            readonly failureThreshold: number;
          };
        }[];
      };
    };
  };
}

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
    const all = JSON.stringify(rules);
    assert.doesNotMatch(all, /secrets|"\*"/);
    const leases = rules.find(({ resources }) => resources.includes('leases'));
    assert.deepEqual(leases?.verbs, ['create', 'get', 'list', 'update']);
  });

  test('permits with webhooks to keep the claims of scale-downs in a ConfigMap', () => {
    const [role] = parseAllDocuments(files['webhook-role.yaml'] ?? '').map(
      (document) => document.toJS() as unknown,
    ) as { rules: { resources: string[]; resourceNames?: string[]; verbs: string[] }[] }[];
    const configMaps = role?.rules.filter(({ resources }) => resources.includes('configmaps'));
    assert.deepEqual(
      configMaps?.map(({ resourceNames, verbs }) => [resourceNames, verbs]),
      [
        [undefined, ['create']],
        [['rollout-operator-claims'], ['get', 'update']],
        [['rollout-operator-zone-tracker'], ['get', 'update']],
      ],
    );
  });

  for (const file of ['deployment.yaml', 'deployment-with-webhooks.yaml']) {
    test(`runs two replicas in ${file}, of which one may be away, on two nodes if there are two`, () => {
      const { spec } = parse(files[file] ?? '') as Deployment;
      assert.equal(spec.replicas, 2);
      assert.deepEqual(spec.strategy.rollingUpdate, { maxSurge: 0, maxUnavailable: 1 });
      const { affinity } = spec.template.spec;
      assert.deepEqual(Object.keys(affinity), ['podAntiAffinity']);
      assert.deepEqual(affinity.podAntiAffinity, {
        preferredDuringSchedulingIgnoredDuringExecution: [
          {
            weight: 100,
            podAffinityTerm: {
              labelSelector: { matchLabels: { name: 'rollout-operator' } },
              topologyKey: 'kubernetes.io/hostname',
            },
          },
        ],
      });
    });

    test(`asks in ${file} whether the event loop turns, apart from whether it is ready`, () => {
      const { spec } = parse(files[file] ?? '') as Deployment;
      const [container] = spec.template.spec.containers;
      assert.deepEqual(container?.readinessProbe.httpGet, { path: '/ready', port: 'http-metrics' });
      assert.deepEqual(container.livenessProbe.httpGet, { path: '/live', port: 'http-metrics' });
      const { periodSeconds, failureThreshold } = container.livenessProbe;
      assert.equal(periodSeconds * failureThreshold, 60);
    });

    test(`runs in ${file} as a user that the kubelet can tell from root`, () => {
      const { spec } = parse(files[file] ?? '') as Deployment;
      const { runAsUser, runAsGroup, runAsNonRoot } = spec.template.spec.securityContext;
      assert.deepEqual([runAsUser, runAsGroup, runAsNonRoot], [65_532, 65_532, true]);
    });
  }

  test('lets one replica at a time be evicted, by the labels of the Deployment', () => {
    const budget = parse(files['pod-disruption-budget.yaml'] ?? '') as {
      apiVersion: string;
      spec: object;
    };
    const { spec } = parse(files['deployment.yaml'] ?? '') as Deployment;
    assert.equal(budget.apiVersion, 'policy/v1');
    assert.deepEqual(budget.spec, { maxUnavailable: 1, selector: spec.selector });
    assert.deepEqual(spec.selector, { matchLabels: spec.template.metadata.labels });
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
      'PodDisruptionBudget',
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
