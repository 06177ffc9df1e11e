/**
 * The zone-aware-controllers-for-k8s as their users have them: definitions, Roles, arguments and webhook, on a real control
 * plane whose nodes tell their zones.
 */

import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import { numberAt, objectAt, objectsAt, textAt } from '#cluster/json/read-json.ts';
import { type KeyAndCertificate, selfSigned } from '#cluster/transport/self-signed.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { Transport } from '#kubernetes/transport/transport.ts';
import { AwsServer } from '#support/external-services/aws-server.ts';
import { freePorts } from '#support/free-ports.ts';
import { zoneAwareUpdateDefinition } from '#zone-aware-update/definition.ts';
import { zoneDisruptionBudgetDefinition } from '#zone-disruption-budget/definition.ts';
import { zoneAwareObjects } from '../../../scripts/install/zone-aware-files.ts';
import { OperatorProcess } from '../../integration/stages/operator-program.ts';
import { accountOf } from '../../real-cluster/control-plane/operator-account.ts';
import { Programs } from '../../real-cluster/control-plane/programs.ts';
import type { RealEnv } from '../../real-cluster/real-env.ts';
import { type RealLane, startRealLane } from '../../real-cluster/real-lane.ts';
import { applyStrictly } from '../../real-cluster/rendered.ts';
import { NO_INSTALLING } from '../../real-cluster/skip-reasons.ts';
import { peerAccount } from './phased-peer.ts';
import { zonePeer } from './zone-peer.ts';

const isExisting = (process.env['TEST_KUBECONFIG'] ?? '') !== '';
const ops = 'zone-aware-controllers-system';
const account = 'zone-aware-controllers-service-account';
const images = { old: 'web:1', new: 'web:2' };
const replicas = 25;
const alarm = 'PauseDeployment.Test';

describe('zone-aware controllers on a real control plane', {
  skip: isExisting ? NO_INSTALLING : false,
}, () => {
  let lane: RealLane;
  let admin: Client;
  let transport: Transport;
  let env: RealEnv;
  let programs: Programs;
  let identity: KeyAndCertificate;
  let port: number;
  const aws = new AwsServer();
  let awsUrl: string;
  const started: OperatorProcess[] = [];

  before(async () => {
    lane = await startRealLane();
    ({ admin } = lane.plane);
    transport = lane.plane.connectAsAdmin();
    programs = await Programs.create();
    identity = await selfSigned(lane.plane.clock.now());
    [port = 0] = await freePorts(1);
    env = await lane.env({ zones: ['a'], replicas: 1 });
    awsUrl = await aws.listen();
    aws.alarms.push({ name: alarm, kind: 'composite', state: 'ALARM' });
    const objects = [
      zoneAwareUpdateDefinition,
      zoneDisruptionBudgetDefinition,
      ...peerAccount(ops, account, zonePeer),
    ];
    assert.deepEqual(await applyStrictly(transport, objects, ops), []);
    const folder = join(programs.folder, 'k8s-webhook-server', 'serving-certs');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'tls.crt'), identity.cert);
    await writeFile(join(folder, 'tls.key'), identity.key, { mode: 0o600 });
  });

  after(async () => {
    for (const each of started) each.kill('SIGKILL');
    await aws.close();
    await env?.close();
    await programs?.close();
    await transport?.close();
    await lane?.close();
  });

  /** As the Deployment of the peer starts it. */
  async function start(): Promise<OperatorProcess> {
    const { token } = await accountOf(admin, ops, account);
    const config = JSON.parse(lane.plane.kubeconfig(token)) as {
      contexts: readonly { name: string; context: object }[];
    };
    const contexts = config.contexts.map(({ name, context }) => ({
      name,
      context: { ...context, namespace: ops },
    }));
    const kubeconfig = join(programs.folder, 'kubeconfig');
    await writeFile(kubeconfig, JSON.stringify({ ...config, contexts }), { mode: 0o600 });
    const operator = new OperatorProcess(
      [
        'zone-aware-controllers',
        '--leader-elect',
        '--metrics-bind-address=127.0.0.1:0',
        '--health-probe-bind-address=127.0.0.1:0',
        `--kubeconfig=${kubeconfig}`,
        `--server-tls.port=${port}`,
      ],
      {
        TMPDIR: programs.folder,
        AWS_REGION: 'eu-west-1',
        AWS_ENDPOINT_URL_CLOUDWATCH: awsUrl,
        AWS_ACCESS_KEY_ID: aws.keys.id,
        AWS_SECRET_ACCESS_KEY: aws.keys.secret,
      },
    );
    started.push(operator);
    await operator.line(/msg="webhooks served"/);
    await operator.line(/msg="caches synced"/);
    return operator;
  }

  async function createSet(): Promise<void> {
    const { namespace } = env;
    const labels = { app: 'web' };
    const body = {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'web' },
      spec: {
        replicas,
        serviceName: 'web',
        podManagementPolicy: 'Parallel',
        updateStrategy: { type: 'OnDelete' },
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: podSpec(images.old) },
      },
    };
    await admin.create(resourceTypes.statefulSets, { namespace }, { body });
  }

  /** As the peer means it to be registered (EV-2), for the namespace of the test alone. */
  async function configureWebhook(): Promise<void> {
    const { namespace } = env;
    const object = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: 'mutating-webhook-configuration' },
      webhooks: [
        {
          name: 'eviction.zone-aware-controllers.svc',
          admissionReviewVersions: ['v1', 'v1beta1'],
          clientConfig: {
            url: `https://127.0.0.1:${port}/pod-eviction-v1`,
            caBundle: Buffer.from(identity.cert).toString('base64'),
          },
          failurePolicy: 'Fail',
          sideEffects: 'None',
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
          rules: [
            {
              apiGroups: [''],
              apiVersions: ['v1'],
              operations: ['CREATE'],
              resources: ['pods/eviction'],
            },
          ],
        },
      ],
    };
    assert.deepEqual(await applyStrictly(transport, [object], ops), []);
  }

  const set = (): JsonObject | undefined => env.stored('statefulsets.apps', 'web');
  const isWhole = (): boolean => numberAt(set(), 'status', 'readyReplicas') === replicas;
  const names = Array.from({ length: replicas }, (_, ordinal) => `web-${ordinal}`);
  const imageOf = (pod: string): string =>
    textAt(objectsAt(objectAt(env.stored('pods', pod), 'spec'), 'containers')[0], 'image');
  const nodeOf = (pod: string): string => textAt(env.stored('pods', pod), 'spec', 'nodeName');

  async function evict(name: string): Promise<number> {
    const path = `/api/v1/namespaces/${env.namespace}/pods/${name}/eviction`;
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } };
    return (await env.ask('POST', path, body)).status;
  }

  /** The most nodes, which stand for zones, and the most pods that were away at once since `since`. */
  function mostAway(since: number): { readonly zones: number; readonly pods: number } {
    const nodes = new Map(names.map((name) => [name, '']));
    const away = new Set<string>();
    const most = { zones: 0, pods: 0 };
    for (const [at, { resource, name, after: pod }] of env.history().entries()) {
      if (resource !== 'pods' || !nodes.has(name)) continue;
      const node = textAt(pod, 'spec', 'nodeName');
      if (node !== '') nodes.set(name, node);
      if (isReady(pod)) away.delete(name);
      else away.add(name);
      if (at < since) continue;
      most.pods = Math.max(most.pods, away.size);
      most.zones = Math.max(most.zones, new Set([...away].map((each) => nodes.get(each))).size);
    }
    return most;
  }

  test('allow evictions of one zone at a time, and update 25 pods by 10 % zone by zone in growing steps, once no alarm rings, under the Role of the peer', {
    timeout: 240_000,
  }, async () => {
    const { namespace } = env;
    await createSet();
    await env.until('the pods are ready', isWhole);
    const operator = await start();
    await configureWebhook();
    const selector = { matchLabels: { app: 'web' } };
    const apiVersion = 'zonecontrol.k8s.aws/v1';
    const budget = {
      apiVersion,
      kind: 'ZoneDisruptionBudget',
      metadata: { name: 'zdb' },
      spec: { selector, maxUnavailable: '10%' },
    };
    await admin.create(resourceTypes.zoneDisruptionBudgets, { namespace }, { body: budget });
    const stored = (): JsonObject | undefined =>
      env.stored('zonedisruptionbudgets.zonecontrol.k8s.aws', 'zdb');
    await env.until('the budget tells what it allows', () => {
      const allowed = Object.values(objectAt(stored(), 'status', 'disruptionsAllowed'));
      return allowed.length === 3 && allowed.every((count) => count === 3);
    });
    const since = env.history().length;
    const [first = '', ...others] = [...new Set(names.map(nodeOf))].map(
      (node) => names.find((name) => nodeOf(name) === node) ?? '',
    );
    assert.equal(others.length, 2);
    const codes = await Promise.all([first, ...others].map(evict));
    assert.deepEqual(
      codes.toSorted((a, b) => a - b),
      [201, 429, 429],
    );
    await env.until('one was evicted', () => !isWhole());
    await env.until('the pods are ready again', isWhole);

    const spec = { statefulset: 'web', maxUnavailable: '10%', pauseRolloutAlarm: alarm };
    const update = { apiVersion, kind: 'ZoneAwareUpdate', metadata: { name: 'zau' }, spec };
    await admin.create(resourceTypes.zoneAwareUpdates, { namespace }, { body: update });
    const document = { spec: { template: { spec: podSpec(images.new) } } };
    await admin.patch(
      resourceTypes.statefulSets,
      { namespace, name: 'web' },
      { body: { kind: 'merge', document } },
    );
    const told = (): JsonObject =>
      objectAt(env.stored('zoneawareupdates.zonecontrol.k8s.aws', 'zau'), 'status');
    await env.until('it is paused', () => told()['pausedRollout'] === true);
    assert.ok(names.every((name) => imageOf(name) === images.old));
    aws.alarms[0] = { name: alarm, kind: 'composite', state: 'OK' };
    const isNew = (): boolean => names.every((name) => imageOf(name) === images.new);
    await env.until('some are new', () => names.some((name) => imageOf(name) === images.new));
    // Another takes over where this one ends in good order.
    operator.kill('SIGTERM');
    assert.equal(await operator.exitCode(), 0);
    const second = await start();
    await env.until(
      'all are new, and promoted',
      () => isNew() && isWhole() && isPromoted(),
      seconds(120),
    );
    assert.deepEqual(mostAway(since), { zones: 1, pods: 3 });
    await env.until('the status says so', () => {
      const status = told();
      const [condition] = objectsAt(status, 'conditions');
      return (
        textAt(condition, 'reason') === 'Updated' && (numberAt(status, 'updateStep') ?? 0) === 0
      );
    });
    second.kill('SIGTERM');
    assert.equal(await second.exitCode(), 0);
    for (const { lines } of started) {
      assert.deepEqual(
        lines.filter((line) => line.includes('level=error')),
        [],
      );
    }
  });

  test('are installed over the peer, whose names and selectors they keep, field by field', async () => {
    const shipped = Object.values(zoneAwareObjects('operator:1')).flat() as readonly JsonObject[];
    assert.deepEqual(await applyStrictly(transport, peerInstall(), ops), []);
    assert.deepEqual(await applyStrictly(transport, shipped, ops), []);
  });

  function isPromoted(): boolean {
    const status = objectAt(set(), 'status');
    return textAt(status, 'currentRevision') === textAt(status, 'updateRevision');
  }
});

function isReady(pod: JsonObject | undefined): boolean {
  if (textAt(pod, 'metadata', 'deletionTimestamp') !== '') return false;
  return objectsAt(pod, 'status', 'conditions').some(
    ({ type, status }) => type === 'Ready' && status === 'True',
  );
}

function podSpec(image: string): JsonObject {
  return { terminationGracePeriodSeconds: 1, containers: [{ name: 'main', image }] };
}

/** What the peer installs that cannot be changed in place: selectors, and what bindings bind (OPS-9). */
function peerInstall(): readonly JsonObject[] {
  const prefix = 'zone-aware-controllers-';
  const rbac = 'rbac.authorization.k8s.io';
  const labels = { 'control-plane': 'controller-manager' };
  const binding = (kind: string, what: string): JsonObject => ({
    apiVersion: `${rbac}/v1`,
    kind: `${kind}Binding`,
    metadata: { name: `${prefix}${what}-rolebinding` },
    roleRef: { apiGroup: rbac, kind, name: `${prefix}${what}-role` },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace: ops }],
  });
  const container = {
    name: 'manager',
    image: 'controller:latest',
    command: ['/zone-aware-controllers'],
    args: ['--leader-elect'],
    volumeMounts: [
      { name: 'cert', mountPath: '/tmp/k8s-webhook-server/serving-certs', readOnly: true },
    ],
  };
  const volumes = [{ name: 'cert', secret: { secretName: 'aws-prometheus-certs' } }];
  return [
    binding('ClusterRole', 'manager'),
    binding('Role', 'leader-election'),
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: `${prefix}webhook-service` },
      spec: { ports: [{ port: 443, protocol: 'TCP', targetPort: 9443 }], selector: labels },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: `${prefix}controller-manager`, labels },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { serviceAccountName: account, containers: [container], volumes },
        },
      },
    },
  ];
}
