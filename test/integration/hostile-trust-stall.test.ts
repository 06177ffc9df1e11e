/** How long one input stops the only thread: at most 200 ms (median of three). */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseReview } from '#admission/parse-review.ts';
import { minutes } from '#base/units.ts';
import { issueSelfSigned } from '#certificate/issue.ts';
import { parseSecret } from '#certificate/parse-secret.ts';
import { pemOf } from '#certificate/pem.ts';
import { startHttpServer } from '#telemetry/http-server.ts';
import { createHttpServerMetrics } from '#telemetry/http-server-metrics.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { noClusterValidation } from '#testing/no-cluster-validation.ts';
import { silentLogger } from '#testing/silent-logger.ts';
import { clock } from './hostile-trust-stage.ts';

const MiB = 1_024 * 1_024;
const head = '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{';
const tail = '"uid":"x"}}';

/** A body of 8 MiB that repeats `part` between what makes it a review. */
function bodyOf(part: string, [before, behind]: readonly [string, string] = ['', '']): Buffer {
  const count = Math.floor((8 * MiB - 300) / Buffer.byteLength(part));
  return Buffer.from(`${head}${before}${part.repeat(count)}${behind}${tail}`);
}

function labels(name: (at: number) => string, value: string): string {
  const members = Array.from({ length: 6_000 }, (_, at) => `"${name(at)}":"${value}"`);
  return `"labels":{${members.join(',')}},`;
}

const inObject = ['"object":{"metadata":{', '"uid":"x"}},'] as const;
const bodies: Readonly<Record<string, Buffer>> = {
  'a text that is repeated 700,000 times, each with an escape': bodyOf('"uid":"\\n",'),
  'a text that is repeated 700,000 times, each beyond ASCII': bodyOf('"uid":"ā",'),
  'a map of labels that is repeated 130 times': bodyOf(
    labels((at) => at.toString(36), ''),
    inObject,
  ),
  'a map of labels that is repeated, with escapes': bodyOf(
    labels((at) => `\\n${at.toString(36)}`, 'ā'),
    inObject,
  ),
};

function median(of: () => void): number {
  const times = Array.from({ length: 3 }, () => {
    const begun = performance.now();
    of();
    return performance.now() - begun;
  });
  return times.toSorted((a, b) => a - b)[1] ?? 0;
}

describe('a review of 8 MiB is read within 200 ms', () => {
  for (const [name, body] of Object.entries(bodies)) {
    test(name, () => {
      assert.equal(parseReview(body).kind, 'review');
      const took = median(() => void parseReview(body));
      assert.ok(took < 200, `it took ${Math.round(took)} ms`);
    });
  }
});

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

test('64 KB of requests for /metrics on one connection neither stop the thread nor fill the memory', async () => {
  const registry = createMetricsRegistry();
  const server = await startHttpServer({
    clock,
    registry,
    logger: silentLogger,
    metrics: createHttpServerMetrics(registry),
    clusterValidation: noClusterValidation,
    isReady: () => true,
    host: '127.0.0.1',
    port: 0,
  });
  const before = process.memoryUsage.rss();
  let [peak, longest, last] = [0, 0, performance.now()];
  const look = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss() - before);
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 5);
  const socket = connect(server.port, '127.0.0.1');
  socket.on('error', () => undefined).pause();
  socket.write('GET /metrics HTTP/1.1\r\nHost:x\r\nAccept-Encoding:gzip\r\n\r\n'.repeat(1_150));
  await sleep(4_000);
  clearInterval(look);
  socket.destroy();
  await server.close();
  const found = `${Math.round(peak / MiB)} MiB more, and a stall of ${Math.round(longest)} ms`;
  assert.ok(peak < 64 * MiB && longest < 200, found);
});
