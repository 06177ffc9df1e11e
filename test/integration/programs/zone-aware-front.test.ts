/** The program under the name of the zone-aware-controllers-for-k8s, as a process of its own. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parse, stringify } from 'yaml';
import { zoneWebhookConfiguration } from '#admission/webhook-configuration/zone-webhook-configuration.ts';
import type { JsonObject } from '#base/json.ts';
import { millis } from '#base/units.ts';
import { webhookTypes } from '#certificate/webhook-configuration.ts';
import type { PolicyRule } from '#cluster/auth/authorizer.ts';
import { createCluster, type EmbeddedCluster } from '#cluster/create-cluster.ts';
import { textAt } from '#cluster/json/read-json.ts';
import { install } from '#demo/cluster/apply-manifests.ts';
import type { Client } from '#kubernetes/client.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { freePort } from '#support/free-ports.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { zoneAwareUpdateDefinition } from '#zone-aware-update/definition.ts';
import { zoneDisruptionBudgetDefinition } from '#zone-disruption-budget/definition.ts';
import { zoneAwareObjects } from '../../../scripts/install/zone-aware-files.ts';
import { ask } from '../../scenarios/ask.ts';
import { OperatorProcess } from '../stages/operator-program.ts';
import { bundled } from '../stages/webhook-bundles.ts';

describe('the program as the zone-aware-controllers-for-k8s', () => {
  let cluster: EmbeddedCluster;
  let folder: string;
  const started: OperatorProcess[] = [];

  before(async () => {
    cluster = await createCluster({ clock: systemClock(), seed: 1 });
    folder = await mkdtemp(join(tmpdir(), 'zone-aware-front-'));
    const kubeconfig = (await cluster.listen()).kubeconfig();
    await writeFile(join(folder, 'kubeconfig'), kubeconfig, { mode: 0o600 });
  });

  after(async () => {
    for (const each of started) each.kill('SIGKILL');
    await Promise.all(started.map((each) => each.exitCode()));
    await cluster.close();
    await rm(folder, { recursive: true });
  });

  function launch(args: readonly string[], env: Readonly<Record<string, string>>): OperatorProcess {
    const common = { KUBECONFIG: join(folder, 'kubeconfig'), TMPDIR: folder };
    const process = new OperatorProcess(['zone-aware-controllers', ...args], { ...common, ...env });
    started.push(process);
    return process;
  }

  test('[zau 94] needs no certificate and opens no webhook where it only carries updates out, and is ready', async () => {
    const [probes, metrics] = [await freePort(), await freePort()];
    const args = [
      `--health-probe-bind-address=127.0.0.1:${probes}`,
      `--metrics-bind-address=127.0.0.1:${metrics}`,
    ];
    const process = launch(args, { CONTROLLERS: 'zau' });
    await process.line(/msg="caches synced".*zoneawareupdates=0/);
    const statuses = ['healthz', 'readyz'].map(async (path) => {
      const answer = await fetch(`http://127.0.0.1:${probes}/${path}`);
      await answer.text();
      return answer.status;
    });
    assert.deepEqual(await Promise.all(statuses), [200, 200]);
    const shown = await fetch(`http://127.0.0.1:${metrics}/metrics`);
    assert.match(await shown.text(), /^rollout_operator_/m);
    process.kill('SIGTERM');
    assert.equal(await process.exitCode(), 0);
    assert.deepEqual(
      process.lines.filter((line) => /webhooks served|level=error/.test(line)),
      [],
    );
  });

  test('[zau 94] says which file it lacks, and exits, where evictions are to be reviewed', async () => {
    const args = ['--health-probe-bind-address=127.0.0.1:0', '--metrics-bind-address=0'];
    const process = launch(args, { CONTROLLERS: 'zdb' });
    assert.equal(await process.exitCode(), 1);
    assert.match(process.lines.join('\n'), /tls\.crt/);
  });

  test('makes its certificate, has the API server trust it, and reviews evictions under the shipped Roles', async () => {
    const user = { name: 'zone-aware', groups: ['system:authenticated'] };
    const namespace = 'default';
    const objects = zoneAwareObjects('operator:1')['operator.yaml'] as readonly JsonObject[];
    const rulesOf = (kind: string): readonly PolicyRule[] =>
      objects
        .filter((each) => each['kind'] === kind)
        .flatMap(({ rules }) => rules as unknown as readonly PolicyRule[]);
    cluster.authorizer.restrict([
      { user: user.name, namespace, rules: rulesOf('Role') },
      { user: user.name, rules: rulesOf('ClusterRole') },
    ]);
    const clock = systemClock();
    const transport = cluster.transport();
    const admin = createClient({ clock, timeout: millis(0), userAgent: 'test', transport });
    // Shipped empty, as the Role permits creating none.
    const [secret] = objects.filter(({ kind }) => kind === 'Secret');
    const named = textAt(secret, 'metadata', 'name');
    const body = { type: 'Opaque', metadata: { name: named } };
    await admin.create(resourceTypes.secrets, { namespace }, { body });
    const spec = { type: 'ExternalName', externalName: 'localhost' };
    const service = { metadata: { name: 'zone-aware-controllers-webhook-service' }, spec };
    await admin.create(resourceTypes.services, { namespace }, { body: service });
    await installPod(admin);
    const file = join(folder, 'restricted');
    await writeFile(file, within(namespace, (await cluster.listen()).kubeconfig(user)), {
      mode: 0o600,
    });
    const off = ['--health-probe-bind-address=127.0.0.1:0', '--metrics-bind-address=0'];
    const own = ['--leader-elect', '--server-tls.self-signed-cert.enabled', '--server-tls.port=0'];
    const process = launch([...off, ...own], { KUBECONFIG: file });
    const line = await process.line(/msg="webhooks served"/);
    const port = Number(/ port=(\d+)/.exec(line)?.[1]);
    const configuration = zoneWebhookConfiguration({ namespace, port, injector: 'self' });
    const trusted = bundled(cluster.eventLog, [textAt(configuration, 'metadata', 'name')]);
    await admin.create(webhookTypes.mutating, {}, { body: configuration });
    await trusted;
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'web-0' } };
    const path = '/api/v1/namespaces/apps/pods/web-0/eviction';
    const answer = await ask(transport, {
      method: 'POST',
      path,
      rest: [eviction],
    });
    const text = JSON.stringify(answer.body);
    assert.equal(answer.status, 403, text);
    assert.match(text, /eviction\.zone-aware-controllers\.svc\\" denied the request: denying pod/);
    process.kill('SIGTERM');
    assert.equal(await process.exitCode(), 0);
    const refused = cluster.eventLog.calls.filter(
      (call) => call.user === user.name && call.outcome === 403,
    );
    assert.deepEqual(refused, []);
  });

  /** A pod that serves, and a budget that lets none go. */
  async function installPod(admin: Client): Promise<void> {
    const namespace = 'apps';
    await admin.create(resourceTypes.namespaces, {}, { body: { metadata: { name: namespace } } });
    await install(
      admin,
      [zoneDisruptionBudgetDefinition, zoneAwareUpdateDefinition],
      systemClock(),
    );
    const labels = { app: 'web' };
    const spec = { containers: [{ name: 'main', image: 'web:1' }] };
    const body = { metadata: { name: 'web-0', labels }, spec };
    await admin.create(resourceTypes.pods, { namespace }, { body });
    const conditions = [{ type: 'Ready', status: 'True' }];
    const document = { status: { phase: 'Running', conditions } };
    const write = { body: { kind: 'merge', document }, subresource: 'status' } as const;
    await admin.patch(resourceTypes.pods, { namespace, name: 'web-0' }, write);
    const budget = {
      apiVersion: 'zonecontrol.k8s.aws/v1',
      kind: 'ZoneDisruptionBudget',
      metadata: { name: 'web' },
      spec: { selector: { matchLabels: labels }, maxUnavailable: 0 },
    };
    await admin.create(resourceTypes.zoneDisruptionBudgets, { namespace }, { body: budget });
  }
});

/** `kubeconfig`, whose only context names `namespace`. */
function within(namespace: string, kubeconfig: string): string {
  const config = parse(kubeconfig) as { contexts: { context: object }[] };
  const contexts = config.contexts.map((each) => ({
    ...each,
    context: { ...each.context, namespace },
  }));
  return stringify({ ...config, contexts });
}
