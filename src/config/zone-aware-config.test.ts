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
  };
  for (const [CONTROLLERS, why] of Object.entries(refused)) {
    test(`[zau 93] exits with 1 where CONTROLLERS is ${JSON.stringify(CONTROLLERS)}`, () => {
      const outcome = readZoneAwareConfig([], { CONTROLLERS });
      assert.ok(outcome.kind === 'exit');
      assert.equal(outcome.code, 1);
      assert.match(outcome.stderr, why);
    });
  }

  const found: Readonly<Record<string, readonly [hasBudgets: boolean, hasUpdates: boolean]>> = {
    'zdb,zau': [true, true],
    zauzdb: [true, true],
    'xzdb-zau': [true, true],
    zau: [false, true],
    zdb: [true, false],
  };
  for (const [CONTROLLERS, [hasBudgets, hasUpdates]] of Object.entries(found)) {
    test(`[zau 93] finds what is in CONTROLLERS=${CONTROLLERS}`, () => {
      const config = configOf([], { CONTROLLERS });
      assert.equal(config.webhooks !== undefined, hasBudgets);
      assert.equal(config.hasUpdates, hasUpdates);
    });
  }

  test('[zau 93] runs both where CONTROLLERS is not set, with the files and the port of the peer', () => {
    const config = configOf([], {});
    assert.equal(config.hasUpdates, true);
    const folder = '/tmp/k8s-webhook-server/serving-certs';
    assert.deepEqual(config.webhooks, {
      port: 9_443,
      certFile: `${folder}/tls.crt`,
      keyFile: `${folder}/tls.key`,
      clientCa: '',
      selfSigned: undefined,
    });
    const { tls } = sharedZoneAwareConfig(config, 'system');
    assert.equal(tls.port, 9_443);
  });

  test('[found X-1] answers only clients with a certificate of the CAs that a flag names', () => {
    const config = configOf(['--server-tls.client-ca=/ca/ca.crt'], {});
    assert.equal(sharedZoneAwareConfig(config, 'system').tls.clientCa, '/ca/ca.crt');
  });

  test('serves a certificate of its own where a flag says so, for the Service of the peer', () => {
    const config = configOf(['--server-tls.self-signed-cert.enabled'], {});
    assert.deepEqual(config.webhooks?.selfSigned, { dnsName: '' });
    const { tls } = sharedZoneAwareConfig(config, 'system');
    assert.equal(tls.selfSigned.isEnabled, true);
    assert.equal(tls.selfSigned.secretName, 'zone-aware-controllers-self-signed-certificate');
    assert.equal(tls.selfSigned.dnsName, 'zone-aware-controllers-webhook-service.system.svc');
    assert.equal(tls.updatesCaBundle, true);
  });
});
