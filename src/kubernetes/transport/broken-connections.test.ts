import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { suite, type TestContext, test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { instant, seconds } from '#base/units.ts';
import { selfSigned } from '#cluster/transport/self-signed.ts';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import { failure } from '#support/contracts/transport-contract.ts';
import {
  type ByteTransport,
  createHttpTransport,
  type HttpTransportOptions,
} from './http-transport.ts';

const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const identity = await selfSigned(instant(Date.now()), ['api.test']);

/** A server that speaks bytes. */
interface RawServer {
  readonly port: number;
  /** Those that are open. */
  readonly sockets: ReadonlySet<Socket>;
  /** How many there have been. */
  readonly count: () => number;
}

/** Listens until the end of the test, over TLS or without. */
async function rawServer(
  context: TestContext,
  connected: (socket: Socket) => void,
  isSecure = false,
): Promise<RawServer> {
  const sockets = new Set<Socket>();
  let count = 0;
  const accept = (socket: Socket): void => {
    count += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
    connected(socket);
  };
  const server = isSecure ? createTlsServer(identity, accept) : createServer(accept);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { port: (server.address() as AddressInfo).port, sockets, count: () => count };
}

function transportTo(
  context: TestContext,
  server: string,
  options: Partial<HttpTransportOptions> = {},
): ByteTransport {
  const clock = new ManualClock();
  const transport = createHttpTransport({ server: new URL(server), clock, ...options });
  context.after(() => transport.close());
  return transport;
}

/** Waits until as many connections are open as given. */
async function open({ sockets }: RawServer, count: number): Promise<void> {
  while (sockets.size !== count) await new Promise((resolve) => setImmediate(resolve));
}

/** Answers a SOCKS5 client as one that builds the tunnel. */
function agree(socket: Socket): void {
  const steps = [Buffer.from([5, 0]), Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])];
  socket.on('data', () => {
    const step = steps.shift();
    if (step !== undefined) socket.write(step);
  });
}

const wait = { timeout: 10_000 };

suite('Requests that wait for a connection', () => {
  test('fail each where none can be made any more', wait, async (context) => {
    let isWell = true;
    const proxy = await rawServer(context, (socket) => {
      if (isWell) agree(socket);
      else socket.destroy();
    });
    const transport = transportTo(context, 'http://api.test', {
      proxy: `socks5://127.0.0.1:${proxy.port}`,
      connections: 1,
    });
    const outcomes: Promise<void>[] = [];
    const first = Promise.withResolvers<void>();
    outcomes.push(
      assert.rejects(
        transport.request({ method: 'GET', path: '/0', beforeSend: first.resolve }),
        failure('connection'),
      ),
    );
    await first.promise;
    for (const path of ['/1', '/2', '/3']) {
      outcomes.push(
        assert.rejects(transport.request({ method: 'DELETE', path }), failure('not-sent')),
      );
    }
    isWell = false;
    for (const socket of proxy.sockets) socket.destroy();
    await Promise.all(outcomes);
  });
  test(
    'fail as not sent where the certificates cannot be read just then',
    wait,
    async (context) => {
      const server = await rawServer(
        context,
        (socket) => {
          socket.once('data', (head) => {
            if (/ \/last /.test(head.toString())) socket.end(answer);
            else socket.destroy();
          });
        },
        true,
      );
      let readings = 0;
      const tls: HttpTransportOptions['tls'] = () => {
        readings += 1;
        return readings === 2 ? { cert: 'half', key: 'written' } : { isInsecure: true };
      };
      const options = { tls, connections: 1 };
      const transport = transportTo(context, `https://127.0.0.1:${server.port}`, options);
      const cut = transport.request({ method: 'GET', path: '/cut' });
      const next = transport.request({ method: 'GET', path: '/next' });
      const last = transport.request({ method: 'GET', path: '/last' });
      await Promise.all([
        assert.rejects(cut, failure('connection')),
        assert.rejects(next, failure('not-sent')),
      ]);
      assert.equal((await last).status, 200);
    },
  );
  test('open nothing once the transport is closed', wait, async (context) => {
    const server = await rawServer(context, (socket) => socket.resume());
    const transport = transportTo(context, `http://127.0.0.1:${server.port}`, { connections: 1 });
    const sent = Promise.withResolvers<void>();
    const first = transport.request({ method: 'GET', path: '/', beforeSend: sent.resolve });
    const second = transport.request({ method: 'DELETE', path: '/' });
    await Promise.all([sent.promise, open(server, 1)]);
    await transport.close();
    await Promise.all([
      assert.rejects(first, failure('aborted')),
      assert.rejects(second, failure('not-sent')),
      open(server, 0),
    ]);
    // A connection that was begun since would arrive before this one.
    const other = transportTo(context, `http://127.0.0.1:${server.port}`);
    const late = assert.rejects(other.request({ method: 'GET', path: '/' }), failure('aborted'));
    await open(server, 1);
    assert.equal(server.count(), 2);
    await other.close();
    await late;
  });
});

suite('Connections that are still being made', () => {
  test(
    'fail as not sent where a proxy has built the tunnel and the certificates are none',
    wait,
    async (context) => {
      const proxy = await rawServer(context, (socket) =>
        socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\n\r\n')),
      );
      const transport = transportTo(context, 'https://api.test', {
        proxy: `http://127.0.0.1:${proxy.port}`,
        tls: () => ({ cert: 'half', key: 'written' }),
      });
      const call = transport.request({ method: 'GET', path: '/' });
      await assert.rejects(call, failure('not-sent'));
    },
  );
  test(
    'fail as not sent where they take too long, without a deadline of their request',
    wait,
    async (context) => {
      const silent = await rawServer(context, (socket) => socket.resume());
      const tunnel = await rawServer(context, agree);
      for (const proxy of [undefined, `socks5://127.0.0.1:${tunnel.port}`]) {
        const clock = new ManualClock();
        const server = `https://127.0.0.1:${silent.port}`;
        const options = { clock, ...(proxy !== undefined && { proxy }) };
        const transport = transportTo(context, server, options);
        const call = assert.rejects(
          transport.request({ method: 'GET', path: '/' }),
          failure('not-sent'),
        );
        const reached = proxy === undefined ? silent : tunnel;
        await open(reached, 1);
        clock.advance(seconds(10));
        await Promise.all([call, open(reached, 0)]);
        assert.equal(clock.pendingTimers, 0);
      }
    },
  );
  test('are closed where the proxy refuses, and does not close them', wait, async (context) => {
    const proxy = await rawServer(context, (socket) =>
      socket.once('data', () => socket.write('HTTP/1.1 407 Authentication Required\r\n\r\n')),
    );
    const transport = transportTo(context, 'https://api.test', {
      proxy: `http://127.0.0.1:${proxy.port}`,
    });
    await assert.rejects(transport.request({ method: 'GET', path: '/' }), failure('not-sent'));
    await open(proxy, 0);
  });
  test('end with the transport, whatever step a proxy never answers', wait, async (context) => {
    const silent = await rawServer(context, (socket) => socket.resume());
    const secure = await rawServer(context, (socket) => socket.resume(), true);
    const authorities = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    context.after(() => {
      if (authorities === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = authorities;
    });
    for (const [server, scheme, proxy] of [
      ['http://api.test', 'socks5', silent],
      ['https://api.test', 'socks5', silent],
      ['https://api.test', 'http', silent],
      ['https://api.test', 'https', secure],
    ] as const) {
      const transport = transportTo(context, server, {
        proxy: `${scheme}://127.0.0.1:${proxy.port}`,
      });
      const call = assert.rejects(
        transport.request({ method: 'GET', path: '/' }),
        failure('not-sent'),
      );
      await open(proxy, 1);
      await transport.close();
      await Promise.all([call, open(proxy, 0)]);
    }
  });
});

suite('Calls of the caller', () => {
  test('fail the request alone where one of them throws', wait, async (context) => {
    const server = await rawServer(context, (socket) =>
      socket.on('data', () => socket.write(answer)),
    );
    const transport = transportTo(context, `http://127.0.0.1:${server.port}`);
    const onBytes = (): void => {
      throw new Error('no place for it');
    };
    const call = transport.request({ method: 'GET', path: '/', onBytes });
    await assert.rejects(call, /no place for it$/);
    await assert.rejects(call, failure('connection'));
    assert.equal((await transport.request({ method: 'GET', path: '/' })).status, 200);
  });
  test('send nothing where the last check gives its own request up', wait, async (context) => {
    const seen: string[] = [];
    const server = await rawServer(context, (socket) =>
      socket.on('data', (data) => {
        seen.push(data.toString());
        socket.write(answer);
      }),
    );
    const transport = transportTo(context, `http://127.0.0.1:${server.port}`);
    for (let round = 0; round < 2; round += 1) {
      const leave = new AbortController();
      const call = transport.request({
        method: 'DELETE',
        path: '/',
        signal: leave.signal,
        beforeSend: () => leave.abort(),
      });
      await assert.rejects(call, failure('not-sent'));
      await transport.request({ method: 'GET', path: '/' });
    }
    assert.ok(seen.every((head) => head.startsWith('GET ')));
  });
});

test('A connection whose server answers what it never reads is given up', wait, async (context) => {
  const server = await rawServer(context, (socket) =>
    socket.once('data', () => {
      socket.pause();
      socket.write(answer);
    }),
  );
  const clock = new ManualClock();
  const options = { clock, connections: 1 };
  const transport = transportTo(context, `http://127.0.0.1:${server.port}`, options);
  const body = 'x'.repeat(16_000_000);
  assert.equal((await transport.request({ method: 'PATCH', path: '/', body })).status, 200);
  const next = transport.request({ method: 'GET', path: '/' });
  assert.equal(server.count(), 1);
  clock.advance(seconds(10));
  assert.equal((await next).status, 200);
  assert.equal(server.count(), 2);
});
