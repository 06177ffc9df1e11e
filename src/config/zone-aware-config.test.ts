import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  readZoneAwareConfig,
  sharedZoneAwareConfig,
  type ZoneAwareConfig,
} from './zone-aware-config.ts';

function configOf(
  args: readonly string[],
  env: Parameters<typeof readZoneAwareConfig>[1] = { CONTROLLERS: 'zau' },
): ZoneAwareConfig {
  const outcome = readZoneAwareConfig(args, env);
  assert.ok(outcome.kind === 'run', outcome.kind === 'exit' ? outcome.stderr : '');
  return outcome.config;
}

describe('readZoneAwareConfig()', () => {
  test('has the ports and the Lease of the zone-aware-controllers-for-k8s', () => {
    const config = configOf([]);
    assert.deepEqual(config.metrics, { host: undefined, port: 8_080, isSecure: false });
    assert.deepEqual(config.probes, { host: undefined, port: 8_081 });
    assert.equal(config.isElected, false);
    assert.equal(config.log.level, 'debug');
    const shared = sharedZoneAwareConfig(configOf(['--leader-elect']), 'system');
    assert.equal(shared.leaderElection.resourceName, 'cebbe7b1.amp.aws');
    assert.equal(shared.leaderElection.isEnabled, true);
    assert.equal(shared.kubernetes.namespace, 'system');
  });

  test('takes its flags', () => {
    const config = configOf([
      '--metrics-bind-address=127.0.0.1:9000',
      '--health-probe-bind-address=0',
      '--kubeconfig=/some/file',
      '--zap-devel=false',
    ]);
    assert.deepEqual(config.metrics, { host: '127.0.0.1', port: 9_000, isSecure: false });
    assert.equal(config.probes, undefined);
    assert.equal(config.kubeconfig, '/some/file');
    assert.deepEqual(config.log, { format: 'json', level: 'info' });
  });

  test('refuses a flag that neither knows', () => {
    const outcome = readZoneAwareConfig(['--nonsense'], { CONTROLLERS: 'zau' });
    assert.ok(outcome.kind === 'exit');
    assert.equal(outcome.code, 2);
    assert.match(outcome.stderr, /^flag provided but not defined: -nonsense\n/);
  });

  const refused: Readonly<Record<string, RegExp>> = {
    '': /must name zdb, zau or both/,
    bla: /must name zdb, zau or both/,
    ZAU: /must name zdb, zau or both/,
    zdb: /ZoneDisruptionBudgets are not built/,
    'zdb,zau': /ZoneDisruptionBudgets are not built/,
  };
  for (const [CONTROLLERS, why] of Object.entries(refused)) {
    test(`exits with 1 where CONTROLLERS is ${JSON.stringify(CONTROLLERS)}`, () => {
      const outcome = readZoneAwareConfig([], { CONTROLLERS });
      assert.ok(outcome.kind === 'exit');
      assert.equal(outcome.code, 1);
      assert.match(outcome.stderr, why);
    });
  }

  test('finds zau wherever it stands in CONTROLLERS', () => {
    assert.equal(readZoneAwareConfig([], { CONTROLLERS: 'x-zau-y' }).kind, 'run');
  });
});
