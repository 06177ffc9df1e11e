/** The program under the name of the zone-aware-controllers-for-k8s, as a process of its own. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createCluster, type EmbeddedCluster } from '#embedded-cluster/create-cluster.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { OperatorProcess } from './operator-program.ts';
import { freePort } from './webhook-stage.ts';

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
});
