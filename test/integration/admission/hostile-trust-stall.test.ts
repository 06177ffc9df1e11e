/** What one input costs the only thread, counted. */
import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { minutes } from '#base/units.ts';
import { parseSecret } from '#certificate/self-signed/parse-secret.ts';
import { issueSelfSigned } from '#certificate/x509/issue.ts';
import { pemOf } from '#certificate/x509/pem.ts';
import { noClusterValidation } from '#support/admission/no-cluster-validation.ts';
import { silentLogger } from '#support/telemetry/silent-logger.ts';
import { startHttpServer } from '#telemetry/http/http-server.ts';
import { createHttpServerMetrics } from '#telemetry/http/http-server-metrics.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { clock } from './hostile-trust-stage.ts';

const MiB = 1_024 * 1_024;

test('a Secret of 226 KiB, a quarter of what may be stored, has no signature checked', async (t) => {
  const issuance = {
    now: clock.now(),
    expiration: minutes(60),
    organization: 'x',
    dnsNames: ['a'],
  };
  const [ours, other] = await Promise.all([issueSelfSigned(issuance), issueSelfSigned(issuance)]);
  const der = Buffer.from(new X509Certificate(other.ca).raw);
  const authorities = Array.from({ length: 200 }, (_, at) => {
    // Another signature makes another CA of the same key.
    der.writeUInt16BE(at, der.length - 2);
    return pemOf('CERTIFICATE', der.toString('base64'));
  });
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const data = {
    ca: base64(authorities.join('')),
    cert: base64(ours.cert.repeat(200)),
    key: base64(ours.key),
  };
  const { mock } = t.mock.method(X509Certificate.prototype, 'verify');
  const state = parseSecret('test/s', { type: 'Opaque', data });
  assert.equal(mock.callCount(), 0);
  assert.equal(state.kind, 'refused');
});

test('64 KB of requests for /metrics on one connection cost few expositions and no memory to speak of', async () => {
  const registry = createMetricsRegistry();
  let [expositions, compressions, peak] = [0, 0, 0];
  const counted = {
    contentType: registry.contentType,
    expose: () => {
      expositions += 1;
      return registry.expose();
    },
  };
  const hook = createHook({
    init: (_id, type) => {
      if (type === 'ZLIB') compressions += 1;
    },
  });
  const server = await startHttpServer({
    clock,
    registry: counted,
    logger: silentLogger,
    metrics: createHttpServerMetrics(registry),
    clusterValidation: noClusterValidation,
    isReady: () => true,
    host: '127.0.0.1',
    port: 0,
  });
  hook.enable();
  const before = process.memoryUsage.rss();
  const look = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss() - before);
  }, 5);
  const socket = connect(server.port, '127.0.0.1');
  socket.on('error', () => undefined).resume();
  const ended = once(socket, 'close');
  socket.write('GET /metrics HTTP/1.1\r\nHost:x\r\nAccept-Encoding:gzip\r\n\r\n'.repeat(1_150));
  // What is more than may be under way on a connection ends it.
  await ended;
  clearInterval(look);
  hook.disable();
  socket.destroy();
  await server.close();
  assert.ok(expositions >= 1 && expositions <= 8, `${expositions} expositions`);
  assert.ok(compressions >= 1 && compressions <= 8, `${compressions} compressions`);
  assert.ok(peak < 64 * MiB, `${Math.round(peak / MiB)} MiB more`);
});
