import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { instant, minutes, seconds } from '#base/units.ts';
import type { KeyPair } from '#certificate/x509/certificate-source.ts';
import { type IssuedPair, issueSelfSigned } from '#certificate/x509/issue.ts';
import { noClusterValidation } from '#support/admission/no-cluster-validation.ts';
import { WebhookClient } from '#support/admission/webhook-client.ts';
import { silentLogger } from '#support/telemetry/silent-logger.ts';
import { createHttpServerMetrics } from '#telemetry/http/http-server-metrics.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { type AdmissionServer, startAdmissionServer } from './admission-server.ts';

const clock = systemClock();
const [own, first, second] = await Promise.all([issued(), issued(), issued()]);

function issued(): Promise<IssuedPair> {
  return issueSelfSigned({
    now: instant(clock.now()),
    expiration: minutes(60),
    organization: 'o',
    dnsNames: ['localhost'],
  });
}

/** Posts to `server` with a connection of its own. @returns the status; `none`: there was no answer */
async function status(server: AdmissionServer, certificate?: KeyPair): Promise<number | 'none'> {
  const client = new WebhookClient(server.port, own.ca, certificate && { certificate });
  try {
    return (await client.post('/nowhere', '{}')).status;
  } catch {
    return 'none';
  } finally {
    await client.close();
  }
}

describe('[found X-1] a webhook server with the CAs of its clients', () => {
  let server: AdmissionServer;

  before(async () => {
    server = await startAdmissionServer({
      port: 0,
      host: '127.0.0.1',
      certificate: { ...own, clientCa: first.ca },
      clock,
      log: silentLogger,
      metrics: createHttpServerMetrics(createMetricsRegistry()),
      clusterValidation: noClusterValidation,
      handlers: new Map(),
      requestTimeout: seconds(2),
      drain: seconds(0),
    });
  });

  after(() => server.close());

  test('answers a client that presents a certificate of one of them', async () => {
    assert.equal(await status(server, first), 404);
  });

  test('answers no client without a certificate, or with one of another CA', async () => {
    assert.equal(await status(server), 'none');
    assert.equal(await status(server, second), 'none');
  });

  test('goes by other CAs once they are set, with the next connection', async () => {
    await server.setCertificate({ ...own, clientCa: second.ca });
    assert.equal(await status(server, first), 'none');
    assert.equal(await status(server, second), 404);
    assert.equal(await status(server), 'none');
  });
});
