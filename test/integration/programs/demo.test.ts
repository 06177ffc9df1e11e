import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fast, mostPods, neverTwo, Program, program, timed } from './demo-program.ts';

describe('the demo as a process', () => {
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'demo-test-'));
  });

  after(async () => {
    await rm(folder, { recursive: true });
  });

  test('demo ends with 0 and says how long the rollout took and that never two zones were down', async () => {
    const demo = new Program(['demo', '--once', ...fast], folder);
    assert.equal(await demo.exitCode(), 0, demo.lines.join('\n'));
    const [time, ...rest] = demo.lines.slice(-3);
    assert.match(time ?? '', timed('the rollout'));
    assert.deepEqual(rest, [neverTwo, mostPods]);
    const deletions = demo.lines.filter((line) => line.includes('deleted by the operator'));
    assert.equal(deletions.length, 6);
    assert.ok(
      deletions.every((line) => line.endsWith('(PodOutdated)')),
      deletions.join('\n'),
    );
    assert.deepEqual(await readdir(folder), []);
  });

  test('demo shows a broken image reaching one pod, the reason of the wait, and the recovery', async () => {
    const demo = new Program(['demo', '--scenario=broken-image', ...fast], folder);
    assert.equal(await demo.exitCode(), 0, demo.lines.join('\n'));
    const [time, ...rest] = demo.lines.slice(-4);
    assert.match(time ?? '', timed('the rollout of the fix'));
    const reached = 'the broken image reached 1 pod of 1 zone, where 1 may be unavailable';
    assert.deepEqual(rest, [neverTwo, mostPods, reached]);
    const stuck =
      /zone-a {2}waits: .*ingester-zone-a-0 \(ImagePullBackOff\) \(MaxUnavailableReached\)$/;
    assert.ok(
      demo.lines.some((line) => stuck.test(line)),
      demo.lines.join('\n'),
    );
    const replaced = demo.lines.find((line) => line.endsWith('(StuckPodReplaced)'));
    assert.match(replaced ?? '', /ingester-zone-a-0 {2}deleted by the operator/);
  });

  test('demo of a down-scale ends with 130 after SIGINT and leaves nothing behind', async () => {
    const scenario = ['--scenario=delayed-downscale', '--speed=10', '--pods=2'];
    const demo = new Program(['demo', ...scenario], folder);
    await demo.line(/from 2 to 1 replicas, by the operator/);
    demo.kill('SIGINT');
    assert.equal(await demo.exitCode(), 130, demo.lines.join('\n'));
    assert.deepEqual(await readdir(folder), []);
  });

  test('demo refuses a limit of unavailable pods where no pod is replaced', async () => {
    const args = ['--scenario=delayed-downscale', '--max-unavailable=1'];
    const demo = new Program(['demo', ...args], folder);
    assert.equal(await demo.exitCode(), 2);
    assert.equal(demo.lines.length, 1);
  });

  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const) {
    test(`demo ends with ${code} after ${signal} and leaves nothing behind`, async () => {
      const demo = new Program(['demo', '--once', ...fast], folder);
      const line = await demo.line(/^cluster at /);
      const kubeconfig = /kubeconfig (\S+)$/.exec(line)?.[1] ?? '';
      assert.equal((await stat(kubeconfig)).mode & 0o777, 0o600);
      await demo.line(/deleted by the operator/);
      demo.kill(signal);
      assert.equal(await demo.exitCode(), code, demo.lines.join('\n'));
      assert.equal(existsSync(kubeconfig), false);
      assert.deepEqual(await readdir(folder), []);
    });
  }

  test('demo refuses an unknown option with one sentence and 2', async () => {
    const demo = new Program(['demo', '--fast'], folder);
    assert.equal(await demo.exitCode(), 2);
    assert.equal(demo.lines.length, 1);
  });

  test('cluster rolls from a second process, with the operator in a third', async () => {
    const kubeconfig = join(folder, 'kubeconfig');
    const cluster = new Program(['cluster', '--speed=10', `--kubeconfig=${kubeconfig}`], folder);
    await cluster.line(/zone-c {2}all 6 pods are ready/);
    const flags = [`-kubernetes.config-file=${kubeconfig}`, '-kubernetes.namespace=demo'];
    const operator = new Program([...flags, '-server.port=0'], folder);
    await operator.line(/caches synced/);
    const roll = new Program(['cluster', '--roll=next', `--kubeconfig=${kubeconfig}`], folder);
    assert.equal(await roll.exitCode(), 0, roll.lines.join('\n'));
    assert.equal(
      roll.lines[0],
      'demo/ingester-zone-a: registry.example/ingester:2.10.0 -> registry.example/ingester:2.11.0',
    );
    await cluster.line(/zone-c {2}done: all 6 pods run/);
    operator.kill('SIGTERM');
    assert.equal(await operator.exitCode(), 0);
    cluster.kill('SIGINT');
    assert.equal(await cluster.exitCode(), 0, cluster.lines.join('\n'));
    assert.deepEqual(await readdir(folder), []);
  });

  test('cluster never writes over a file that exists', async () => {
    const cluster = new Program(['cluster', `--kubeconfig=${program}`], folder);
    assert.equal(await cluster.exitCode(), 1);
    assert.match(cluster.lines.join('\n'), /^Cannot write the kubeconfig .*main\.ts: EEXIST/);
    assert.deepEqual(await readdir(folder), []);
  });
});
