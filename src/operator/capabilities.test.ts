import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '#config/read-config.ts';
import { createOperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { showCapabilities } from './capabilities.ts';

/** What the gauge of capabilities shows with `flags`: `capability reason value`. */
async function shownWith(flags: readonly string[]): Promise<readonly string[]> {
  const outcome = readConfig(['-kubernetes.namespace=test', ...flags]);
  assert.ok(outcome.kind === 'run');
  const registry = createMetricsRegistry();
  showCapabilities({ config: outcome.config, metrics: createOperatorMetrics(registry) });
  const samples = (await registry.expose()).matchAll(
    /^rollout_operator_capability_enabled\{capability="(.*)",reason="(.*)"\} (\d)$/gm,
  );
  return [...samples].map(([, ...parts]) => parts.join(' '));
}

const groups = ['rollout-groups AlwaysOn 1', 'replica-coordination AlwaysOn 1'];
const budgets = ['zone-aware-pod-disruption-budgets AlwaysOn 1'];

const cases: Record<string, { flags: readonly string[]; shown: readonly string[] }> = {
  'no webhooks without TLS': {
    flags: [],
    shown: ['admission-webhooks TlsDisabled 0', 'certificates TlsDisabled 0'],
  },
  'webhooks and certificates with TLS': {
    flags: ['-server-tls.enabled'],
    shown: ['admission-webhooks TlsEnabled 1', 'certificates TlsEnabled 1'],
  },
  'no certificates of its own where files are given': {
    flags: [
      '-server-tls.enabled',
      '-server-tls.self-signed-cert.enabled=false',
      '-server-tls.cert-file=a',
      '-server-tls.key-file=b',
      '-webhooks.update-ca-bundle=false',
    ],
    shown: ['admission-webhooks TlsEnabled 1', 'certificates FromFiles 0'],
  },
};

for (const [what, { flags, shown }] of Object.entries(cases)) {
  test(`showCapabilities() shows ${what}`, async () => {
    assert.deepEqual(await shownWith(flags), [...groups, ...shown, ...budgets]);
  });
}
