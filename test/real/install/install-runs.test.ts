/** The program under exactly what the chart, or the kustomize base, permits; and real helm beside what it writes. */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { stringify } from 'yaml';
import type { JsonObject } from '#base/json.ts';
import { millis } from '#base/units.ts';
import { objectAt, objectsAt, textAt } from '#cluster/json/read-json.ts';
import type { Transport } from '#kubernetes/transport/transport.ts';
import { freePorts } from '#support/free-ports.ts';
import { PodFleet } from '#support/pods/pod-fleet.ts';
import { PodFleetServer } from '#support/pods/pod-fleet-server.ts';
import { refusedCalls } from '../../real-cluster/audit/audit.ts';
import { accountOf, type RoleName } from '../../real-cluster/control-plane/operator-account.ts';
import type { Installed, RealEnv } from '../../real-cluster/real-env.ts';
import { type RealLane, startRealLane } from '../../real-cluster/real-lane.ts';
import { applyStrictly, chartFolder, Renderer } from '../../real-cluster/rendered.ts';
import { NO_INSTALLING } from '../../real-cluster/skip-reasons.ts';
import { ask } from '../../scenarios/ask.ts';
import { images, isComplete, setImage, setName } from '../../scenarios/group.ts';
import { told, WebhookStage } from '../admission/webhook-stage.ts';
import { bases, createNamespace } from './install-stage.ts';

const isExisting = (process.env['TEST_KUBECONFIG'] ?? '') !== '';
const pause = millis(50);
const say = (line: string): void => void process.stderr.write(`${line}\n`);
const isConfiguration = ({ kind }: JsonObject): boolean =>
  textAt({ kind }, 'kind').endsWith('WebhookConfiguration');

/** The flags that `objects` start the operator with, but for the namespace, which the lane says in its own way. */
function flagsOf(objects: readonly JsonObject[]): readonly string[] {
  const deployment = objects.find(({ kind }) => kind === 'Deployment');
  const [container] = objectsAt(objectAt(deployment, 'spec', 'template', 'spec'), 'containers');
  const args = (container?.['args'] ?? []) as readonly string[];
  assert.equal(args[0], '-kubernetes.namespace=$(NAMESPACE)');
  return args.slice(1);
}

function accountIn(objects: readonly JsonObject[]): string {
  const deployment = objects.find(({ kind }) => kind === 'Deployment');
  return textAt(deployment, 'spec', 'template', 'spec', 'serviceAccountName');
}

/** What the operator has asked for, and does without: that leads to no refusal. */
function missed({ log }: RealEnv): readonly string[] {
  const texts = log.map((line) => textAt(line, 'msg'));
  return texts.filter((text) => /does not permit|^no lease|only one replica|find out/.test(text));
}

/** The API server runs outside of the cluster network: it finds the operator beside itself, at `port` (D-31). */
function reachable(object: JsonObject, port: number): JsonObject {
  if (object['kind'] === 'Service') {
    return { ...object, spec: { type: 'ExternalName', externalName: 'localhost' } };
  }
  if (!isConfiguration(object)) return object;
  const webhooks = objectsAt(object, 'webhooks').map((webhook) => ({
    ...webhook,
    clientConfig: { service: { ...objectAt(webhook, 'clientConfig', 'service'), port } },
  }));
  return { ...object, webhooks };
}

// Most of it is waiting.
describe('the program', { concurrency: 2, skip: isExisting ? NO_INSTALLING : false }, () => {
  let lane: RealLane;
  let renderer: Renderer;
  let admin: Transport;
  const podServers: PodFleetServer[] = [];

  before(async () => {
    renderer = await Renderer.create({ env: process.env, say });
    lane = await startRealLane();
    admin = lane.plane.connectAsAdmin();
  });

  after(async () => {
    await admin?.close();
    await lane?.close();
    await renderer?.close();
    await Promise.all(podServers.map((each) => each.close()));
  });

  /** A group in `namespace`, and all of `objects` but the Deployment, which nothing would run, and the configurations. */
  function openWith(
    namespace: Installed['namespace'],
    objects: readonly JsonObject[],
    role: RoleName,
  ): Promise<RealEnv> {
    const install: Installed['install'] = async (client) => {
      const apart = ({ kind }: JsonObject): boolean => kind === 'Deployment';
      const all = objects.filter((each) => !apart(each) && !isConfiguration(each));
      const reached = all.map((each) => reachable(each, 0));
      assert.deepEqual(await applyStrictly(admin, reached, namespace), []);
      return accountOf(client, namespace, accountIn(objects));
    };
    return lane.env({ zones: ['a', 'b'], role, installed: { namespace, install } });
  }

  const byChart = (values: object) => (namespace: string) =>
    renderer.chart(values, { namespace, release: 'cells' });

  const served: Readonly<
    Record<
      string,
      {
        readonly namespace: Installed['namespace'];
        readonly render: (namespace: string) => Promise<readonly JsonObject[]>;
        readonly role?: RoleName;
        readonly tracker?: string;
      }
    >
  > = {
    'the chart, by default': { namespace: 'installed-chart', render: byChart({}) },
    'the chart with names of its own': {
      namespace: 'installed-named',
      render: byChart({
        fullnameOverride: 'rolls',
        serviceAccount: { name: 'roller' },
        webhooks: { selfSignedCertSecretName: 'certificate' },
        zoneTracker: { configMapName: 'zones' },
        extraArgs: ['-leader-election.resource-name=rolls'],
      }),
      tracker: 'zones',
    },
    "the chart with the peer's Role": {
      namespace: 'installed-peer',
      render: byChart({ rbac: { role: 'peer' }, replicas: 1 }),
      role: 'peer',
    },
    'the kustomize base with webhooks and the zone tracker': {
      namespace: 'installed-bases',
      render: (namespace) =>
        renderer.kustomize({
          namespace,
          ...bases(
            'webhooks',
            'zone-tracker',
            'replica-templates',
            'zone-aware-pod-disruption-budgets',
          ),
        }),
    },
  };

  for (const [name, { namespace, render, role = 'ours', tracker }] of Object.entries(served)) {
    test(`reviews and rolls under the Roles of ${name}`, { timeout: 240_000 }, async () => {
      const objects = await render(namespace);
      const env = await openWith(namespace, objects, role);
      const [port = 0] = await freePorts(1);
      const fleet = new PodFleet(lane.plane.clock);
      const pods = new PodFleetServer(fleet, lane.plane.clock);
      podServers.push(pods);
      const proxy = (await pods.listen()).href;
      const stage = new WebhookStage(env, port, proxy);
      await stage.guard();
      const flags = [...flagsOf(objects), `-server-tls.port=${port}`];
      const operator = await env.startOperatorWith(flags, { HTTP_PROXY: proxy });
      const configurations = objects.filter(isConfiguration).map((each) => reachable(each, port));
      assert.equal(configurations.length, 4);
      assert.deepEqual(await applyStrictly(admin, configurations, namespace), []);
      await stage.untilCalled();
      assert.equal(told(await stage.scale('b', 2)), stage.refused('b', 2));
      fleet.calls.length = 0;
      assert.equal(told(await stage.scale('a', 2)), '200');
      assert.deepEqual(fleet.story(), [`POST ${setName('a')}-2`]);
      await env.until('zone a shrinks', () => stage.replicas('a') === 2);
      const zones = env.stored('configmaps', tracker ?? 'rollout-operator-zone-tracker');
      assert.match(textAt(zones, 'data', setName('a')), /\d{4}-\d\d-\d\dT/);
      await setImage(env, images.new);
      await env.until('all pods are new', () => isComplete(env, images.new));
      await operator.stop();
      await stage.noForbidden();
      if (role === 'ours') assert.deepEqual(missed(env), []);
      else
        assert.ok(
          missed(env).includes('the Role does not permit an optional verb; it is not used'),
        );
      await env.close();
    });
  }

  test('rolls under the Role of the chart without webhooks', { timeout: 240_000 }, async () => {
    const namespace = 'installed-plain';
    const objects = await byChart({ webhooks: { enabled: false }, replicas: 1 })(namespace);
    assert.deepEqual(flagsOf(objects), []);
    const env = await openWith(namespace, objects, 'ours');
    const operator = await env.startOperatorWith(flagsOf(objects));
    await setImage(env, images.new);
    await env.until('all pods are new', () => isComplete(env, images.new));
    await operator.stop();
    assert.deepEqual(refusedCalls(await env.audit(), { mayLackLeases: false }), []);
    assert.deepEqual(missed(env), []);
    await env.close();
  });

  test('keeps what it has written, and what others had, when helm installs and upgrades beside it', {
    timeout: 240_000,
  }, async () => {
    const namespace = 'installed-helm';
    const zones = { 'ingester-zone-a': '{"lastDownscale":"2026-01-01T00:00:00Z"}' };
    const kubeconfig = join(renderer.folder, 'kubeconfig');
    const helm = async (...args: readonly string[]): Promise<string> => {
      const { code, stdout, stderr } = await renderer.helm([
        ...args,
        `--namespace=${namespace}`,
        `--kubeconfig=${kubeconfig}`,
      ]);
      assert.equal(code, 0, stderr);
      return stdout;
    };
    const env = await lane.env({
      zones: [],
      installed: {
        namespace,
        install: async (client) => {
          const { own } = lane;
          assert.ok(own);
          await writeFile(kubeconfig, own.adminKubeconfig, { mode: 0o600 });
          // As the program that was there before leaves it: made by nobody's release.
          const map = {
            metadata: { name: 'rollout-operator-zone-tracker', namespace },
            data: zones,
          };
          const object = { apiVersion: 'v1', kind: 'ConfigMap', ...map };
          assert.deepEqual(await applyStrictly(admin, [object], namespace), []);
          const notes = await helm('install', 'rollout-operator', chartFolder);
          assert.match(notes, /is installed in the namespace installed-helm/);
          return accountOf(client, namespace, 'rollout-operator');
        },
      },
    });
    const objects = await renderer.chart({}, { namespace });
    const [port = 0] = await freePorts(1);
    const operator = await env.startOperatorWith([...flagsOf(objects), `-server-tls.port=${port}`]);
    const at = async (path: string): Promise<JsonObject> =>
      (await env.ask('GET', path)).body as JsonObject;
    const core = `/api/v1/namespaces/${namespace}`;
    const secret = `${core}/secrets/rollout-operator-self-signed-certificate`;
    const hook = `/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/no-downscale-${namespace}`;
    const bundle = async (): Promise<string> =>
      textAt(objectsAt(await at(hook), 'webhooks')[0], 'clientConfig', 'caBundle');
    while ((await bundle()) === '') await env.pass(pause);
    const made = objectAt(await at(secret), 'data');
    assert.ok(Object.keys(made).length > 0);
    await helm('upgrade', 'rollout-operator', chartFolder, '--set=minReadySeconds=5');
    const deployment = `/apis/apps/v1/namespaces/${namespace}/deployments/rollout-operator`;
    assert.equal(objectAt(await at(deployment), 'spec')['minReadySeconds'], 5);
    assert.deepEqual(objectAt(await at(secret), 'data'), made);
    assert.notEqual(await bundle(), '');
    const map = await at(`${core}/configmaps/rollout-operator-zone-tracker`);
    assert.deepEqual(map['data'], zones);
    await operator.stop();
    await helm('uninstall', 'rollout-operator');
    assert.deepEqual((await at(`${core}/configmaps/rollout-operator-zone-tracker`))['data'], zones);
    assert.equal((await env.ask('GET', secret)).status, 404);
    await env.close();
  });

  test('has its Deployment, made by the chart of the peer, replaced in place by helm upgrade', {
    timeout: 240_000,
  }, async () => {
    const namespace = 'rendered-upgrade';
    await createNamespace(lane, namespace);
    const { own } = lane;
    assert.ok(own);
    const folder = join(renderer.folder, 'peer');
    const kubeconfig = join(renderer.folder, 'kubeconfig-upgrade');
    await writeFile(kubeconfig, own.adminKubeconfig, { mode: 0o600 });
    await writeChart(folder, peerObjects);
    const uid = async (): Promise<string> => {
      const path = `/apis/apps/v1/namespaces/${namespace}/deployments/mimir-rollout-operator`;
      const answer = await ask(admin, { method: 'GET', path, rest: [] });
      return textAt(answer.body as JsonObject, 'metadata', 'uid');
    };
    const run = async (...args: readonly string[]): Promise<void> => {
      const place = [`--namespace=${namespace}`, `--kubeconfig=${kubeconfig}`];
      const { code, stderr } = await renderer.helm([...args, ...place]);
      assert.equal(code, 0, stderr);
    };
    await run('install', 'mimir', folder);
    const before = await uid();
    assert.notEqual(before, '');
    await run('upgrade', 'mimir', chartFolder);
    assert.equal(await uid(), before);
    const path = `/api/v1/namespaces/${namespace}/services/mimir-rollout-operator`;
    const answer = await ask(admin, { method: 'GET', path, rest: [] });
    // Kubernetes keeps it, as docs/compatibility.md says.
    assert.equal(textAt(answer.body as JsonObject, 'spec', 'clusterIP'), 'None');
  });
});

/** What the chart of the peer makes of release mimir, as far as it cannot be changed later. */
const peerLabels = {
  'app.kubernetes.io/name': 'rollout-operator',
  'app.kubernetes.io/instance': 'mimir',
};
const peerObjects: readonly JsonObject[] = [
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'mimir-rollout-operator' },
    spec: {
      replicas: 1,
      selector: { matchLabels: peerLabels },
      template: {
        metadata: { labels: peerLabels },
        spec: { containers: [{ name: 'rollout-operator', image: 'registry.example/peer:1' }] },
      },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'mimir-rollout-operator' },
    spec: {
      clusterIP: 'None',
      selector: peerLabels,
      ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 8443 }],
    },
  },
];

async function writeChart(folder: string, objects: readonly JsonObject[]): Promise<void> {
  await mkdir(join(folder, 'templates'), { recursive: true });
  const chart = { apiVersion: 'v2', name: 'rollout-operator', version: '0.46.0' };
  await writeFile(join(folder, 'Chart.yaml'), stringify(chart));
  const text = objects.map((each) => stringify(each)).join('---\n');
  await writeFile(join(folder, 'templates/all.yaml'), text);
}
