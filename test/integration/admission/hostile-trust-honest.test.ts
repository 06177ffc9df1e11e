/** What the API server may send, and how many the plain port takes. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { parseReview } from '#admission/review/parse-review.ts';
import { reviewDocument, setObject } from '#support/admission/admission-requests.ts';
import { noClusterValidation } from '#support/admission/no-cluster-validation.ts';
import { silentLogger } from '#support/telemetry/silent-logger.ts';
import { startHttpServer } from '#telemetry/http/http-server.ts';
import { createHttpServerMetrics } from '#telemetry/http/http-server-metrics.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { clock } from './hostile-trust-stage.ts';

test('labels of 75 KB, which the API server takes, are not refused as more than 262,144 bytes', () => {
  const names = Array.from({ length: 7_500 }, (_, at) => `l${at.toString(36)}`);
  const labels = Object.fromEntries(names.map((name) => [name, '']));
  const set = setObject({ labels });
  const read = parseReview(
    Buffer.from(JSON.stringify(reviewDocument({ object: set, oldObject: set }))),
  );
  assert.equal(read.kind, 'review', read.kind === 'unreadable' ? read.text : '');
});

test('the plain port keeps at most 500 connections', async () => {
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
  const sockets: Socket[] = Array.from({ length: 700 }, () => {
    const socket = connect(server.port, '127.0.0.1');
    socket.on('error', () => undefined).resume();
    socket.write('GET /live HTTP/1.1\r\nHost:x\r\n\r\n');
    return socket;
  });
  const served = (socket: Socket): Promise<unknown> =>
    Promise.race([once(socket, 'data'), once(socket, 'close')]).catch(() => undefined);
  await Promise.all(sockets.map(served));
  const open = sockets.filter((socket) => !socket.destroyed && socket.bytesRead > 0).length;
  for (const socket of sockets) socket.destroy();
  await server.close();
  assert.ok(open <= 500, `${open} are served, and kept for 3 minutes`);
});
