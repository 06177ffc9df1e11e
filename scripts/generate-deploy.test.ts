import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { readAllConfig } from '#config/all-config.ts';
import { readPhasedRolloutConfig } from '#config/phased-config.ts';
import { readConfig } from '#config/read-config.ts';
import { readZoneAwareConfig, sharedZoneAwareConfig } from '#config/zone-aware-config.ts';
import { usualNames } from '#operator/permissions/permissions.ts';
import {
  allFiles,
  operatorWithWebhooks,
  phasedRolloutFiles,
  programVersion,
  zoneAwareFiles,
} from './generate-deploy.ts';
import { builtImage } from './install/deployment.ts';
import { deployFiles } from './install/operator-files.ts';

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
          readonly env: readonly { readonly name: string; readonly value?: string }[];
          readonly resources: { readonly limits: { readonly memory: string } };
          readonly ports: readonly { readonly name: string }[];
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

/** What the tests read of a rule of a Role. */
interface Rule {
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

interface NamedObject {
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

/** What the tests read of what starts the zone-aware controllers. */
interface StartedDeployment {
  readonly spec: {
    readonly selector: object;
    readonly template: {
      readonly metadata: { readonly labels: object };
      readonly spec: {
        readonly containers: readonly [
          {
            readonly command: readonly string[];
            readonly args: readonly string[];
            readonly ports: readonly { readonly containerPort: number }[];
          },
        ];
      };
    };
  };
}

/** What the tests read of a configuration for evictions. */
interface EvictionConfiguration extends NamedObject {
  readonly webhooks: readonly [
    {
      readonly name: string;
      readonly failurePolicy: string;
      readonly admissionReviewVersions: readonly string[];
      readonly clientConfig: { readonly service: object };
      readonly namespaceSelector: {
        readonly matchExpressions: readonly [{ readonly values: readonly string[] }];
      };
    },
  ];
}

const root = join(import.meta.dirname, '..');
const folder = join(root, 'deploy');

describe('phasedRolloutFiles()', () => {
  const files = phasedRolloutFiles(builtImage(programVersion(root)));
  const stored = join(folder, 'phased-rollout');

  test('is what deploy/phased-rollout holds; else npm run do manifests', () => {
    const texts = readdirSync(stored).map((file) => [
      file,
      readFileSync(join(stored, file), 'utf8'),
    ]);
    assert.deepEqual(Object.fromEntries(texts), files);
  });

  test('starts the program by arguments that it reads', () => {
    const documents = parseAllDocuments(files['operator.yaml'] ?? '');
    const objects = documents.map((each) => each.toJS() as { kind: string });
    const found = objects.find(({ kind }) => kind === 'Deployment') as unknown as {
      spec: { template: { spec: { containers: [{ args: string[] }] } } };
    };
    const [{ args }] = found.spec.template.spec.containers;
    const outcome = readPhasedRolloutConfig(args, {});
    assert.ok(outcome.kind === 'run');
    assert.deepEqual(outcome.ignored, []);
    assert.equal(outcome.config.metrics?.port, 8_443);
    assert.equal(outcome.config.isElected, true);
    assert.deepEqual(outcome.config.webhooks?.selfSigned, { dnsName: '' });
  });

  test('names the configurations of the peer, which its cert-manager knows', () => {
    const documents = parseAllDocuments(files['webhook-configurations-cert-manager.yaml'] ?? '');
    assert.deepEqual(
      documents.map((each) => (each.toJS() as { metadata: object }).metadata),
      ['mutating', 'validating'].map((kind) => ({
        name: `sts-phased-rollout-operator-${kind}-webhook-configuration`,
        annotations: {
          'cert-manager.io/inject-ca-from':
            'sts-phased-rollout-operator-system/sts-phased-rollout-operator-serving-cert',
        },
      })),
    );
  });
});

describe('zoneAwareFiles()', () => {
  const files = zoneAwareFiles(builtImage(programVersion(root)));
  const stored = join(folder, 'zone-aware-controllers');
  const objectsIn = (file: string): readonly NamedObject[] =>
    parseAllDocuments(files[file] ?? '').map((document) => document.toJS() as NamedObject);
  const only = (kind: string): unknown => {
    const found = objectsIn('operator.yaml').filter((each) => each.kind === kind);
    assert.equal(found.length, 1);
    return found[0];
  };

  test('is what deploy/zone-aware-controllers holds; else npm run do manifests', () => {
    const texts = readdirSync(stored).map((file) => [
      file,
      readFileSync(join(stored, file), 'utf8'),
    ]);
    assert.deepEqual(Object.fromEntries(texts), files);
  });

  test('has the names of the peer, and what its install lacks', () => {
    const prefix = 'zone-aware-controllers-';
    assert.deepEqual(
      objectsIn('operator.yaml').map(({ kind, metadata }) => `${kind} ${metadata.name}`),
      [
        'Namespace zone-aware-controllers-system',
        `ServiceAccount ${prefix}service-account`,
        `Role ${prefix}leader-election-role`,
        `RoleBinding ${prefix}leader-election-rolebinding`,
        `ClusterRole ${prefix}manager-role`,
        `ClusterRoleBinding ${prefix}manager-rolebinding`,
        `Secret ${prefix}self-signed-certificate`,
        `Service ${prefix}webhook-service`,
        `PodDisruptionBudget ${prefix}controller-manager`,
        `Deployment ${prefix}controller-manager`,
      ],
    );
    assert.deepEqual(
      objectsIn('definitions.yaml').map(({ metadata }) => metadata.name),
      ['zoneawareupdates.zonecontrol.k8s.aws', 'zonedisruptionbudgets.zonecontrol.k8s.aws'],
    );
  });

  test('starts the program by arguments that it reads, on the ports that are given', () => {
    const { spec } = only('Deployment') as StartedDeployment;
    const [{ command, args, ports }] = spec.template.spec.containers;
    assert.deepEqual(command, ['/zone-aware-controllers']);
    const outcome = readZoneAwareConfig(args, {});
    assert.ok(outcome.kind === 'run');
    assert.deepEqual(outcome.ignored, []);
    const { config } = outcome;
    assert.equal(config.isElected, true);
    assert.equal(config.hasUpdates, true);
    assert.deepEqual(
      ports.map(({ containerPort }) => containerPort),
      [config.webhooks?.port, config.metrics?.port],
    );
    const { tls } = sharedZoneAwareConfig(config, 'zone-aware-controllers-system');
    assert.equal(tls.selfSigned.secretName, (only('Secret') as NamedObject).metadata.name);
    const service = only('Service') as NamedObject & {
      spec: { ports: { targetPort: number }[]; selector: object };
    };
    assert.equal(
      tls.selfSigned.dnsName,
      `${service.metadata.name}.zone-aware-controllers-system.svc`,
    );
    assert.equal(service.spec.ports[0]?.targetPort, config.webhooks?.port);
    assert.deepEqual(service.spec.selector, spec.template.metadata.labels);
    const budget = only('PodDisruptionBudget') as { spec: { selector: object } };
    assert.deepEqual(budget.spec.selector, spec.selector);
  });

  test('has evictions reviewed by the Service, but those of the operator and of kube-system', () => {
    for (const [file, metadata] of Object.entries({
      'webhook-configuration.yaml': {
        labels: {
          'grafana.com/inject-rollout-operator-ca': 'true',
          'grafana.com/namespace': 'zone-aware-controllers-system',
        },
      },
      'webhook-configuration-cert-manager.yaml': {
        annotations: {
          'cert-manager.io/inject-ca-from':
            'zone-aware-controllers-system/zone-aware-controllers-serving-cert',
        },
      },
    })) {
      const [body] = objectsIn(file) as unknown as readonly EvictionConfiguration[];
      const name = 'zone-aware-controllers-mutating-webhook-configuration';
      assert.deepEqual(body?.metadata, { name, ...metadata });
      const [webhook] = body.webhooks;
      assert.equal(webhook.name, 'eviction.zone-aware-controllers.svc');
      assert.deepEqual(webhook.clientConfig.service, {
        name: 'zone-aware-controllers-webhook-service',
        namespace: 'zone-aware-controllers-system',
        path: '/pod-eviction-v1',
      });
      assert.equal(webhook.failurePolicy, 'Fail');
      assert.deepEqual(webhook.admissionReviewVersions, ['v1', 'v1beta1']);
      const [expression] = webhook.namespaceSelector.matchExpressions;
      assert.deepEqual(expression.values, ['kube-system', 'zone-aware-controllers-system']);
    }
  });

  test('permits patching its own configuration alone, and of Secrets only its certificate', () => {
    const rules = objectsIn('operator.yaml').flatMap(
      ({ rules: some = [] }: NamedObject & { readonly rules?: readonly Rule[] }) => some,
    );
    const about = (resource: RegExp, verb: string): readonly Rule[] =>
      rules.filter(
        ({ resources, verbs }) => resource.test(resources.join()) && verbs.includes(verb),
      );
    assert.deepEqual(
      about(/webhookconfigurations/, 'patch').map(({ resourceNames }) => resourceNames),
      [['zone-aware-controllers-mutating-webhook-configuration']],
    );
    for (const verb of ['get', 'update']) {
      assert.deepEqual(
        about(/^secrets$/, verb).map(({ resourceNames }) => resourceNames),
        [['zone-aware-controllers-self-signed-certificate']],
      );
    }
    assert.doesNotMatch(JSON.stringify(rules), /"\*"/);
  });
});

describe('allFiles()', () => {
  const files = allFiles(builtImage(programVersion(root)));
  const stored = join(folder, 'all');
  const objectsIn = (file: string): readonly unknown[] =>
    parseAllDocuments(files[file] ?? '').map((document) => document.toJS() as unknown);

  test('is what deploy/all holds; else npm run do manifests', () => {
    const texts = readdirSync(stored).map((file) => [
      file,
      readFileSync(join(stored, file), 'utf8'),
    ]);
    assert.deepEqual(Object.fromEntries(texts), files);
  });

  test('starts the program that runs everything, with what the rollout-operator serves', () => {
    const [deployment] = objectsIn('deployment.yaml') as [
      { spec: { template: { spec: { containers: [{ args: string[] }] } } } },
    ];
    const [command, ...flags] = deployment.spec.template.spec.containers[0].args;
    assert.equal(command, 'all');
    const outcome = readAllConfig(flags);
    assert.ok(outcome.kind === 'run');
    assert.deepEqual(outcome.ignored, []);
    assert.equal(outcome.config.tls.isEnabled, true);
  });

  test('lets the API server find the webhooks by the Service and the CA of the others, for one namespace', () => {
    const bodies = objectsIn('webhook-configurations.yaml') as {
      metadata: { name: string; labels: object };
      webhooks: {
        clientConfig: { service: { name: string; namespace: string } };
        namespaceSelector: object;
      }[];
    }[];
    assert.deepEqual(
      bodies.map(({ metadata }) => metadata.name),
      ['phased-rollout-defaults-demo', 'phased-rollout-validation-demo'],
    );
    for (const { webhooks, metadata } of bodies) {
      const [webhook] = webhooks;
      const { name, namespace } = webhook?.clientConfig.service ?? {};
      assert.deepEqual([name, namespace], ['rollout-operator', 'demo']);
      const here = { matchLabels: { 'kubernetes.io/metadata.name': 'demo' } };
      assert.deepEqual(webhook?.namespaceSelector, here);
      assert.deepEqual(Object.values(metadata.labels), ['true', 'demo']);
    }
  });

  test('permits patching the configurations of PhasedRollouts by name, and nothing on all Secrets but getting them', () => {
    const rules = ['role.yaml', 'webhook-certificate-cluster-role.yaml'].flatMap((file) =>
      (objectsIn(file) as { rules?: Rule[] }[]).flatMap(({ rules: some = [] }) => some),
    );
    const patching = rules.filter(
      ({ resources, verbs }) =>
        verbs.includes('patch') && /webhookconfigurations/.test(resources.join()),
    );
    assert.deepEqual(
      patching.map(({ resourceNames }) => resourceNames),
      [['phased-rollout-validation-demo'], ['phased-rollout-defaults-demo']],
    );
    const secrets = rules.filter(({ resources }) => resources.includes('secrets'));
    assert.deepEqual(
      secrets.map(({ verbs }) => verbs),
      [['get']],
    );
  });
});

describe('deployFiles()', () => {
  const files = deployFiles(builtImage(programVersion(root)));

  const objectsIn = (file: string): readonly unknown[] =>
    parseAllDocuments(files[file] ?? '').map((document) => document.toJS() as unknown);
  const rulesIn = (file: string): readonly Rule[] =>
    (objectsIn(file) as { rules?: Rule[] }[]).flatMap(({ rules = [] }) => rules);

  test('is what deploy/ holds; else npm run do manifests', () => {
    const stored = Object.fromEntries(
      readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ name }) => [name, readFileSync(join(folder, name), 'utf8')]),
    );
    assert.deepEqual(stored, files);
  });

  test('permits deleting pods, holding a Lease, and nothing on Secrets or whole types with "*"', () => {
    const { rules } = parse(files['role.yaml'] ?? '') as {
      rules: { resources: string[]; resourceNames?: string[]; verbs: string[] }[];
    };
    const pods = rules.find(({ resources }) => resources.includes('pods'));
    assert.deepEqual(pods?.verbs, ['delete', 'list', 'watch']);
    const all = JSON.stringify(rules);
    assert.doesNotMatch(all, /secrets|"\*"/);
    const leases = rules.filter(({ resources }) => resources.includes('leases'));
    assert.deepEqual(
      leases.map(({ resourceNames, verbs }) => [resourceNames, verbs]),
      [
        [['rollout-operator'], ['get', 'update']],
        [undefined, ['create', 'list']],
      ],
    );
    // Only what webhooks do writes or reads ConfigMaps.
    assert.doesNotMatch(all, /configmaps/);
  });

  test('permits with webhooks to write objects by their names, all of which are shipped empty', () => {
    const named = ['webhook-role.yaml', 'webhook-certificate-role.yaml'].flatMap((file) =>
      rulesIn(file).filter(({ resourceNames = [] }) => resourceNames.length > 0),
    );
    assert.deepEqual(
      named.map(({ resources, resourceNames, verbs }) => [resources, resourceNames, verbs]),
      [
        [['configmaps'], ['rollout-operator-claims'], ['get', 'update']],
        [['services'], ['rollout-operator'], ['get']],
        [['configmaps'], ['rollout-operator-zone-tracker'], ['get', 'update']],
        [['secrets'], ['rollout-operator-self-signed-certificate'], ['get', 'update']],
      ],
    );
    const shipped = objectsIn('webhook-objects.yaml') as unknown as {
      kind: string;
      metadata: { name: string };
      data?: object;
    }[];
    assert.deepEqual(
      new Set(shipped.map(({ kind, metadata }) => `${kind} ${metadata.name}`)),
      new Set([
        'Secret rollout-operator-self-signed-certificate',
        'ConfigMap rollout-operator-claims',
        'ConfigMap rollout-operator-zone-tracker',
      ]),
    );
    assert.ok(shipped.every(({ data }) => data === undefined));
  });

  test('permits for budgets to read pods and to write ConfigMaps, in a Role of its own', () => {
    assert.deepEqual(rulesIn('budget-role.yaml'), [
      { apiGroups: [''], resources: ['pods'], verbs: ['get'] },
      { apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'get', 'update'] },
    ]);
  });

  test('permits without budgets to create nothing but Events and the Lease, and nothing on Deployments', () => {
    const all = Object.keys(files).filter(
      (file) => file.endsWith('role.yaml') && file !== 'budget-role.yaml',
    );
    assert.ok(all.length >= 4);
    const creating = all.flatMap(rulesIn).filter(({ verbs }) => verbs.includes('create'));
    assert.deepEqual(
      creating.flatMap(({ resources }) => resources),
      ['events', 'leases'],
    );
    const resources = new Set(all.flatMap(rulesIn).flatMap((rule) => rule.resources));
    assert.ok(!resources.has('deployments') && !resources.has('replicasets'));
  });

  test('permits patching the shipped webhook configurations, and no others of the cluster', () => {
    const patching = rulesIn('webhook-certificate-cluster-role.yaml').filter(({ verbs }) =>
      verbs.includes('patch'),
    );
    assert.deepEqual(
      patching.map(({ resources, resourceNames, verbs }) => [resources, resourceNames, verbs]),
      [
        [
          ['validatingwebhookconfigurations'],
          ['no-downscale-demo', 'pod-eviction-demo', 'zpdb-validation-demo'],
          ['patch'],
        ],
        [['mutatingwebhookconfigurations'], ['prepare-downscale-demo'], ['patch']],
      ],
    );
  });

  test('names in its Roles, and in what it ships empty, what the flags of the program do by default', () => {
    const outcome = readConfig(['-kubernetes.namespace=demo', '-server-tls.enabled=true']);
    assert.ok(outcome.kind === 'run');
    const { tls, zoneTracker, leaderElection } = outcome.config;
    assert.deepEqual(usualNames, {
      lease: leaderElection.resourceName,
      service: tls.selfSigned.dnsName.split('.')[0],
      secret: tls.selfSigned.secretName,
      zoneTracker: zoneTracker.configMapName,
    });
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

    test(`bounds the heap in ${file} well below the memory of the container`, () => {
      const { spec } = parse(files[file] ?? '') as Deployment;
      const [container] = spec.template.spec.containers;
      const options = container?.env.find(({ name }) => name === 'NODE_OPTIONS')?.value ?? '';
      const share = Number(/^--max-old-space-size-percentage=(\d+)$/.exec(options)?.[1]) / 100;
      const memory = Number.parseInt(container?.resources.limits.memory ?? '', 10);
      const heap = share * memory;
      assert.ok(heap >= 90 && heap <= memory - 100, `${heap} of ${memory} MiB`);
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

  test('shows a NetworkPolicy for the pods of the Deployment, by the names of their ports', () => {
    const { kind, spec } = parse(files['network-policy-example.yaml'] ?? '') as {
      kind: string;
      spec: { podSelector: object; ingress: { ports: { port: string }[] }[] };
    };
    const deployment = parse(files['deployment-with-webhooks.yaml'] ?? '') as Deployment;
    assert.equal(kind, 'NetworkPolicy');
    assert.deepEqual(spec.podSelector, deployment.spec.selector);
    const ports = new Set(spec.ingress.flatMap((rule) => rule.ports.map(({ port }) => port)));
    const named = deployment.spec.template.spec.containers.flatMap((container) =>
      container.ports.map(({ name }) => name),
    );
    assert.deepEqual(ports, new Set(named));
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
    const [deployment] = objectsIn('deployment-with-webhooks.yaml') as {
      spec: { template: { spec: { containers: { args: string[]; ports: object[] }[] } } };
    }[];
    const [container] = deployment?.spec.template.spec.containers ?? [];
    assert.ok(container);
    assert.deepEqual(container.args.slice(1), [
      '-server-tls.enabled=true',
      '-use-zone-tracker=true',
    ]);
    assert.deepEqual(container.ports[1], { name: 'https', containerPort: 8443 });
    const [service] = objectsIn('webhook-service.yaml') as {
      metadata: { name: string };
      spec: { ports: { port: number; targetPort: string }[] };
    }[];
    assert.equal(service?.spec.ports[0]?.targetPort, 'https');
    const configurations = objectsIn('webhook-configurations.yaml') as {
      kind: string;
      webhooks: { clientConfig: { service: { name: string; port: number } } }[];
    }[];
    assert.equal(configurations.length, 4);
    for (const { webhooks } of configurations) {
      const [webhook] = webhooks;
      assert.equal(webhook?.clientConfig.service.name, service.metadata.name);
      assert.equal(webhook.clientConfig.service.port, service.spec.ports[0]?.port);
    }
  });

  test('operatorWithWebhooks() has one Deployment, and names no namespace but the given one', () => {
    const objects = parseAllDocuments(
      operatorWithWebhooks('registry.example/operator:1', 'cells'),
    ).map((document) => document.toJS() as unknown) as {
      kind: string;
      metadata: { name: string };
    }[];
    assert.equal(objects.at(-1)?.kind, 'Deployment');
    assert.match(JSON.stringify(objects.at(-1)), /"image":"registry\.example\/operator:1"/);
    const kinds = objects.map(({ kind }) => kind).toSorted();
    assert.deepEqual(kinds, [
      'ClusterRole',
      'ClusterRoleBinding',
      'ConfigMap',
      'ConfigMap',
      'CustomResourceDefinition',
      'CustomResourceDefinition',
      'Deployment',
      'MutatingWebhookConfiguration',
      'PodDisruptionBudget',
      'Role',
      'Role',
      'Role',
      'Role',
      'RoleBinding',
      'RoleBinding',
      'RoleBinding',
      'RoleBinding',
      'Secret',
      'Service',
      'ServiceAccount',
      'ValidatingWebhookConfiguration',
      'ValidatingWebhookConfiguration',
      'ValidatingWebhookConfiguration',
    ]);
    assert.doesNotMatch(JSON.stringify(objects), /demo/);
  });
});
