/** The program as `statefulset-rollout`, as a process of its own, under the Roles that are shipped. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parse, parseAllDocuments, stringify } from 'yaml';
import type { JsonObject } from '#base/json.ts';
import { millis } from '#base/units.ts';
import type { PolicyRule } from '#cluster/auth/authorizer.ts';
import { createCluster, type EmbeddedCluster } from '#cluster/create-cluster.ts';
import { textAt } from '#cluster/json/read-json.ts';
import { createAll, install } from '#demo/cluster/apply-manifests.ts';
import type { Client } from '#kubernetes/client.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { freePort } from '#support/free-ports.ts';
import { startEnvironment } from '#support/world/world-environment.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { statefulsetRolloutObjects } from '../../../scripts/install/statefulset-rollout-files.ts';
import { OperatorProcess } from '../stages/operator-program.ts';

const example = join(import.meta.dirname, '../../../examples/statefulset-rollout/rollout.yaml');
const [own, namespace] = ['statefulset-rollout-system', 'demo'];
const objects = statefulsetRolloutObjects('operator:1');

describe('the program as statefulset-rollout', () => {
  let cluster: EmbeddedCluster;
  let folder: string;
  let admin: Client;
  let manifests: readonly JsonObject[];
  let living: ReturnType<typeof startEnvironment>;
  const started: OperatorProcess[] = [];

  before(async () => {
    const clock = systemClock();
    cluster = await createCluster({ clock, seed: 1 });
    folder = await mkdtemp(join(tmpdir(), 'statefulset-rollout-front-'));
    const transport = cluster.transport();
    admin = createClient({ clock, timeout: millis(0), userAgent: 'test', transport });
    for (const name of [own, namespace, 'other']) {
      await admin.create(resourceTypes.namespaces, {}, { body: { metadata: { name } } });
    }
    await install(admin, objects['definition.yaml'] as readonly JsonObject[], clock);
    living = startEnvironment(cluster, clock, {});
    await Promise.all([living.controllers.ready, living.kubelet.ready]);
    const text = await readFile(example, 'utf8');
    manifests = parseAllDocuments(text).map((document) => document.toJSON() as JsonObject);
  });

  after(async () => {
    for (const each of started) each.kill('SIGKILL');
    await Promise.all(started.map((each) => each.exitCode()));
    await Promise.all([living.controllers.stop(), living.kubelet.stop()]);
    await cluster.close();
    await rm(folder, { recursive: true });
  });

  /** Starts it as `user`, with the shipped rules for what it watches in `scope`, or everywhere. */
  async function launch(
    user: string,
    args: readonly string[],
    scope?: string,
  ): Promise<OperatorProcess> {
    const shipped = objects['operator.yaml'] as readonly JsonObject[];
    const rulesOf = (kind: string): readonly PolicyRule[] =>
      shipped
        .filter((each) => each['kind'] === kind)
        .flatMap(({ rules }) => rules as unknown as readonly PolicyRule[]);
    const watched = { user, rules: rulesOf('ClusterRole') };
    cluster.authorizer.restrict([
      { user, namespace: own, rules: rulesOf('Role') },
      scope === undefined ? watched : { ...watched, namespace: scope },
    ]);
    const groups = ['system:authenticated'];
    const kubeconfig = (await cluster.listen()).kubeconfig({ name: user, groups });
    const file = join(folder, user);
    await writeFile(file, within(own, kubeconfig), { mode: 0o600 });
    const process = new OperatorProcess(['statefulset-rollout', ...args], { KUBECONFIG: file });
    started.push(process);
    return process;
  }

  function refusedTo(user: string): readonly unknown[] {
    return cluster.eventLog.calls.filter((call) => call.user === user && call.outcome === 403);
  }

  /** Makes the example's objects in `place`, and resolves with the phase in which the rollout ends. */
  async function roll(place: string): Promise<string> {
    const ended = new Promise<string>((resolve) => {
      cluster.eventLog.onCommit((commit) => {
        const isOne = commit.resource === 'statefulsetrollouts.bedrock.operator.slack.com';
        const phase = textAt(commit.after, 'status', 'phase');
        if (isOne && commit.namespace === place && phase.startsWith('Rollout')) resolve(phase);
      });
    });
    const placed = manifests.map((each) => ({
      ...each,
      metadata: { ...(each['metadata'] as JsonObject), namespace: place },
    }));
    await createAll(admin, placed);
    return ended;
  }

  test('makes the set of the example and is done with it, under the shipped Roles alone', async () => {
    const [probes, metrics] = [await freePort(), await freePort()];
    const process = await launch('everywhere', [
      `--health-probe-bind-address=127.0.0.1:${probes}`,
      `--metrics-bind-address=127.0.0.1:${metrics}`,
      '--zap-encoder=console',
    ]);
    assert.equal(await roll(namespace), 'RolloutDone');
    const statuses = ['healthz', 'readyz'].map(async (path) => {
      const answer = await fetch(`http://127.0.0.1:${probes}/${path}`);
      await answer.text();
      return answer.status;
    });
    assert.deepEqual(await Promise.all(statuses), [200, 200]);
    const shown = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
    assert.match(shown, /^leader_election_master_status\{name="statefulset-rollout"\} 1$/m);
    process.kill('SIGTERM');
    assert.equal(await process.exitCode(), 0);
    assert.deepEqual(refusedTo('everywhere'), []);
  });

  test('carries out those of one namespace with the rights of a Role there, and leaves the others alone', async () => {
    const args = ['--watch-namespace=other', '--health-probe-bind-address=0'];
    const off = ['--metrics-bind-address=0', '--zap-encoder=console', '--leader-elect=false'];
    const process = await launch('somewhere', [...args, ...off], 'other');
    assert.equal(await roll('other'), 'RolloutDone');
    process.kill('SIGTERM');
    assert.equal(await process.exitCode(), 0);
    assert.deepEqual(refusedTo('somewhere'), []);
    const elsewhere = cluster.eventLog.calls.filter(
      (call) => call.user === 'somewhere' && call.namespace === namespace,
    );
    assert.deepEqual(elsewhere, []);
  });

  test('refuses a flag that it does not know, and says which there are', async () => {
    const process = await launch('nobody', ['--nonsense']);
    assert.equal(await process.exitCode(), 2);
    assert.match(process.lines.join('\n'), /not defined: -nonsense[\s\S]*-watch-namespace/);
  });
});

function within(place: string, kubeconfig: string): string {
  const document = parse(kubeconfig) as {
    contexts: readonly { readonly context: Record<string, string> }[];
  };
  for (const { context } of document.contexts) context['namespace'] = place;
  return stringify(document);
}
