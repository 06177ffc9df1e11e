/** The webhooks of the real program as a process of its own, behind an API server that verifies them. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { after, afterEach, before, describe, test } from 'node:test';
import { connect } from 'node:tls';
import { millis } from '#base/units.ts';
import { textAt } from '#cluster/json/read-json.ts';
import { selfSigned } from '#cluster/transport/self-signed.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { ApiError } from '#kubernetes/transport/api-error.ts';
import { prepared, reviewDocument } from '#support/admission/admission-requests.ts';
import { WebhookClient } from '#support/admission/webhook-client.ts';
import { PodFleet } from '#support/pods/pod-fleet.ts';
import { PodFleetServer } from '#support/pods/pod-fleet-server.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { ask } from '../../scenarios/ask.ts';
import { reviewBudgets } from '../../scenarios/budget-reviews.ts';
import { bundled } from '../stages/webhook-bundles.ts';
import { WebhookStage } from '../stages/webhook-stage.ts';

const namespace = 'test';
const secret = { namespace, name: 'rollout-operator-self-signed-certificate' };
const guarded = { 'grafana.com/no-downscale': 'true' };
const asked = { 'grafana.com/prepare-downscale': 'true' };

/** The refusal of a change, without the words of this client before it. */
async function refusal(change: Promise<unknown>): Promise<string> {
  try {
    await change;
    return 'made';
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const text = error.message.slice(error.message.indexOf('admission webhook'));
    return `${error.status} ${text.replace(/ \(\d+\)$/, '')}`;
  }
}

/** A change of a set that keeps its replicas. */
const review = reviewDocument();

function caOf(stored: KubernetesObject): string {
  return Buffer.from(textAt(stored, 'data', 'ca'), 'base64').toString();
}

/** Subject and names of the certificate on `port`, verified by `ca`. */
async function servedBy(port: number, ca: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', ca, checkServerIdentity: () => undefined });
  await once(socket, 'secureConnect');
  const { subject, subjectaltname = '' } = socket.getPeerCertificate();
  socket.destroy();
  const names = Object.entries(subject).map(([member, value]) => `${member}=${String(value)}`);
  return [...names, subjectaltname].join(', ');
}

describe('the operator as a process with TLS', () => {
  const clock = systemClock();
  const fleet = new PodFleet(clock);
  const pods = new PodFleetServer(fleet, clock);
  let stage: WebhookStage;
  let env: Readonly<Record<string, string>>;

  before(async () => {
    stage = await WebhookStage.open();
    env = { HTTP_PROXY: (await pods.listen()).href };
  });

  afterEach(async () => {
    await stage.unconfigure();
  });

  after(async () => {
    await stage.close();
    await pods.close();
  });

  test('refuses and prepares scale-downs that the API server asks about, and shows it in its metrics', async () => {
    const { process, port, plain } = await stage.operator([], env);
    await stage.configure(port);
    await stage.set({ name: 'guarded', labels: guarded });
    await stage.set({ name: 'asked', labels: asked, annotations: prepared.annotations });
    assert.equal(
      await refusal(stage.scale('guarded', 1)),
      '400 admission webhook "no-downscale-test.grafana.com" denied the request: downscale of statefulsets/guarded in test from 3 to 1 replicas is not allowed because it has the label \'grafana.com/no-downscale=true\'',
    );
    assert.equal(await refusal(stage.scale('asked', 2)), 'made');
    assert.deepEqual([...new Set(fleet.story())], ['POST asked-2']);
    fleet.behave({ kind: 'answer', status: 500 }, 'asked-1');
    assert.equal(
      await refusal(stage.scale('asked', 1)),
      '400 admission webhook "prepare-downscale-test.grafana.com" denied the request: downscale of statefulsets/asked in test from 2 to 1 replicas is not allowed because one or more pods failed to prepare for shutdown.',
    );
    assert.equal((await fetch(`${plain}/ready`)).status, 200);
    const metrics = await (await fetch(`${plain}/metrics`)).text();
    for (const wanted of [
      /^rollout_operator_request_duration_seconds_count\{method="POST",route="admission_no_downscale",status_code="200",ws="false"\} \d+$/m,
      /^rollout_operator_request_duration_seconds_count\{method="GET",route="ready",status_code="200",ws="false"\} 1$/m,
      /^kube_validating_webhook_failure_policy\{type="ValidatingWebhook",webhook="no-downscale-test\.grafana\.com",policy="Fail"\} 1$/m,
      /^rollout_operator_pod_http_client_request_duration_seconds_count\{.*method="POST".*\} \d+$/m,
      /^rollout_operator_certificate_expiry_timestamp_seconds \d+/m,
    ])
      assert.match(metrics, wanted);
    process.kill('SIGTERM');
    assert.equal(await process.exitCode(), 0);
  });

  test('refuses budgets that say nothing that can be kept, in the words of the peer [zpdb 28, 29]', async () => {
    const { process, port } = await stage.operator([], env);
    await stage.configure(port);
    await stage.installBudgets();
    const transport = stage.cluster.transport();
    await reviewBudgets(
      (method, path, ...rest) => ask(transport, { method, path, rest }),
      namespace,
    );
    process.kill('SIGTERM');
    assert.equal(await process.exitCode(), 0);
  });

  test('[admission 84] serves the certificate of the Secret again after a restart, without a write', async () => {
    const first = await stage.operator();
    const stored = await stage.admin.get(resourceTypes.secrets, secret);
    first.process.kill('SIGTERM');
    await first.process.exitCode();
    const second = await stage.operator();
    const kept = await stage.admin.get(resourceTypes.secrets, secret);
    assert.equal(kept.metadata.resourceVersion, stored.metadata.resourceVersion);
    const served = await servedBy(second.port, caOf(stored));
    assert.equal(served, 'CN=rollout-operator, O=Grafana Labs, DNS:rollout-operator.test.svc');
    second.process.kill('SIGTERM');
    assert.equal(await second.process.exitCode(), 0);
  });

  test('[admission 95] puts a CA bundle back that a user clears', async () => {
    const { process, port } = await stage.operator();
    await stage.configure(port);
    const restored = bundled(stage.cluster.eventLog, ['no-downscale-test']);
    const operations = [{ op: 'remove', path: '/webhooks/0/clientConfig/caBundle' }];
    await stage.admin.patch(
      resourceTypes.validatingWebhookConfigurations,
      { name: 'no-downscale-test' },
      { body: { kind: 'json', operations } },
    );
    await restored;
    process.kill('SIGTERM');
    assert.equal(await process.exitCode(), 0);
  });

  test('answers what is under way when it is asked to end, with readiness withdrawn first', async () => {
    const { process, port, plain } = await stage.operator([], env);
    await stage.configure(port);
    await stage.set({ name: 'draining', labels: asked, annotations: prepared.annotations });
    const count = fleet.calls.length;
    const behaves = { kind: 'application' } as const;
    fleet.behave({ kind: 'late', after: millis(500), behaves }, 'draining-2');
    const scaled = refusal(stage.scale('draining', 2));
    await fleet.received(count + 1);
    process.kill('SIGTERM');
    await process.line(/msg="signal received"/);
    const ready = await fetch(`${plain}/ready`);
    assert.equal(ready.status, 500);
    assert.equal(await scaled, 'made');
    assert.equal(await process.exitCode(), 0);
  });

  test('[admission 92] serves the certificate of files, and the next one as soon as they change', async () => {
    const write = async (names: readonly string[]): Promise<string> => {
      const { cert, key } = await selfSigned(clock.now(), names);
      await writeFile(stage.path('tls.crt'), cert);
      await writeFile(stage.path('tls.key'), key);
      return cert;
    };
    const first = await write(['one.test']);
    const { process, port } = await stage.operator([
      '-server-tls.self-signed-cert.enabled=false',
      '-webhooks.update-ca-bundle=false',
      `-server-tls.cert-file=${stage.path('tls.crt')}`,
      `-server-tls.key-file=${stage.path('tls.key')}`,
    ]);
    assert.match(await servedBy(port, first), /DNS:one\.test/);
    const second = await write(['two.test']);
    await process.line(/msg="webhook certificate changed"/);
    assert.match(await servedBy(port, second), /DNS:two\.test/);
    process.kill('SIGTERM');
    assert.equal(await process.exitCode(), 0);
  });

  test('[admission 99] asks for the cluster header where an own list exempts other paths', async () => {
    const { process, port } = await stage.operator([
      '-server.cluster-validation.http.enabled=true',
      '-server.cluster-validation.http.excluded-paths=admission/no-downscale',
    ]);
    const stored = await stage.admin.get(resourceTypes.secrets, secret);
    const client = new WebhookClient(port, caOf(stored), {
      servername: 'rollout-operator.test.svc',
    });
    assert.equal((await client.post('/admission/no-downscale', '{')).status, 400);
    assert.equal((await client.post('/admission/prepare-downscale', '{')).status, 511);
    await client.close();
    process.kill('SIGTERM');
    assert.equal(await process.exitCode(), 0);
  });

  test('renews the certificate of two replicas while reviews go on over new connections, and none fails (D-28)', async () => {
    const flags = [
      '-server-tls.self-signed-cert.expiration=12s',
      '-server-tls.self-signed-cert.secret-name=short',
    ];
    const replicas = await Promise.all([stage.operator(flags), stage.operator(flags)]);
    await stage.configure(replicas[0].port);
    const body = JSON.stringify(review);
    const ending = { isOver: false };
    const failures: string[] = [];
    const counts = replicas.map(async ({ port }) => {
      let count = 0;
      for (; !ending.isOver; count += 1) {
        // As the API server does: with the bundle that the configuration has now.
        const ca = await stage.bundle();
        const client = new WebhookClient(port, ca, { servername: 'rollout-operator.test.svc' });
        await client.post('/admission/no-downscale', body).then(
          ({ status, text }) => {
            if (status !== 200 || !text.includes('"allowed":true')) failures.push(text);
          },
          (error: unknown) => failures.push(String(error)),
        );
        await client.close();
      }
      return count;
    });
    await Promise.all(
      replicas.map(({ process }) => process.line(/msg="webhook certificate changed"/)),
    );
    ending.isOver = true;
    const [one = 0, two = 0] = await Promise.all(counts);
    assert.deepEqual(failures, []);
    assert.ok(one > 20 && two > 20, `${one} and ${two} reviews`);
    for (const { process } of replicas) process.kill('SIGTERM');
    for (const { process } of replicas) assert.equal(await process.exitCode(), 0);
  });

  test('exits with 1 where the port is taken', async () => {
    const other = createServer().listen(0);
    await once(other, 'listening');
    const address = other.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const operator = stage.launch([`-server-tls.port=${port}`]);
    assert.equal(await operator.exitCode(), 1);
    other.close();
    const said = `Cannot serve webhooks on port ${port}: the port is in use by another program`;
    assert.equal(operator.lines.at(-1), said);
  });

  const refusals: Readonly<
    Record<string, { readonly flags: readonly string[]; readonly says: RegExp }>
  > = {
    'files that do not exist': {
      flags: [
        '-server-tls.self-signed-cert.enabled=false',
        '-webhooks.update-ca-bundle=false',
        '-server-tls.cert-file=/nowhere/tls.crt',
        '-server-tls.key-file=/nowhere/tls.key',
      ],
      says: /Cannot serve with the certificate files: \/nowhere\/tls\.crt /,
    },
    '[admission 86] a Secret that lacks the CA': {
      flags: ['-server-tls.self-signed-cert.secret-name=lacking'],
      says: /Secret "test\/lacking"/,
    },
  };
  for (const [what, { flags, says }] of Object.entries(refusals)) {
    test(`exits with 1 for ${what}`, async () => {
      const body = { metadata: { name: 'lacking' }, data: { cert: 'eA==', key: 'eA==' } };
      await stage.admin
        .create(resourceTypes.secrets, { namespace }, { body })
        .catch(() => undefined);
      const operator = stage.launch(flags);
      assert.equal(await operator.exitCode(), 1);
      assert.match(operator.lines.join('\n'), says);
    });
  }
});
