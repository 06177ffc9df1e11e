import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createCluster, type EmbeddedCluster } from '#cluster/create-cluster.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { OperatorProcess } from '../stages/operator-program.ts';

describe('the operator as a process', () => {
  let cluster: EmbeddedCluster;
  let folder: string;
  let kubeconfig: string;

  before(async () => {
    cluster = await createCluster({ clock: systemClock(), seed: 1 });
    folder = await mkdtemp(join(tmpdir(), 'operator-process-'));
    kubeconfig = join(folder, 'kubeconfig');
    const listener = await cluster.listen();
    await writeFile(kubeconfig, listener.kubeconfig(), { mode: 0o600 });
  });

  after(async () => {
    await cluster.close();
    await rm(folder, { recursive: true });
  });

  const flags = (...more: readonly string[]): readonly string[] => [
    `-kubernetes.config-file=${kubeconfig}`,
    '-kubernetes.namespace=default',
    '-server.port=0',
    ...more,
  ];

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`[scenario 80] ends with 0 on ${signal} when idle, and logs the signal`, async () => {
      const operator = new OperatorProcess(flags());
      await operator.line(/msg="caches synced"/);
      operator.kill(signal);
      assert.equal(await operator.exitCode(), 0);
      assert.match(await operator.line(/signal received/), new RegExp(`signal=${signal}`));
    });
  }

  test('[scenario 81] begins every log line with the level and the time', async () => {
    const operator = new OperatorProcess(flags());
    await operator.line(/msg="caches synced"/);
    operator.kill('SIGTERM');
    await operator.exitCode();
    for (const line of operator.lines)
      assert.match(line, /^level=\w+ ts=\d{4}-\d\d-\d\dT[\d:.]+Z /);
  });

  test('[scenario 82] becomes ready although a tracing back-end is configured that does not exist', async () => {
    const operator = new OperatorProcess(flags(), {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:9/v1/traces',
      OTEL_TRACES_SAMPLER: 'always_off',
    });
    await operator.line(/msg="caches synced"/);
    operator.kill('SIGTERM');
    assert.equal(await operator.exitCode(), 0);
    assert.match(await operator.line(/msg=tracing /), /collector=127.0.0.1:9 .*sampler=none/);
  });

  test('[scenario 78] tells of a word among the flags, and of what it does not read for it', async () => {
    const operator = new OperatorProcess([...flags(), 'stray', '-log.level=error']);
    const line = await operator.line(/msg="arguments are ignored from/);
    assert.match(line, /^level=error .* argument=stray after="-log\.level=error"$/);
    await operator.line(/msg="caches synced"/);
    operator.kill('SIGTERM');
    assert.equal(await operator.exitCode(), 0);
  });

  const refusals: Record<
    string,
    { readonly args: readonly string[]; readonly code: number; readonly says: RegExp }
  > = {
    'a missing namespace': { args: [], code: 1, says: /kubernetes\.namespace/ },
    'an unknown flag': { args: ['-nonsense'], code: 2, says: /nonsense/ },
    'a kubeconfig that does not exist': {
      args: [
        '-kubernetes.namespace=x',
        '-server.port=0',
        '-kubernetes.config-file=/nowhere/at/all',
      ],
      code: 1,
      says: /"\/nowhere\/at\/all".*does not exist/,
    },
    'a kubeconfig that is a directory': {
      args: ['-kubernetes.namespace=x', '-server.port=0', `-kubernetes.config-file=${tmpdir()}`],
      code: 1,
      says: /is a directory/,
    },
    'no cluster around it': {
      args: ['-kubernetes.namespace=x', '-server.port=0'],
      code: 1,
      says: /KUBERNETES_SERVICE_HOST.*-kubernetes\.config-file/,
    },
    'a word that is neither a flag nor a command': {
      args: ['operate', '-kubernetes.namespace=x'],
      code: 2,
      says: /There is no command "operate": name one of all, bedrock, cluster, demo, phased-rollout, statefulset-rollout, zone-aware-controllers, or give flags alone/,
    },
    'a word among the flags before one that is needed': {
      args: ['-use-zone-tracker', 'true', '-kubernetes.namespace=x'],
      code: 1,
      says: /kubernetes\.namespace must not be empty\n"true" is not a flag, so it was not read, nor what follows it: -kubernetes\.namespace=x/,
    },
    'a command that is not built': { args: ['why'], code: 1, says: /"why" is not built/ },
  };

  for (const [what, { args, code, says }] of Object.entries(refusals)) {
    test(`[scenario 78] refuses ${what} with ${code} and one sentence`, async () => {
      const operator = new OperatorProcess(args);
      assert.equal(await operator.exitCode(), code);
      assert.match(operator.lines.join('\n'), says);
    });
  }
});
