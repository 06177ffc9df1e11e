/** What one client can take away from the others. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { noDownscale } from '#admission/downscale/no-downscale.ts';
import { ConcurrencyLimit } from '#admission/review/concurrency-limit.ts';
import { reviewDocument } from '#support/admission/admission-requests.ts';
import { WebhookClient } from '#support/admission/webhook-client.ts';
import { silentLogger } from '#support/telemetry/silent-logger.ts';
import { ca, clock, connection, posting, serveWebhooks } from './hostile-trust-stage.ts';

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
  const client = new WebhookClient(server.port, ca);
  const statuses: number[] = [];
  while (statuses.length < 4) statuses.push((await client.post(path, honest)).status);
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
    await once(socket, 'data');
    idle.push(socket);
  }
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
  await Promise.all(idle.map((socket) => once(socket, 'connect')));
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

test('1,000 connections that ask at once are all answered, none of them cut', async () => {
  const server = await serveWebhooks([webhook]);
  const answers = await Promise.all(
    Array.from({ length: 1_000 }, async () => {
      const socket = await connection(server.port);
      socket.write(posting(path, honest));
      const [answer] = (await once(socket, 'data')) as [Buffer];
      // An API server keeps 25 of them, and ends the others.
      socket.destroy();
      return answer.toString().slice(0, 12);
    }),
  );
  await server.close();
  assert.deepEqual([...new Set(answers)], ['HTTP/1.1 200']);
});
