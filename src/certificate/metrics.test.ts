import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instant } from '#base/units.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { createCertificateMetrics } from './metrics.ts';

test('createCertificateMetrics() shows expiry, what waits and configurations without our CA', async () => {
  const registry = createMetricsRegistry();
  const metrics = createCertificateMetrics(registry);
  metrics.setExpiry(instant(1_767_225_600_000));
  metrics.setConfigurationsWithoutCa(2);
  metrics.setWaiting('SecretRefused');
  metrics.setWaiting('CaNotPublished');
  const lines = (await registry.expose()).split('\n').filter((line) => !line.startsWith('#'));
  assert.deepEqual(lines, [
    'rollout_operator_certificate_expiry_timestamp_seconds 1767225600',
    'rollout_operator_certificate_rotation_waiting{reason="CaNotPublished"} 1',
    'rollout_operator_webhook_configurations_without_ca 2',
    '',
  ]);
});

test('createCertificateMetrics() has no series of waiting when nothing waits', async () => {
  const registry = createMetricsRegistry();
  const metrics = createCertificateMetrics(registry);
  metrics.setWaiting('CaNotPublished');
  metrics.setWaiting(undefined);
  assert.doesNotMatch(await registry.expose(), /rotation_waiting\{/);
});
