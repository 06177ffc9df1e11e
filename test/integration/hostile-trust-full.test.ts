/** What one client can take away from the others. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { ConcurrencyLimit } from '#admission/concurrency-limit.ts';
import { noDownscale } from '#admission/no-downscale.ts';
import { podEvictionWithoutBudgets } from '#admission/not-built.ts';
import { reviewDocument } from '#testing/admission-requests.ts';
import { silentLogger } from '#testing/silent-logger.ts';
import { WebhookClient } from '#testing/webhook-client.ts';
import {
  ca,
  clock,
  connection,
  posting,
  SlowServer,
  serveWebhooks,
} from './hostile-trust-stage.ts';

const path = '/admission/no-downscale';
const honest = JSON.stringify(reviewDocument());
const webhook = noDownscale({
  client: new Proxy({}, {}) as never,
  clock,
  log: silentLogger,
  limit: new ConcurrencyLimit(1),
});

test('two clients that send 8 MiB but for the last byte, and then wait, do not keep an honest review out', async () => {
  const server = await serveWebhooks([webhook]);
  const length = 8 * 1_024 * 1_024;
  const idle: TLSSocket[] = [];
  for (let at = 0; at < 2; at += 1) {
    const socket = await connection(server.port);
    idle.push(socket);
    const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
    socket.write(`${head}Content-Length: ${length}\r\n\r\n`);
    await new Promise<void>((resolve) => {
      socket.write(Buffer.alloc(length - 1, 0x20), () => resolve());
    });
  }
  await sleep(500);
  const client = new WebhookClient(server.port, ca);
  const statuses: number[] = [];
  for (let second = 0; second < 4; second += 1) {
    statuses.push((await client.post(path, honest)).status);
    await sleep(1_000);
  }
  for (const socket of idle) socket.destroy();
  await client.close();
  await server.close();
  assert.deepEqual(statuses, [200, 200, 200, 200]);
});

test('256 connections on which nothing is asked do not keep an honest review out', async () => {
  const server = await serveWebhooks([webhook]);
  const idle: TLSSocket[] = [];
  for (let at = 0; at < 256; at += 1) {
    const socket = await connection(server.port);
    socket.resume();
    socket.write(posting(path, honest));
    idle.push(socket);
  }
  // Beyond all timeouts of a request: that of idle connections is 3 minutes.
  await sleep(12_000);
  const client = new WebhookClient(server.port, ca);
  const status = await client.post(path, honest).then(
    (answer) => answer.status,
    (error: unknown) => String(error),
  );
  const open = idle.filter((socket) => !socket.destroyed).length;
  for (const socket of idle) socket.destroy();
  await client.close();
  await server.close();
  assert.equal(status, 200, `${String(status)}, while ${open} idle connections are kept`);
});

test('256 connections that never begin to agree on TLS do not keep an honest review out', async () => {
  const server = await serveWebhooks([webhook]);
  const idle = Array.from({ length: 256 }, () => {
    const socket = connect(server.port, '127.0.0.1');
    socket.on('error', () => undefined);
    return socket;
  });
  await sleep(1_000);
  const client = new WebhookClient(server.port, ca);
  const status = await client.post(path, honest).then(
    (answer) => answer.status,
    (error: unknown) => String(error),
  );
  for (const socket of idle) socket.destroy();
  await client.close();
  await server.close();
  assert.equal(status, 200);
});

test('of 400 evictions at once some are answered 429, and not all are asked about [D-30]', async () => {
  const api = new SlowServer();
  const server = await serveWebhooks([podEvictionWithoutBudgets(api.client)]);
  const eviction = JSON.stringify(
    reviewDocument({
      name: 'a-0',
      kind: { group: 'policy', version: 'v1', kind: 'Eviction' },
      resource: { group: '', version: 'v1', resource: 'pods' },
      subResource: 'eviction',
      operation: 'CREATE',
      object: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'a-0' } },
      oldObject: null,
    }),
  );
  const sockets: TLSSocket[] = [];
  for (let at = 0; at < 50; at += 1) {
    const socket = await connection(server.port);
    socket.resume();
    sockets.push(socket);
    socket.write(posting('/admission/pod-eviction', eviction).repeat(8));
  }
  await sleep(500);
  const asked = api.waiting.length;
  for (const socket of sockets) socket.destroy();
  api.end();
  await server.close();
  assert.ok(asked <= 200, `${asked} equal lists are under way at the API server`);
});
