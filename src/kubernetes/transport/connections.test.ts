import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { suite, type TestContext, test } from 'node:test';
import { instant, seconds } from '#base/units.ts';
import { selfSigned } from '#cluster/transport/self-signed.ts';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import { failure } from '#support/contracts/transport-contract.ts';
import { createHttpTransport, type HttpTransportOptions } from './http-transport.ts';
import type { Transport } from './transport.ts';

const name = 'api.test';
const identity = await selfSigned(instant(Date.now()), [name]);
const stranger = await selfSigned(instant(Date.now()), [name]);
const trusted = { ca: identity.cert };

/** Listens on a port of this host until the end of the test. @returns the port */
async function listening(context: TestContext, server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

/** Serves over TLS what it is asked for. */
function apiServer(context: TestContext): Promise<number> {
  const server = createHttpsServer(identity, ({ url }, response) => response.end(url));
  server.on('tlsClientError', () => undefined);
  return listening(context, server);
}

function transportTo(
  context: TestContext,
  server: string,
  options: Omit<HttpTransportOptions, 'server' | 'clock'>,
): Transport {
  const clock = new ManualClock();
  const transport = createHttpTransport({ server: new URL(server), clock, ...options });
  context.after(() => transport.close());
  return transport;
}

async function textOf(transport: Transport, path: string): Promise<string> {
  const { status, body } = await transport.request({ method: 'GET', path });
  return `${status} ${Buffer.from(body).toString()}`;
}

/** What is found for any name. */
const onThisHost: HttpTransportOptions['lookup'] = (_name, { all }, done) => {
  if (all === true) done(null, [{ address: '127.0.0.1', family: 4 }]);
  else done(null, '127.0.0.1', 4);
};

suite('Connections over TLS', () => {
  test('lead to a server whose certificate an authority of the settings vouches for', async (context) => {
    const port = await apiServer(context);
    const tls = () => trusted;
    const transport = transportTo(context, `https://${name}:${port}`, { tls, lookup: onThisHost });
    assert.equal(await textOf(transport, '/a'), '200 /a');
  });
  test('send nothing to a server whose certificate nobody vouches for', async (context) => {
    const port = await apiServer(context);
    const tls = () => ({ ca: stranger.cert });
    const transport = transportTo(context, `https://${name}:${port}`, { tls, lookup: onThisHost });
    await assert.rejects(textOf(transport, '/a'), failure('not-sent'));
  });
  test('send nothing to a server of another name', async (context) => {
    const port = await apiServer(context);
    const tls = () => trusted;
    const transport = transportTo(context, `https://other.test:${port}`, {
      tls,
      lookup: onThisHost,
    });
    await assert.rejects(textOf(transport, '/a'), failure('not-sent'));
  });
  test('verify the name without the dot at its end', async (context) => {
    const port = await apiServer(context);
    const tls = () => trusted;
    const transport = transportTo(context, `https://${name}.:${port}`, { tls, lookup: onThisHost });
    assert.equal(await textOf(transport, '/a'), '200 /a');
  });
  test('verify the name of the settings where the URL has another', async (context) => {
    const port = await apiServer(context);
    const tls = () => ({ ...trusted, serverName: name });
    const transport = transportTo(context, `https://127.0.0.1:${port}`, { tls });
    assert.equal(await textOf(transport, '/a'), '200 /a');
  });
  test('do not rely on what a connection before them was told: a server is verified each time', async (context) => {
    const server = createHttpsServer(identity, (_, response) =>
      response.writeHead(200, { connection: 'close' }).end(),
    );
    server.on('tlsClientError', () => undefined);
    const port = await listening(context, server);
    let authority = identity.cert;
    const tls = () => ({ ca: authority });
    const transport = transportTo(context, `https://${name}:${port}`, { tls, lookup: onThisHost });
    assert.equal(await textOf(transport, '/a'), '200 ');
    authority = stranger.cert;
    await assert.rejects(textOf(transport, '/b'), failure('not-sent'));
  });
});

suite('Connections through a proxy of HTTP', () => {
  /** A proxy that builds tunnels to `port`, wherever they are to lead. */
  async function tunnels(context: TestContext, port: number, seen: string[]): Promise<number> {
    const proxy = createHttpServer();
    proxy.on('connect', ({ url, headers }, socket: Socket) => {
      seen.push(`${url} ${headers['proxy-authorization'] ?? 'no credentials'}`);
      const upstream = connect(port, '127.0.0.1');
      for (const each of [socket, upstream]) each.on('error', () => undefined);
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(upstream).pipe(socket);
    });
    return listening(context, proxy);
  }

  test('are tunnels where the server speaks TLS, and verify the server', async (context) => {
    const seen: string[] = [];
    const port = await tunnels(context, await apiServer(context), seen);
    const proxy = `http://ann:s%40cret@127.0.0.1:${port}`;
    const transport = transportTo(context, `https://${name}`, { tls: () => trusted, proxy });
    assert.equal(await textOf(transport, '/a'), '200 /a');
    assert.equal(await textOf(transport, '/b'), '200 /b');
    const credentials = Buffer.from('ann:s@cret').toString('base64');
    assert.deepEqual(seen, [`${name}:443 Basic ${credentials}`]);
    const wary = transportTo(context, `https://${name}`, {
      tls: () => ({ ca: stranger.cert }),
      proxy,
    });
    await assert.rejects(textOf(wary, '/a'), failure('not-sent'));
  });
  test('say what the proxy answered where it builds no tunnel', async (context) => {
    const proxy = createHttpServer();
    proxy.on('connect', (_request, socket) =>
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'),
    );
    const port = await listening(context, proxy);
    const through = `http://ann:secret@127.0.0.1:${port}`;
    const transport = transportTo(context, `https://${name}`, { proxy: through });
    const call = textOf(transport, '/a');
    await assert.rejects(call, failure('not-sent'));
    await assert.rejects(
      call,
      ({ message }: Error) => /407/.test(message) && !/secret/.test(message),
    );
  });
  // Node gives a tunnel up by itself after 30 s.
  test('end with the transport, also where the proxy never answers', {
    timeout: 10_000,
  }, async (context) => {
    const held = Promise.withResolvers<Socket>();
    const proxy = createServer((socket) => held.resolve(socket));
    const port = await listening(context, proxy);
    const transport = createHttpTransport({
      server: new URL(`https://${name}`),
      clock: new ManualClock(),
      proxy: `http://127.0.0.1:${port}`,
    });
    const call = assert.rejects(textOf(transport, '/a'), failure('not-sent'));
    const socket = await held.promise;
    socket.resume();
    const gone = once(socket, 'close');
    await transport.close();
    await Promise.all([call, gone]);
  });
});

suite('Connections through a SOCKS5 proxy', () => {
  /** A proxy that asks for a name and a password, and leads to `port`, wherever it is to lead. */
  async function socksProxy(context: TestContext, port: number, seen: string[]): Promise<number> {
    const proxy = createServer((socket) => {
      const steps: ((data: Buffer) => void)[] = [
        () => socket.write(Buffer.from([5, 2])),
        (data) => {
          const length = data[1] ?? 0;
          seen.push(`${data.toString('utf8', 2, 2 + length)}:${data.toString('utf8', 3 + length)}`);
          socket.write(Buffer.from([1, 0]));
        },
        (data) => {
          seen.push(
            `${data.toString('utf8', 5, 5 + (data[4] ?? 0))}:${data.readUInt16BE(data.length - 2)}`,
          );
          const upstream = connect(port, '127.0.0.1');
          upstream.on('error', () => undefined);
          socket.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 0]));
          socket.off('data', take);
          socket.pipe(upstream).pipe(socket);
        },
      ];
      const take = (data: Buffer): void => steps.shift()?.(data);
      socket.on('data', take);
    });
    return listening(context, proxy);
  }

  test('verify the server, and leave its name to the proxy', async (context) => {
    const seen: string[] = [];
    const port = await socksProxy(context, await apiServer(context), seen);
    const proxy = `socks5://ann:s%40cret@127.0.0.1:${port}`;
    const transport = transportTo(context, `https://${name}`, { tls: () => trusted, proxy });
    assert.equal(await textOf(transport, '/a'), '200 /a');
    assert.equal(await textOf(transport, '/b'), '200 /b');
    assert.deepEqual(seen, ['ann:s@cret', `${name}:443`]);
    const wary = transportTo(context, `https://${name}`, {
      tls: () => ({ ca: stranger.cert }),
      proxy,
    });
    await assert.rejects(textOf(wary, '/a'), failure('not-sent'));
  });
  test('carry plain HTTP, too', async (context) => {
    const seen: string[] = [];
    const api = await listening(
      context,
      createHttpServer(({ url }, response) => response.end(url)),
    );
    const port = await socksProxy(context, api, seen);
    const proxy = `socks5h://ann:x@127.0.0.1:${port}`;
    const transport = transportTo(context, `http://${name}:8080/k8s`, { proxy });
    assert.equal(await textOf(transport, '/a'), '200 /k8s/a');
    assert.deepEqual(seen, ['ann:x', `${name}:8080`]);
  });
  test('fail as not sent where the proxy refuses, and end with the transport where it never answers', {
    timeout: 10_000,
  }, async (context) => {
    const held = Promise.withResolvers<Socket>();
    const refusing = await listening(
      context,
      createServer((socket) => socket.once('data', () => socket.end(Buffer.from([5, 255])))),
    );
    const silent = await listening(
      context,
      createServer((socket) => held.resolve(socket)),
    );
    const refused = transportTo(context, `https://${name}`, {
      proxy: `socks5://127.0.0.1:${refusing}`,
    });
    await assert.rejects(textOf(refused, '/a'), failure('not-sent'));
    const waiting = transportTo(context, `https://${name}`, {
      proxy: `socks5://127.0.0.1:${silent}`,
    });
    const call = assert.rejects(textOf(waiting, '/a'), failure('not-sent'));
    const socket = await held.promise;
    socket.resume();
    const gone = once(socket, 'close');
    await waiting.close();
    await Promise.all([call, gone]);
  });
});

test('Connections refuse a proxy that they cannot use, without repeating its credentials', () => {
  for (const proxy of [
    'http://:x',
    'ftp://ann:secret@proxy:21',
    'proxy:3128',
    'http://ann:secret@',
  ]) {
    const make = (): unknown =>
      createHttpTransport({ server: new URL('https://a.test'), clock: new ManualClock(), proxy });
    assert.throws(make, ({ message }: Error) => {
      assert.match(
        message,
        /^Cannot use the proxy ".*": it must be a URL of http, https or socks5, such as/,
      );
      assert.doesNotMatch(message, /secret/);
      return true;
    });
  }
});

test('Connections that are given up while they are made leave the next request none that is not ready', async (context) => {
  const port = await apiServer(context);
  const options = { tls: () => trusted, lookup: onThisHost, connections: 1 };
  const transport = transportTo(context, `https://${name}:${port}`, options);
  for (let round = 0; round < 5; round += 1) {
    const leave = new AbortController();
    const given = transport.request({ method: 'GET', path: '/given-up', signal: leave.signal });
    const next = textOf(transport, `/next-${round}`);
    leave.abort();
    await assert.rejects(given, failure('not-sent'));
    assert.equal(await next, `200 /next-${round}`);
  }
});

test('Connections take a deadline that passes while they are made for a request that was not sent', async (context) => {
  const silent = await listening(context, createServer());
  const clock = new ManualClock();
  const transport = createHttpTransport({ server: new URL(`https://127.0.0.1:${silent}`), clock });
  context.after(() => transport.close());
  const call = assert.rejects(
    transport.request({ method: 'GET', path: '/', timeout: seconds(5) }),
    failure('not-sent'),
  );
  clock.advance(seconds(5));
  await call;
});
