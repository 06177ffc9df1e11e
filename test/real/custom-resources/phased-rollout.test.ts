/**
 * A PhasedRollout as users of the sts-phased-rollout-operator have it: its definition, its Role, the arguments of its
 * Deployment, a real control plane, and a real Prometheus that scrapes what the pods are said to serve.
 */

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import type { JsonObject } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import { numberAt, objectAt, objectsAt, textAt } from '#cluster/json/read-json.ts';
import { type KeyAndCertificate, selfSigned } from '#cluster/transport/self-signed.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { Transport } from '#kubernetes/transport/transport.ts';
import { freePorts } from '#support/free-ports.ts';
import { OperatorProcess } from '../../integration/stages/operator-program.ts';
import { accountOf } from '../../real-cluster/control-plane/operator-account.ts';
import { Programs } from '../../real-cluster/control-plane/programs.ts';
import type { RealEnv } from '../../real-cluster/real-env.ts';
import { type RealLane, startRealLane } from '../../real-cluster/real-lane.ts';
import { applyStrictly } from '../../real-cluster/rendered.ts';
import { NO_INSTALLING, NO_PROMETHEUS } from '../../real-cluster/skip-reasons.ts';
import { peerAccount, peerRole, peerRules } from './phased-peer.ts';
import { isPrometheusMissing, password, startPrometheus } from './real-prometheus.ts';

const isExisting = (process.env['TEST_KUBECONFIG'] ?? '') !== '';
const skipped = isExisting ? NO_INSTALLING : isPrometheusMissing ? NO_PROMETHEUS : false;
const ops = 'sts-phased-rollout-operator-system';
const account = 'sts-phased-rollout-operator-controller-manager';
const images = { old: 'web:1', new: 'web:2', broken: 'web:3' };

/** What the pods are said to serve: how many errors there are. */
class Exporter {
  errors = 1;
  readonly #server: Server;

  private constructor(server: (exporter: Exporter) => Server) {
    this.#server = server(this);
  }

  static async listen(port: number): Promise<Exporter> {
    const exporter = new Exporter((self) =>
      createServer((_, response) => response.end(`errors ${self.errors}\n`)),
    );
    await new Promise<void>((listening) =>
      exporter.#server.listen(port, '127.0.0.1', () => listening()),
    );
    return exporter;
  }

  close(): void {
    this.#server.close();
  }
}

describe('a PhasedRollout on a real control plane, with a real Prometheus', {
  skip: skipped,
}, () => {
  let lane: RealLane;
  let admin: Client;
  let transport: Transport;
  let env: RealEnv;
  let programs: Programs;
  let identity: KeyAndCertificate;
  let exporter: Exporter;
  let url: string;
  const started: OperatorProcess[] = [];

  before(async () => {
    lane = await startRealLane();
    ({ admin } = lane.plane);
    transport = lane.plane.connectAsAdmin();
    programs = await Programs.create();
    identity = await selfSigned(lane.plane.clock.now());
    const [port = 0] = await freePorts(1);
    exporter = await Exporter.listen(port);
    url = await startPrometheus(programs, identity, [port]);
    env = await lane.env({ zones: ['a'], replicas: 1 });
    await install();
  });

  after(async () => {
    for (const each of started) each.kill('SIGKILL');
    exporter?.close();
    await env?.close();
    await programs?.close();
    await transport?.close();
    await lane?.close();
  });

  async function install(): Promise<void> {
    const source = await readFile(
      new URL('../../../deploy/phased-rollout/definition.yaml', import.meta.url),
      'utf8',
    );
    const definition = parseAllDocuments(source).map((each) => each.toJS() as JsonObject);
    const objects = [...definition, ...peerAccount(ops, account)];
    assert.deepEqual(await applyStrictly(transport, objects, ops), []);
  }

  /** As the Deployment of the peer starts it, without its webhooks. */
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
        'phased-rollout',
        '--metrics-bind-address=127.0.0.1:0',
        '--leader-elect',
        '--query-permit-loopback',
        '--health-probe-bind-address=127.0.0.1:0',
        `--kubeconfig=${kubeconfig}`,
      ],
      { ENABLE_WEBHOOKS: 'false' },
    );
    started.push(operator);
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
        replicas: 3,
        serviceName: 'web',
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: podSpec(images.old) },
      },
    };
    await admin.create(resourceTypes.statefulSets, { namespace }, { body });
  }

  async function createSecret(): Promise<void> {
    const { namespace } = env;
    const data = { username: encoded('ann'), password: encoded(password) };
    const secret = { metadata: { name: 'metrics' }, data };
    await admin.create(resourceTypes.secrets, { namespace }, { body: secret });
  }

  async function createRollout(more: JsonObject = {}): Promise<void> {
    const { namespace } = env;
    // As the peer's own client writes it: every field, the default ones too.
    const query = {
      expr: 'errors < 5',
      url,
      insecureSkipVerify: true,
      secretRef: 'metrics',
    };
    const check = { initialDelaySeconds: 1, periodSeconds: 1, successThreshold: 2, query, ...more };
    const body = {
      apiVersion: 'sts.plus/v1alpha1',
      kind: 'PhasedRollout',
      metadata: { name: 'web' },
      spec: { targetRef: 'web', standardRollingUpdate: false, check },
    };
    await admin.create(resourceTypes.phasedRollouts, { namespace }, { body });
  }

  const set = (): JsonObject | undefined => env.stored('statefulsets.apps', 'web');
  const partition = (): number =>
    numberAt(set(), 'spec', 'updateStrategy', 'rollingUpdate', 'partition') ?? 0;
  const owner = (): string => textAt(set(), 'metadata', 'annotations', 'sts.plus/phasedRollout');
  const imageOf = (pod: string): string =>
    textAt(objectsAt(objectAt(env.stored('pods', pod), 'spec'), 'containers')[0], 'image');
  const isNew = (): boolean =>
    ['web-0', 'web-1', 'web-2'].every((pod) => imageOf(pod) === images.new);

  async function status(): Promise<JsonObject> {
    const { namespace } = env;
    const found = await admin.get(resourceTypes.phasedRollouts, { namespace, name: 'web' });
    return objectAt(found, 'status');
  }

  test('rolls pod by pod while the query finds something, and stands while it does not, under the Role of the peer', {
    timeout: 240_000,
  }, async () => {
    const { namespace } = env;
    await createSet();
    await env.until('the pods are ready', () => numberAt(set(), 'status', 'readyReplicas') === 3);
    const first = await start();
    await createSecret();
    await createRollout();
    await env.until('the set is blocked', () => owner() === 'web' && partition() === 3);
    const since = env.history().length;
    await setImage(admin, namespace, images.new);
    await env.until('one may go', () => partition() === 2);
    exporter.errors = 9;
    await first.line(/msg="check answered".*verdict=fails/);
    const held = partition();
    assert.ok(held >= 1, `partition ${held}`);
    assert.equal(textAt(await status(), 'phase'), 'Rolling');
    exporter.errors = 1;
    await env.until('the next may go', () => partition() === held - 1);
    // Another takes over where this one ends in good order.
    first.kill('SIGTERM');
    assert.equal(await first.exitCode(), 0);
    const second = await start();
    await env.until('all are new, and blocked', () => isNew() && partition() === 3, seconds(120));
    const partitions = env
      .history()
      .slice(since)
      .filter(({ resource, name }) => resource === 'statefulsets.apps' && name === 'web')
      .map(({ after: stored }) =>
        numberAt(stored, 'spec', 'updateStrategy', 'rollingUpdate', 'partition'),
      );
    assert.deepEqual(
      partitions.filter((each, at) => each !== partitions[at - 1]),
      [3, 2, 1, 0, 3],
    );
    await admin.delete(
      resourceTypes.phasedRollouts,
      { namespace, name: 'web' },
      { preconditions: {} },
    );
    await env.until('the set is let go', () => owner() === '' && partition() === 0);
    await env.until('it is gone', () => env.stored('phasedrollouts.sts.plus', 'web') === undefined);
    second.kill('SIGTERM');
    assert.equal(await second.exitCode(), 0);
    for (const { lines } of started) {
      assert.deepEqual(
        lines.filter((line) => line.includes('level=error')),
        [],
      );
    }
  });

  test('brings pods back where its checks fail, and says which right it lacks for that', {
    timeout: 240_000,
  }, async () => {
    const operator = await start();
    await createRollout({ failureBudget: { consecutiveFailures: 2, onFailure: 'Rollback' } });
    await env.until('the set is blocked', () => owner() === 'web' && partition() === 3);
    await setImage(admin, env.namespace, images.broken);
    await env.until('one runs it', () => imageOf('web-2') === images.broken);
    exporter.errors = 9;
    await operator.line(/reason=RequestRefused .*pods.*delete|cannot delete resource/);
    assert.equal(imageOf('web-2'), images.broken);
    assert.equal(partition(), 3);
    await permitDeletions();
    await operator.line(/reason=RolledBack/);
    assert.equal(isNew(), true);
    assert.equal(partition(), 3);
    assert.equal(textAt(objectAt(await status(), 'rollingPodStatus'), 'status'), 'RolledBack');
    operator.kill('SIGTERM');
    assert.equal(await operator.exitCode(), 0);
  });

  async function permitDeletions(): Promise<void> {
    const rules = [...peerRules, { apiGroups: [''], resources: ['pods'], verbs: ['delete'] }];
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' };
    const object = { ...role, metadata: { name: peerRole }, rules };
    assert.deepEqual(await applyStrictly(transport, [object], ops), []);
  }
});

function podSpec(image: string): JsonObject {
  return { terminationGracePeriodSeconds: 1, containers: [{ name: 'main', image }] };
}

async function setImage(admin: Client, namespace: string, image: string): Promise<void> {
  const document = { spec: { template: { spec: podSpec(image) } } };
  const body = { kind: 'merge', document } as const;
  await admin.patch(resourceTypes.statefulSets, { namespace, name: 'web' }, { body });
}

function encoded(value: string): string {
  return Buffer.from(value).toString('base64');
}
