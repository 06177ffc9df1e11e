import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { millis, minutes } from '#base/units.ts';
import { selfSigned } from '#cluster/transport/self-signed.ts';
import { noClusterValidation } from '#support/admission/no-cluster-validation.ts';
import { WebhookClient } from '#support/admission/webhook-client.ts';
import { RecordingLogger } from '#support/telemetry/recording.ts';
import { createHttpServerMetrics } from '#telemetry/http/http-server-metrics.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { startAdmissionServer } from './admission-server.ts';

test('AdmissionServer.close() waits for no connection that never began to agree on TLS', async (context) => {
  const clock = systemClock();
  const log = new RecordingLogger();
  const certificate = await selfSigned(clock.now());
  const server = await startAdmissionServer({
    port: 0,
    host: '127.0.0.1',
    certificate,
    clock,
    log,
    metrics: createHttpServerMetrics(createMetricsRegistry()),
    clusterValidation: noClusterValidation,
    handlers: new Map(),
    requestTimeout: minutes(1),
    drain: millis(0),
  });
  const silent = connect(server.port, '127.0.0.1').resume();
  const client = new WebhookClient(server.port, certificate.cert);
  context.after(async () => {
    silent.destroy();
    await client.close();
  });
  const ended = once(silent, 'close');
  await once(silent, 'connect');
  await client.post('/', ''); // by now the server has accepted the first connection, too
  await server.close();
  await ended;
  const ends = log.lines.map(({ fields }) => String(fields['err']));
  assert.ok(!ends.includes('TLS handshake timeout'), 'it was waited for');
});
