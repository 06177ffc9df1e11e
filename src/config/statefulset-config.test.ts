import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  readStatefulsetRolloutConfig,
  type StatefulsetRolloutConfig,
  sharedStatefulsetConfig,
} from './statefulset-config.ts';

function configOf(
  args: readonly string[],
  env: Parameters<typeof readStatefulsetRolloutConfig>[1] = {},
): StatefulsetRolloutConfig {
  const outcome = readStatefulsetRolloutConfig(args, env);
  assert.ok(outcome.kind === 'run', outcome.kind === 'exit' ? outcome.stderr : '');
  return outcome.config;
}

describe('readStatefulsetRolloutConfig()', () => {
  test('serves figures and probes, takes part in leader election, and logs JSON', () => {
    const config = configOf([]);
    assert.deepEqual(config.metrics, { host: undefined, port: 8_080, isSecure: false });
    assert.deepEqual(config.probes, { host: undefined, port: 8_081 });
    assert.equal(config.isElected, true);
    assert.equal(config.watchedNamespace, '');
    assert.equal(config.isPinAssumed, false);
    assert.deepEqual(config.log, { format: 'json', level: 'info' });
  });

  test('takes its flags', () => {
    const config = configOf(
      [
        '--metrics-bind-address=0',
        '--health-probe-bind-address=127.0.0.1:9000',
        '--watch-namespace=storage',
        '--pin-assume-patched',
        '--partial-rollout-aging=36h',
        '--leader-elect=false',
        '--rollout.predecessor-horizon=30s',
        '--zap-encoder=console',
      ],
      { KUBECONFIG: '/some/file' },
    );
    assert.equal(config.metrics, undefined);
    assert.deepEqual(config.probes, { host: '127.0.0.1', port: 9_000 });
    assert.equal(config.watchedNamespace, 'storage');
    assert.equal(config.isPinAssumed, true);
    assert.equal(config.partialAging, 129_600_000);
    assert.equal(config.isElected, false);
    assert.equal(config.predecessorHorizon, 30_000);
    assert.equal(config.kubeconfig, '/some/file');
    assert.deepEqual(config.log, { format: 'logfmt', level: 'info' });
  });

  test('prefers the kubeconfig that is named to the one of the environment', () => {
    const config = configOf(['--kubeconfig=/named'], { KUBECONFIG: '/some/file' });
    assert.equal(config.kubeconfig, '/named');
  });

  test('calls no receiver, and sends Slack nothing, unless flags say where and with which token', () => {
    assert.deepEqual(configOf([]).outside, {
      clusterName: '',
      callback: {
        allowedHosts: [],
        attempts: 10,
        signingKeyFile: undefined,
        permitsLoopback: false,
      },
      slack: { tokenFile: undefined, url: undefined },
    });
    const { outside } = configOf([
      '--cluster-name=prod-1',
      '--callback-allowed-hosts=deploys.example.internal, *.ci.example ,',
      '--callback-attempts=3',
      '--callback-signing-key-file=/keys/callback',
      '--slack-token-file=/keys/slack',
      '--slack-api-url=http://127.0.0.1:1/api/',
    ]);
    assert.deepEqual(outside.callback.allowedHosts, ['deploys.example.internal', ' *.ci.example ']);
    assert.equal(outside.callback.attempts, 3);
    assert.equal(outside.callback.signingKeyFile, '/keys/callback');
    assert.deepEqual(outside.slack, { tokenFile: '/keys/slack', url: 'http://127.0.0.1:1/api/' });
    assert.equal(outside.clusterName, 'prod-1');
  });

  for (const [flag, why] of [
    ['--callback-attempts=0', '--callback-attempts must be at least 1: got 0'],
    ['--slack-api-url=ftp://x/', '--slack-api-url must be a URL of http or https: got "ftp://x/"'],
    ['--slack-api-url=slack', '--slack-api-url must be a URL of http or https: got "slack"'],
  ] as const) {
    test(`refuses ${flag}`, () => {
      const outcome = readStatefulsetRolloutConfig([flag], {});
      assert.deepEqual(outcome, { kind: 'exit', code: 2, stderr: `${why}\n` });
    });
  }

  test('refuses a flag that it does not know', () => {
    const outcome = readStatefulsetRolloutConfig(['--nonsense'], {});
    assert.ok(outcome.kind === 'exit');
    assert.equal(outcome.code, 2);
    assert.match(outcome.stderr, /^flag provided but not defined: -nonsense\n/);
  });

  test('explains all of its flags', () => {
    const outcome = readStatefulsetRolloutConfig(['--help'], {});
    assert.ok(outcome.kind === 'exit');
    assert.equal(outcome.code, 0);
    assert.match(outcome.stderr, /-watch-namespace/);
  });
});

describe('sharedStatefulsetConfig()', () => {
  test('has the Lease statefulset-rollout in the namespace of the operator', () => {
    const shared = sharedStatefulsetConfig(configOf(['--watch-namespace=storage']), 'system');
    assert.equal(shared.leaderElection.resourceName, 'statefulset-rollout');
    assert.equal(shared.leaderElection.isEnabled, true);
    assert.equal(shared.kubernetes.namespace, 'system');
  });
});
