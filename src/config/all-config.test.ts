import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AllOutcome, readAllConfig } from './all-config.ts';
import type { Outcome } from './outcome.ts';
import { readPhasedRolloutConfig } from './phased-config.ts';
import { readConfig } from './read-config.ts';
import { readStatefulsetRolloutConfig } from './statefulset-config.ts';

type Run = Extract<AllOutcome, { kind: 'run' }>;

function read(...args: readonly string[]): Run {
  const outcome = readAllConfig(['-kubernetes.namespace=demo', ...args]);
  assert.ok(outcome.kind === 'run', JSON.stringify(outcome));
  return outcome;
}

test('readAllConfig() has the ports and defaults of the rollout-operator, and serves nothing besides', () => {
  const usual = readConfig(['-kubernetes.namespace=demo']);
  assert.ok(usual.kind === 'run');
  const { config, front } = read();
  assert.deepEqual(config, usual.config);
  const { outside, isPinAssumed, partialAging, consul, ...others } = front;
  assert.equal(partialAging, 86_400_000);
  assert.equal(consul, undefined);
  assert.equal(isPinAssumed, false);
  assert.deepEqual(others, {
    metrics: undefined,
    probes: undefined,
    queries: { allowedHosts: [], permitsLoopback: false },
    withoutEffect: [],
  });
  assert.deepEqual(outside.callback.allowedHosts, []);
  assert.equal(outside.slack.tokenFile, undefined);
});

/** Names of the flags that `usage` explains. */
function flagsIn(usage: string): readonly string[] {
  return [...usage.matchAll(/^ {2}-(\S+)/gm)].map(([, name = '']) => name);
}

function usageOf(outcome: Outcome<unknown>): string {
  assert.ok(outcome.kind === 'exit');
  return outcome.stderr;
}

for (const [program, usage] of Object.entries({
  'the sts-phased-rollout-operator': usageOf(readPhasedRolloutConfig(['-help'], {})),
  'statefulset-rollout': usageOf(readStatefulsetRolloutConfig(['-help'], {})),
})) {
  test(`readAllConfig() knows every flag of ${program}`, () => {
    const names = flagsIn(usage);
    assert.ok(names.length >= 12, names.join());
    const known = new Set(flagsIn(usageOf(readAllConfig(['-help']))));
    assert.deepEqual(
      names.filter((name) => !known.has(name)),
      [],
    );
  });
}

test('readAllConfig() takes the watched namespace of StatefulsetRollouts where it is the one that is served', () => {
  assert.equal(read('--watch-namespace=demo').config.kubernetes.namespace, 'demo');
  for (const [flag, got] of [
    ['--watch-namespace=other', 'other'],
    ['--watch-namespace=', 'all namespaces'],
  ] as const) {
    const outcome = readAllConfig(['-kubernetes.namespace=demo', flag]);
    assert.deepEqual(outcome, {
      kind: 'exit',
      code: 1,
      stderr: `-watch-namespace must be that of -kubernetes.namespace, the one namespace that is served: got ${got} and demo\n`,
    });
  }
});

test('readAllConfig() serves probes and metrics besides where a flag of that peer says so', () => {
  const { front } = read('--metrics-bind-address=:8443', '--health-probe-bind-address=:8081');
  assert.deepEqual(front.metrics, { host: undefined, port: 8_443, isSecure: true });
  assert.deepEqual(front.probes, { host: undefined, port: 8_081 });
});

test('readAllConfig() takes the kubeconfig, the election and the log of either peer', () => {
  const { config } = read(
    '--kubeconfig=/there',
    '--leader-elect=false',
    '--zap-devel=false',
    '-log.level=warn',
  );
  assert.equal(config.kubernetes.configFile, '/there');
  assert.equal(config.leaderElection.isEnabled, false);
  assert.deepEqual(config.log, { format: 'json', level: 'info' });
  assert.deepEqual(read('-log.level=warn').config.log, { format: 'logfmt', level: 'warn' });
  assert.deepEqual(read('--zap-log-level=error', '--zap-encoder=json').config.log, {
    format: 'json',
    level: 'error',
  });
});

test('readAllConfig() tells which flags have no effect', () => {
  const { front } = read('--enable-http2');
  assert.deepEqual(
    front.withoutEffect.map(({ flag }) => flag),
    ['--enable-http2'],
  );
});

for (const [what, args] of Object.entries({
  'two kubeconfigs': ['--kubeconfig=/here', '-kubernetes.config-file=/there'],
  'two answers to who leads': ['--leader-elect', '-leader-election.enabled=false'],
})) {
  test(`readAllConfig() refuses ${what}`, () => {
    const outcome = readAllConfig(['-kubernetes.namespace=demo', ...args]);
    assert.ok(outcome.kind === 'exit');
    assert.equal(outcome.code, 1);
    assert.match(outcome.stderr, /must agree: got/);
  });
}

test('readAllConfig() refuses what the rollout-operator does', () => {
  assert.deepEqual(readAllConfig([]), {
    kind: 'exit',
    code: 1,
    stderr: '-kubernetes.namespace must not be empty\n',
  });
});
