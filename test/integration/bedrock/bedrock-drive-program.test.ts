/** `bedrock run` and the commands about one rollout as processes, against the embedded cluster over HTTPS; no operator runs. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { millis } from '#base/units.ts';
import { createCluster, type EmbeddedCluster } from '#cluster/create-cluster.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { statefulsetRolloutDefinition } from '#statefulset-rollout/definition.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { bedrockFile } from './bedrock-stage.ts';

const program = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const deploy = ['run', '-f', '-', '--service', 'kv', '--stage', 'dev', '--allow-tags'];
const usual = [...deploy, '--image', 'kv=kv:1', '--rollout-identity', 'r1', '--yes'];

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

describe('bedrock as a process', () => {
  let cluster: EmbeddedCluster;
  let folder: string;

  before(async () => {
    const clock = systemClock();
    cluster = await createCluster({ clock, seed: 1 });
    const transport = cluster.transport();
    const client = createClient({ clock, timeout: millis(0), userAgent: 'test', transport });
    await client.create(resourceTypes.namespaces, {}, { body: { metadata: { name: 'demo' } } });
    const body = statefulsetRolloutDefinition;
    await client.create(resourceTypes.customResourceDefinitions, {}, { body });
    folder = await mkdtemp(join(tmpdir(), 'bedrock-drive-'));
    const listener = await cluster.listen();
    await writeFile(join(folder, 'config'), listener.kubeconfig(), { mode: 0o600 });
  });

  after(async () => {
    await cluster.close();
    await rm(folder, { recursive: true });
  });

  /** @param until sends Ctrl-C once standard output has it */
  async function bedrock(args: readonly string[], until?: RegExp): Promise<Ended> {
    const env = { ...process.env, KUBECONFIG: join(folder, 'config') };
    const child = spawn(process.execPath, [program, 'bedrock', ...args], { env, timeout: 30_000 });
    const said = { out: '', err: '' };
    child.stdout.on('data', (text: Buffer) => {
      said.out += text.toString();
      if (until?.test(said.out) === true) child.kill('SIGINT');
    });
    child.stderr.on('data', (text: Buffer) => void (said.err += text.toString()));
    child.stdin.end(bedrockFile);
    const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
    return { code, ...said };
  }

  test('run applies the first phase, waits, and at Ctrl-C says how to go on', async () => {
    const { code, out, err } = await bedrock(usual, /not looked at yet/);
    assert.deepEqual([code, out], [1, 'kv-dev 1%: not looked at yet by the operator\n']);
    assert.match(err, /^Interrupted: no longer waiting for 1%\n/);
    assert.match(err, /--from 1 --rollout-identity r1\n$/);
  });

  test('run --timeout ends the wait', async () => {
    const { code, err } = await bedrock([...usual, '--timeout', '1s']);
    assert.equal(code, 1);
    assert.match(err, /^The time is over: /);
  });

  test('outside of a cluster it says how to name one', async () => {
    const child = spawn(process.execPath, [program, 'bedrock', 'status', 'kv-dev'], {
      env: { PATH: process.env['PATH'], HOME: folder },
      timeout: 30_000,
    });
    let err = '';
    child.stderr.on('data', (text: Buffer) => void (err += text.toString()));
    const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
    assert.equal(code, 1);
    assert.equal(
      err,
      'Cannot reach the cluster from inside as KUBERNETES_SERVICE_HOST is not set, as it is in a pod; outside of a cluster, name a kubeconfig with --kubeconfig or $KUBECONFIG\n',
    );
  });

  test('status, pause, resume and retry find the rollout', async () => {
    const on = ['kv-dev', '-n', 'demo'];
    const status = await bedrock(['status', ...on]);
    assert.deepEqual(status, {
      code: 0,
      out: 'demo/kv-dev 1%: not looked at yet by the operator\n',
      err: '',
    });
    assert.equal((await bedrock(['pause', ...on])).out, 'demo/kv-dev: pause requested\n');
    assert.match((await bedrock(['status', ...on])).out, /^ {2}pause: {5}requested$/m);
    assert.equal((await bedrock(['resume', ...on])).out, 'demo/kv-dev: no pause requested\n');
    assert.match((await bedrock(['retry', ...on])).out, /: begins again as [A-Za-z0-9]{20}\n$/);
  });

  test('status of what is not there, and a kubeconfig that is not there, are exit code 1', async () => {
    const gone = await bedrock(['status', 'gone', '-n', 'demo']);
    assert.equal(gone.code, 1);
    assert.match(gone.err, /^Cannot get StatefulsetRollout "demo\/gone": .*\n$/);
    const nowhere = await bedrock(['status', 'kv-dev', '--kubeconfig', join(folder, 'none')]);
    assert.equal(nowhere.code, 1);
    assert.match(nowhere.err, /^Cannot use kubeconfig ".*": it does not exist\n$/);
  });
});
