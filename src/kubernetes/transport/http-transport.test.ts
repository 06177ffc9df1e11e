import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer, Socket } from 'node:net';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import { listeningUrl } from '#support/contracts/listening-url.ts';
import { ScriptedHttpServer } from '#support/contracts/scripted-http-server.ts';
import { failure, transportContract } from '#support/contracts/transport-contract.ts';
import type { Script, TransportUnderTest } from '#support/contracts/transport-under-test.ts';
import { createHttpTransport } from './http-transport.ts';

async function overHttp(script: Script): Promise<TransportUnderTest> {
  const server = new ScriptedHttpServer(script);
  const clock = new ManualClock();
  const transport = createHttpTransport({ server: await server.listen(), clock });
  return {
    transport,
    received: server.received,
    arrived: (path) => server.arrived(path),
    left: (path) => server.left(path),
    written: (path) => server.written(path),
    connections: () => server.connections,
    advance: (span) => clock.advance(span),
    close: async () => {
      await transport.close();
      await server.close();
    },
  };
}

transportContract('HTTP', overHttp);

/** A port on which nothing listens. */
async function deadPort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  server.close();
  await once(server, 'close');
  return address.port;
}

test('createHttpTransport() fails with "not-sent" when the connection is refused', async () => {
  const server = new URL(`http://127.0.0.1:${await deadPort()}`);
  const transport = createHttpTransport({ server, clock: new ManualClock() });
  const call = transport.request({ method: 'GET', path: '/x' });
  await assert.rejects(call, failure('not-sent'));
  await assert.rejects(transport.request({ method: 'GET', path: '/x' }), /ECONNREFUSED/);
  await transport.close();
});

test('createHttpTransport() lets go of its streams when connections are refused, so that a server may shut down', async () => {
  const server = createHttpServer((_, response) => response.write('{}\n'));
  const url = await listeningUrl(server);
  const transport = createHttpTransport({ server: url, clock: new ManualClock() });
  const { chunks } = await transport.stream({ method: 'GET', path: '/watch' });
  const gone = once(server, 'close');
  server.close();
  await assert.rejects(transport.request({ method: 'GET', path: '/x' }), failure('not-sent'));
  await assert.rejects(Array.fromAsync(chunks), failure('connection'));
  await gone;
  await transport.close();
});

test('createHttpTransport() fails with "not-sent" when TLS cannot be agreed, and reads the certificates anew', async () => {
  const plain = new ScriptedHttpServer({});
  let readings = 0;
  const url = await plain.listen();
  url.protocol = 'https:';
  const transport = createHttpTransport({
    server: new URL(`https://127.0.0.1:${url.port}`),
    clock: new ManualClock(),
    tls: () => {
      readings += 1;
      return {};
    },
  });
  await assert.rejects(transport.request({ method: 'GET', path: '/x' }), failure('not-sent'));
  await assert.rejects(transport.request({ method: 'GET', path: '/x' }), failure('not-sent'));
  assert.equal(readings, 2);
  await transport.close();
  await plain.close();
});

test('createHttpTransport() keeps no answer that is longer than the request allows', async () => {
  const server = createHttpServer((incoming, response) => {
    response.end('x'.repeat(incoming.url === '/fits' ? 1_000 : 1_001));
  });
  const url = await listeningUrl(server);
  const transport = createHttpTransport({ server: url, clock: new ManualClock() });
  const get = { method: 'GET', longestAnswer: 1_000 } as const;
  assert.equal((await transport.request({ ...get, path: '/fits' })).body.length, 1_000);
  await assert.rejects(
    transport.request({ ...get, path: '/long' }),
    /the answer is longer than 1000 bytes$/,
  );
  await transport.close();
  server.close();
});

test('createHttpTransport() gives up before sending when the deadline passes in the queue', async () => {
  const server = new ScriptedHttpServer({ '/hang': { kind: 'hang' } });
  const clock = new ManualClock();
  const url = await server.listen();
  const transport = createHttpTransport({ server: url, clock, connections: 1 });
  const here = server.arrived('/hang');
  const first = assert
    .rejects(transport.request({ method: 'GET', path: '/hang' }), failure('connection'))
    .catch(() => undefined);
  await here;
  const second = assert.rejects(
    transport.request({ method: 'DELETE', path: '/late', timeout: seconds(1) }),
    failure('not-sent'),
  );
  clock.advance(seconds(1));
  await second;
  await transport.close();
  await first;
  assert.deepEqual(
    server.received.map((each) => each.path),
    ['/hang'],
  );
  await server.close();
});

test('createHttpTransport() puts the path of the server URL before every path', async () => {
  const server = new ScriptedHttpServer({ '/k8s/api': { kind: 'answer', status: 200, body: '' } });
  const url = await server.listen();
  const transport = createHttpTransport({
    server: new URL('/k8s/', url),
    clock: new ManualClock(),
  });
  const answer = await transport.request({ method: 'GET', path: '/api' });
  assert.equal(answer.status, 200);
  await transport.close();
  await server.close();
});

test('createHttpTransport() deletes with preconditions over connections that it has, not over one each', async (t) => {
  const server = new ScriptedHttpServer({ '/a': { kind: 'answer', status: 200, body: '{}' } });
  const transport = createHttpTransport({
    server: await server.listen(),
    clock: new ManualClock(),
  });
  t.after(async () => {
    await transport.close();
    await server.close();
  });
  const body = '{"preconditions":{"uid":"u"}}';
  for (let sent = 0; sent < 10; sent += 1) {
    await transport.request({ method: 'DELETE', path: '/a', body });
  }
  // One that is asked for in the very moment of an answer may find its connection not free yet.
  assert.ok(server.connections <= 2, `${server.connections} connections for 10 deletions`);
});

test('createHttpTransport() leaves no timer behind after an answer', async () => {
  const server = new ScriptedHttpServer({ '/a': { kind: 'answer', status: 200, body: '' } });
  const clock = new ManualClock();
  const transport = createHttpTransport({ server: await server.listen(), clock });
  await transport.request({ method: 'GET', path: '/a', timeout: seconds(5) });
  assert.equal(clock.pendingTimers, 0);
  await transport.close();
  await server.close();
});

test('createHttpTransport() goes through the proxy that it is given', async () => {
  const proxy = new ScriptedHttpServer({});
  const url = await proxy.listen();
  const transport = createHttpTransport({
    server: new URL('http://api.invalid:8080'),
    clock: new ManualClock(),
    proxy: url.href,
  });
  const answer = await transport.request({ method: 'GET', path: '/version' });
  assert.equal(answer.status, 404);
  assert.equal(proxy.received[0]?.path, 'http://api.invalid:8080/version');
  await transport.close();
  await proxy.close();
});

test('createHttpTransport() keeps an idle connection over the restart of a pod, and closes it before load balancers do', async (context) => {
  // As an API server, it does not say for how long it keeps a connection.
  const server = createHttpServer({ keepAliveTimeout: 0 }, (_, response) => response.end());
  const url = await listeningUrl(server);
  const sockets: Socket[] = [];
  const noteSocket = (message: unknown): void => {
    const socket =
      typeof message === 'object' && message !== null && 'socket' in message
        ? message.socket
        : undefined;
    if (socket instanceof Socket) sockets.push(socket);
  };
  subscribe('net.client.socket', noteSocket);
  const transport = createHttpTransport({ server: url, clock: new ManualClock() });
  context.after(async () => {
    unsubscribe('net.client.socket', noteSocket);
    await transport.close();
    server.close();
  });
  await transport.request({ method: 'GET', path: '/a' });
  await transport.request({ method: 'GET', path: '/a' });
  const spans = sockets
    .filter((each) => each.remotePort === Number(url.port))
    .map((each) => each.timeout);
  assert.ok(spans.length > 0);
  // A pod of the benchmarks is back after 2.2 s, and load balancers close what is idle after 60 s at the earliest.
  for (const span of spans)
    assert.ok(span !== undefined && span > seconds(3) && span < seconds(60), `${span} ms`);
});

test('createHttpTransport() streams the answer itself where an interim one comes before it', async (context) => {
  const server = createHttpServer((_, response) => {
    response.writeEarlyHints({ link: '</x>; rel=preload' }, () => response.writeHead(200).end('a'));
  });
  const url = await listeningUrl(server);
  const transport = createHttpTransport({ server: url, clock: new ManualClock() });
  context.after(async () => {
    await transport.close();
    server.close();
  });
  const { status, chunks } = await transport.stream({ method: 'GET', path: '/' });
  assert.equal(status, 200);
  assert.equal(Buffer.concat(await Array.fromAsync(chunks)).toString(), 'a');
});
