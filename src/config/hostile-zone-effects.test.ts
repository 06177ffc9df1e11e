/** Hostile: flags that are taken, change nothing, and are not told as such. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAllConfig } from './all-config.ts';
import { readZoneAwareConfig } from './zone-aware-config.ts';

const silent: Readonly<
  Record<string, { readonly args: readonly string[]; readonly CONTROLLERS?: string }>
> = {
  'the name of a certificate that is not made': {
    args: ['--server-tls.self-signed-cert.dns-name=hook.example.com'],
  },
  'a certificate for webhooks that are not served': {
    args: ['--server-tls.self-signed-cert.enabled', '--server-tls.port=8443'],
    CONTROLLERS: 'zau',
  },
  'secure metrics that are not served': { args: ['--metrics-secure', '--metrics-bind-address=0'] },
};

for (const [what, { args, ...env }] of Object.entries(silent)) {
  test(`${what} is told to have no effect`, () => {
    const outcome = readZoneAwareConfig(args, env);
    assert.ok(outcome.kind === 'run');
    assert.notDeepEqual(outcome.config.withoutEffect, [], args.join(' '));
  });
}

test('secure metrics that nothing serves are told to have no effect by the program that runs everything', () => {
  const outcome = readAllConfig(['-kubernetes.namespace=demo', '--metrics-secure=false']);
  assert.ok(outcome.kind === 'run');
  assert.notDeepEqual(outcome.front.withoutEffect, []);
});
