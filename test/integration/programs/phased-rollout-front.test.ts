/** The program under the name of the sts-phased-rollout-operator, behind an API server that calls its webhooks. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  phasedRolloutPrefix,
  phasedWebhookConfigurations,
} from '#admission/webhook-configuration/phased-webhook-configurations.ts';
import type { JsonObject } from '#base/json.ts';
import { millis } from '#base/units.ts';
import { webhookTypes } from '#certificate/webhook-configuration.ts';
import { createCluster, type EmbeddedCluster } from '#cluster/create-cluster.ts';
import { objectsAt, textAt } from '#cluster/json/read-json.ts';
import { type KeyAndCertificate, selfSigned } from '#cluster/transport/self-signed.ts';
import type { Client } from '#kubernetes/client.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { phasedRolloutDefinition } from '#phased-rollout/definition.ts';
import { freePort } from '#support/free-ports.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { ask } from '../../scenarios/ask.ts';
import { type Ask, reviewPhasedRollouts } from '../../scenarios/phased-rollout-reviews.ts';
import { OperatorProcess } from '../stages/operator-program.ts';
import { bundled } from '../stages/webhook-bundles.ts';

const namespace = 'ops';
const program = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const serviceName = `${phasedRolloutPrefix}webhook-service`;

describe('the program as the sts-phased-rollout-operator', () => {
  const clock = systemClock();
  let cluster: EmbeddedCluster;
  let admin: Client;
  let folder: string;
  let certificate: KeyAndCertificate;
  const started: OperatorProcess[] = [];
  const toServer: Ask = (method, path, body) =>
    ask(cluster.transport(), { method, path, rest: body === undefined ? [] : [body] });

  before(async () => {
    cluster = await createCluster({ clock, seed: 1 });
    admin = createClient({
      clock,
      timeout: millis(0),
      userAgent: 'test',
      transport: cluster.transport(),
    });
    folder = await mkdtemp(join(tmpdir(), 'phased-front-'));
    const listener = await cluster.listen();
    await writeFile(join(folder, 'kubeconfig'), listener.kubeconfig(), { mode: 0o600 });
    certificate = await selfSigned(clock.now(), [`${serviceName}.${namespace}.svc`]);
    for (const name of [namespace, 'apps']) {
      await admin.create(resourceTypes.namespaces, {}, { body: { metadata: { name } } });
    }
    const spec = { type: 'ExternalName', externalName: 'localhost' };
    const body = { metadata: { name: serviceName }, spec };
    await admin.create(resourceTypes.services, { namespace }, { body });
    await installDefinition();
  });

  after(async () => {
    for (const each of started) each.kill('SIGKILL');
    await Promise.all(started.map((each) => each.exitCode()));
    await cluster.close();
    await rm(folder, { recursive: true });
  });

  async function installDefinition(): Promise<void> {
    const served = new Promise<void>((resolve) => {
      cluster.eventLog.onCommit(({ resource, after: stored }) => {
        if (!resource.startsWith('customresourcedefinitions.')) return;
        const conditions = objectsAt(stored, 'status', 'conditions');
        if (conditions.some((each) => textAt(each, 'type') === 'Established')) resolve();
      });
    });
    const body = phasedRolloutDefinition;
    await admin.create(resourceTypes.customResourceDefinitions, {}, { body });
    await served;
  }

  /** The folder for temporary files of a process whose certificate is in place, as cert-manager's is in a pod. */
  async function certified(): Promise<string> {
    const home = join(folder, 'certified');
    const files = join(home, 'k8s-webhook-server', 'serving-certs');
    await mkdir(files, { recursive: true });
    await writeFile(join(files, 'tls.crt'), certificate.cert);
    await writeFile(join(files, 'tls.key'), certificate.key);
    return home;
  }

  function launch(args: readonly string[], env: Readonly<Record<string, string>>): OperatorProcess {
    const KUBECONFIG = join(folder, 'kubeconfig');
    const common = ['--health-probe-bind-address=127.0.0.1:0', '--server-tls.port=0'];
    const process = new OperatorProcess(
      ['phased-rollout', ...common, ...args],
      { KUBECONFIG, ...env },
      program,
    );
    started.push(process);
    return process;
  }

  async function portOf(process: OperatorProcess): Promise<number> {
    const line = await process.line(/msg="webhooks served"/);
    return Number(/ port=(\d+)/.exec(line)?.[1]);
  }

  async function configure(bodies: readonly JsonObject[]): Promise<void> {
    for (const body of bodies) {
      const isMutating = body['kind'] === 'MutatingWebhookConfiguration';
      await admin.create(webhookTypes[isMutating ? 'mutating' : 'validating'], {}, { body });
    }
  }

  async function unconfigure(): Promise<void> {
    for (const kind of ['mutating', 'validating'] as const) {
      const name = `${phasedRolloutPrefix}${kind}-webhook-configuration`;
      await admin.delete(webhookTypes[kind], { name }, { preconditions: {} });
    }
  }

  test('puts in defaults and refuses what is none, on the certificate of the folder [phased 1, 2, 4]', async (t) => {
    const process = launch([], { TMPDIR: await certified() });
    const port = await portOf(process);
    // As cert-manager's injector does, which asks the annotation.
    const caBundle = Buffer.from(certificate.cert).toString('base64');
    await configure(
      phasedWebhookConfigurations({ namespace, port, injector: 'cert-manager' }).map((body) =>
        withBundle(body, caBundle),
      ),
    );
    t.after(unconfigure);
    await reviewPhasedRollouts(toServer, 'apps');
    process.kill('SIGTERM');
    assert.equal(await process.exitCode(), 0);
  });

  test('admits what cannot be reviewed [phased 7]', async (t) => {
    await configure(phasedWebhookConfigurations({ namespace, port: 9, injector: 'cert-manager' }));
    t.after(unconfigure);
    const query = { expr: 'up{', url: 'http://h' };
    const { status } = await toServer(
      'POST',
      '/apis/sts.plus/v1alpha1/namespaces/apps/phasedrollouts',
      {
        apiVersion: 'sts.plus/v1alpha1',
        kind: 'PhasedRollout',
        metadata: { name: 'unreviewed' },
        spec: { targetRef: 'web', check: { query } },
      },
    );
    assert.equal(status, 201);
  });

  test('writes its own CA into both configurations where the flag says so', async (t) => {
    const process = launch(['--server-tls.self-signed-cert.enabled'], {});
    t.after(unconfigure);
    const port = await portOf(process);
    const bodies = phasedWebhookConfigurations({ namespace: 'default', port, injector: 'self' });
    const names = bodies.map((body) => textAt(body, 'metadata', 'name'));
    const trusted = bundled(cluster.eventLog, names);
    await configure(bodies);
    await trusted;
    process.kill('SIGTERM');
    assert.equal(await process.exitCode(), 0);
  });

  test('runs without certificates where ENABLE_WEBHOOKS is false, and else says what is missing [phased 8]', async () => {
    const env = { TMPDIR: join(folder, 'nowhere') };
    const process = launch([], { ...env, ENABLE_WEBHOOKS: 'false' });
    await process.line(/msg="no webhooks are served"/);
    process.kill('SIGTERM');
    assert.equal(await process.exitCode(), 0);
    const other = launch([], env);
    await other.line(
      /^Cannot serve with the certificate files: .*serving-certs\/tls\.crt must be a readable file/,
    );
    assert.equal(await other.exitCode(), 1);
  });

  test('serves probes and metrics where the Deployment of the peer looks for them', async () => {
    const [probes, metrics] = [await freePort(), await freePort()];
    const process = launch(
      [
        `--health-probe-bind-address=127.0.0.1:${probes}`,
        `--metrics-bind-address=127.0.0.1:${metrics}`,
        '--metrics-secure=false',
        '--enable-http2',
      ],
      { TMPDIR: await certified() },
    );
    await process.line(/msg="webhooks served"/);
    await process.line(/msg="a flag has no effect here" flag=--enable-http2/);
    const origin = `http://127.0.0.1:${probes}`;
    for (const path of ['/healthz', '/readyz', '/healthz/ping']) {
      const answer = await fetch(`${origin}${path}`);
      assert.deepEqual([answer.status, await answer.text()], [200, 'ok'], path);
    }
    assert.equal((await fetch(`${origin}/metrics`)).status, 404);
    const exposition = await fetch(`http://127.0.0.1:${metrics}/metrics`);
    assert.match(await exposition.text(), /^process_cpu_seconds_total /m);
    assert.equal((await fetch(`http://127.0.0.1:${metrics}/ready`)).status, 404);
    process.kill('SIGTERM');
    assert.equal(await process.exitCode(), 0);
  });

  test('ends with 2 for an unknown flag', async () => {
    const process = launch(['--nonsense'], {});
    await process.line(/^flag provided but not defined: -nonsense$/);
    assert.equal(await process.exitCode(), 2);
  });
});

function withBundle(body: JsonObject, caBundle: string): JsonObject {
  const webhooks = objectsAt(body, 'webhooks').map((webhook) => ({
    ...webhook,
    clientConfig: { ...(webhook['clientConfig'] as JsonObject), caBundle },
  }));
  return { ...body, webhooks };
}
