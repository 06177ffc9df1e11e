/** What the chart and the kustomize base install, as real helm and kubectl render it, on a real API server. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import type { JsonObject } from '#base/json.ts';
import { objectsAt, textAt } from '#cluster/json/read-json.ts';
import type { Transport } from '#kubernetes/transport/transport.ts';
import { programVersion } from '../../../scripts/generate-deploy.ts';
import { builtImage } from '../../../scripts/install/deployment.ts';
import { deployFiles } from '../../../scripts/install/operator-files.ts';
import { type RealLane, startRealLane } from '../../real-cluster/real-lane.ts';
import { applyStrictly, chartFolder, Renderer } from '../../real-cluster/rendered.ts';
import { NO_INSTALLING } from '../../real-cluster/skip-reasons.ts';
import { bases, createNamespace, monitorDefinition, settle } from './install-stage.ts';
import { chartVariants } from './install-variants.ts';
import { everyValueOfPeer } from './peer-values.ts';
import { refusals } from './refused-values.ts';

const root = new URL('../../..', import.meta.url).pathname;
const version = programVersion(root);
const isExisting = (process.env['TEST_KUBECONFIG'] ?? '') !== '';
const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** `Kind name` of each. */
function namesOf(objects: readonly JsonObject[]): readonly string[] {
  return objects.map((each) => `${textAt(each, 'kind')} ${textAt(each, 'metadata', 'name')}`);
}

function named(objects: readonly JsonObject[], kind: string, name: string): JsonObject {
  const found = objects.find(
    (each) => each['kind'] === kind && textAt(each, 'metadata', 'name') === name,
  );
  return found ?? assert.fail(`there is no ${kind} ${name} among ${namesOf(objects).join(', ')}`);
}

describe('what is installed', { skip: isExisting ? NO_INSTALLING : false }, () => {
  let lane: RealLane;
  let renderer: Renderer;
  let admin: Transport;
  let count = 0;

  before(async () => {
    renderer = await Renderer.create({ env: process.env, say });
    lane = await startRealLane();
    admin = lane.plane.connectAsAdmin();
    assert.deepEqual(await applyStrictly(admin, [monitorDefinition], ''), []);
    await settle(lane, monitorDefinition);
  });

  after(async () => {
    await admin?.close();
    await lane?.close();
    await renderer?.close();
  });

  async function newNamespace(): Promise<string> {
    count += 1;
    const namespace = `rendered-${count}`;
    await createNamespace(lane, namespace);
    return namespace;
  }

  describe('by the chart', () => {
    for (const [version, count] of [
      ['1.29.9', 0],
      ['1.30.0', 2],
      ['1.30.5-gke.1', 2],
    ] as const) {
      test(`has the API server of Kubernetes ${version} tell ${count} webhooks what shrinks a set [found R-10]`, async () => {
        const args = ['template', 'mimir', chartFolder, `--kube-version=${version}`];
        const { code, stdout } = await renderer.helm(args);
        assert.equal(code, 0);
        assert.equal(stdout.split('name: may-shrink').length - 1, count);
      });
    }

    test('passes helm lint, with its warnings as errors', async () => {
      const { code, stdout } = await renderer.helm(['lint', '--strict', chartFolder]);
      assert.equal(code, 0, stdout);
    });

    for (const [name, { values, adds = [], lacks = [] }] of Object.entries(chartVariants)) {
      test(`is accepted by the API server: ${name}`, async () => {
        const namespace = await newNamespace();
        const objects = await renderer.chart(values, { namespace });
        const usual = new Set(namesOf(await renderer.chart({}, { namespace })));
        const isGone = (each: string): boolean =>
          lacks.some(
            (lack) => [lack, `${lack}-${namespace}`].includes(each) || each.startsWith(`${lack} `),
          );
        const wanted = [...usual].filter((each) => !isGone(each));
        const added = adds.map((each) => each.replace('<namespace>', namespace));
        assert.deepEqual(new Set(namesOf(objects)), new Set([...wanted, ...added]));
        assert.ok(lacks.length === 0 || wanted.length < usual.size);
        assert.deepEqual(await applyStrictly(admin, objects, namespace), []);
      });
    }

    test("is accepted by the API server with every value of the peer's chart, each of which is there", async () => {
      const namespace = await newNamespace();
      const objects = await renderer.chart(everyValueOfPeer, { namespace, release: 'mimir' });
      assert.deepEqual(await applyStrictly(admin, objects, namespace), []);
      const deployment = named(objects, 'Deployment', 'rolls-it');
      const monitor = named(objects, 'ServiceMonitor', `rolls-it.${namespace}`);
      const [hook] = objectsAt(
        named(objects, 'MutatingWebhookConfiguration', `prepare-downscale-${namespace}`),
        'webhooks',
      );
      const [no] = objectsAt(
        named(objects, 'ValidatingWebhookConfiguration', `no-downscale-${namespace}`),
        'webhooks',
      );
      const all = JSON.stringify({
        deployment,
        monitor,
        hook,
        no,
        account: named(objects, 'ServiceAccount', 'roller'),
      });
      for (const part of partsOfPeer(namespace)) assert.ok(all.includes(part), part);
      assert.equal(
        objects.filter((each) => JSON.stringify(each).includes('"team":"databases"')).length,
        objects.filter(({ kind }) => kind !== 'CustomResourceDefinition').length,
      );
      named(objects, 'Secret', 'certificate');
      const specs = ['by-partition', 'by-percent', 'none'].map(
        (name) => named(objects, 'ZoneAwarePodDisruptionBudget', name)['spec'],
      );
      assert.deepEqual(specs, [
        {
          selector: { matchLabels: { app: 'ingester' } },
          maxUnavailable: 2,
          podNamePartitionRegex: '[a-z]+-([0-9]+)',
          podNameRegexGroup: 1,
        },
        { selector: { matchLabels: { app: 'store' } }, maxUnavailablePercentage: 20 },
        { selector: { matchLabels: { app: 'other' } }, maxUnavailable: 0 },
      ]);
    });

    for (const [name, { values, says }] of Object.entries(refusals)) {
      test(`is refused with a sentence: ${name}`, async () => {
        await assert.rejects(renderer.chart(values, { namespace: 'cells' }), says);
      });
    }

    test('permits and names what the manifests of deploy/ do, by default', async () => {
      const objects = await renderer.chart({}, { namespace: 'demo' });
      const shipped = Object.values(deployFiles(builtImage(version), 'demo')).flatMap((text) =>
        parseAllDocuments(text).map((document) => document.toJS() as JsonObject),
      );
      for (const kind of ['Role', 'ClusterRole'] as const) {
        for (const role of shipped.filter((each) => each['kind'] === kind)) {
          const ours = named(objects, kind, textAt(role, 'metadata', 'name'));
          assert.deepEqual(ours['rules'], role['rules']);
        }
      }
      for (const each of shipped.filter(({ webhooks }) => webhooks !== undefined)) {
        const ours = named(objects, textAt(each, 'kind'), textAt(each, 'metadata', 'name'));
        assert.deepEqual(ours['webhooks'], each['webhooks']);
      }
      const beyond = namesOf(objects).filter((each) => !namesOf(shipped).includes(each));
      const missing = namesOf(shipped).filter((each) => !namesOf(objects).includes(each));
      // Those definitions are in deploy/phased-rollout and deploy/statefulset-rollout.
      const definitions = [
        'CustomResourceDefinition phasedrollouts.sts.plus',
        'CustomResourceDefinition statefulsetrollouts.bedrock.operator.slack.com',
      ];
      assert.deepEqual(beyond.toSorted(), definitions);
      assert.deepEqual(missing, ['NetworkPolicy rollout-operator']);
    });

    test('follows flags that name objects, as the last of them says', async () => {
      const extraArgs = [
        '-use-zone-tracker=true',
        '--zone-tracker.config-map-name=old',
        '-zone-tracker.config-map-name',
        'zones',
        '-leader-election.resource-name=mine',
        '-server-tls.self-signed-cert.secret-name=cert',
        '-server.port=9001',
        '-server-tls.port=9443',
      ];
      const values = {
        extraArgs,
        zoneTracker: { enabled: false },
        serviceMonitor: { enabled: true },
      };
      const namespace = await newNamespace();
      const objects = await renderer.chart(values, { namespace });
      assert.deepEqual(await applyStrictly(admin, objects, namespace), []);
      named(objects, 'ConfigMap', 'zones');
      named(objects, 'Secret', 'cert');
      const namedIn = (role: string): readonly unknown[] =>
        objectsAt(named(objects, 'Role', role), 'rules').flatMap(
          ({ resourceNames }) => resourceNames ?? [],
        );
      assert.deepEqual(namedIn('rollout-operator'), ['mine']);
      assert.deepEqual(namedIn('rollout-operator-webhook-role'), [
        'rollout-operator-claims',
        'rollout-operator',
        'zones',
      ]);
      assert.deepEqual(namedIn('rollout-operator-webhook-cert-secret-role'), ['cert']);
      const ports = JSON.stringify(named(objects, 'Deployment', 'rollout-operator'));
      assert.match(ports, /"containerPort":9001.*"containerPort":9443/);
      assert.match(JSON.stringify(named(objects, 'Service', 'rollout-operator')), /"port":9001/);
    });
  });

  describe('by kustomize', () => {
    const variants: Readonly<Record<string, object>> = {
      'the base': bases(),
      'one replica': bases('one-replica'),
      webhooks: bases('webhooks'),
      'webhooks with the zone tracker, and the definitions': bases(
        'webhooks',
        'zone-tracker',
        'replica-templates',
        'zone-aware-pod-disruption-budgets',
      ),
      PhasedRollouts: bases('phased-rollouts'),
      'PhasedRollouts with all webhooks': bases(
        'webhooks',
        'phased-rollouts',
        'phased-rollout-webhooks',
      ),
      StatefulsetRollouts: bases('phased-rollouts', 'statefulset-rollouts'),
      'a ServiceMonitor': bases('service-monitor'),
      "the peer's Role": bases('peer-role'),
      "webhooks under the peer's Role": bases('webhooks', 'zone-tracker', 'peer-role'),
      'a NetworkPolicy with addresses': {
        ...bases('network-policy'),
        patches: [0, 1].map((rule) => ({
          target: { kind: 'NetworkPolicy' },
          patch: JSON.stringify([
            {
              op: 'replace',
              path: `/spec/ingress/${rule}/from/0/ipBlock/cidr`,
              value: '192.0.2.0/24',
            },
          ]),
        })),
      },
    };

    for (const [name, kustomization] of Object.entries(variants)) {
      test(`is accepted by the API server: ${name}`, async () => {
        const namespace = await newNamespace();
        const objects = await renderer.kustomize({ namespace, ...kustomization });
        const without = JSON.stringify(objects)
          .replaceAll('$(NAMESPACE)', '')
          .replaceAll('"name":"NAMESPACE"', '');
        assert.doesNotMatch(without, /NAMESPACE|demo/);
        assert.deepEqual(await applyStrictly(admin, objects, namespace), []);
      });
    }

    test('is what deploy/ has, with webhooks and the zone tracker', async () => {
      const objects = await renderer.kustomize({
        namespace: 'demo',
        ...bases(
          'webhooks',
          'zone-tracker',
          'replica-templates',
          'zone-aware-pod-disruption-budgets',
        ),
      });
      const shipped = Object.entries(deployFiles(builtImage(version), 'demo'))
        .filter(([file]) => file !== 'deployment.yaml' && !file.startsWith('network-policy'))
        .flatMap(([, text]) =>
          parseAllDocuments(text).map((document) => document.toJS() as JsonObject),
        );
      const own = namesOf(objects).filter((each) => !each.endsWith('zone-tracker-role'));
      assert.deepEqual(new Set(own), new Set(namesOf(shipped)));
      for (const kind of ['Deployment', 'PodDisruptionBudget', 'Service']) {
        const [ours] = objects.filter((each) => each['kind'] === kind);
        const [theirs] = shipped.filter((each) => each['kind'] === kind);
        assert.deepEqual(ours?.['spec'], theirs?.['spec']);
      }
      for (const each of shipped.filter(({ webhooks }) => webhooks !== undefined)) {
        const ours = named(objects, textAt(each, 'kind'), textAt(each, 'metadata', 'name'));
        assert.deepEqual(ours['webhooks'], each['webhooks']);
      }
    });

    test('is accepted by the API server: the kustomization of the README', async () => {
      const readme = readFileSync(join(root, 'README.md'), 'utf8');
      const [, content = ''] = /```yaml\n(apiVersion: kustomize.*?)```/s.exec(readme) ?? [];
      const kustomization = parse(content) as { namespace: string };
      const namespace = await newNamespace();
      const objects = await renderer.kustomize({ ...kustomization, namespace });
      assert.equal(kustomization.namespace, 'cells');
      named(objects, 'ValidatingWebhookConfiguration', `no-downscale-${namespace}`);
      assert.deepEqual(await applyStrictly(admin, objects, namespace), []);
    });

    test('is refused by the API server where nobody has said what only the user knows', async () => {
      const namespace = await newNamespace();
      const unnamed = { ...bases('webhooks', 'network-policy'), transformers: [] };
      const objects = await renderer.kustomize({ namespace, ...unnamed });
      const refused = (await applyStrictly(admin, objects, namespace)).join('\n');
      assert.match(
        refused,
        /^NetworkPolicy rollout-operator: 422 .*"API_SERVERS": must be a valid CIDR/m,
      );
      assert.match(refused, /^ValidatingWebhookConfiguration no-downscale-NAMESPACE: 422/m);
      assert.match(refused, /^MutatingWebhookConfiguration prepare-downscale-NAMESPACE: 422/m);
    });
  });
});

/** What stands somewhere in the objects for each value of {@link everyValueOfPeer}. */
function partsOfPeer(namespace: string): readonly string[] {
  return [
    '"revisionHistoryLimit":3',
    '"image":"registry.example/ours/operator:v1"',
    '"imagePullPolicy":"Always"',
    '"imagePullSecrets":[{"name":"pull"}]',
    '"hostAliases":[{"hostnames":["a.example"],"ip":"192.0.2.1"}]',
    '"hostNetwork":true',
    '"app.kubernetes.io/name":"rolls"',
    '"serviceAccountName":"roller"',
    '"annotations":{"a":"b"}',
    '"annotations":{"c":"d"}',
    '"annotations":{"e":"f"}',
    '"g":"h"',
    '"fsGroup":2000',
    '"runAsUser":1000',
    '"-log.level=info"]',
    '"value":"--max-old-space-size=300"',
    '"envFrom":[{"secretRef":{"name":"more","optional":true}}]',
    '"memory":"600Mi"',
    '"cpu":"200m"',
    '"minReadySeconds":10',
    '"nodeSelector":{"disk":"fast"}',
    '"tolerations":[{"key":"only","operator":"Exists"}]',
    '"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[]}',
    '"priorityClassName":"high"',
    '"namespace":"default"',
    '"namespaceSelector":{"any":true}',
    '"annotations":{"i":"j"}',
    '"prometheus":"main"',
    '"interval":"30s"',
    '"scrapeTimeout":"10s"',
    '"relabelings":[{"action":"replace"',
    '"failurePolicy":"Fail"',
    '"failurePolicy":"Ignore"',
    '"timeoutSeconds":7',
    '"-server-tls.self-signed-cert.secret-name=certificate"',
    `"-server-tls.self-signed-cert.dns-name=rolls-it.${namespace}.svc"`,
    '"matchExpressions":[{"key":"team","operator":"NotIn","values":["other"]}]',
  ];
}
