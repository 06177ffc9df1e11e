import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import type { ClusterRejection } from '#kubernetes/middleware/cluster-header.ts';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import { podCall, podHttpContract } from '#support/contracts/pod-http-contract.ts';
import { ScriptedHttpServer } from '#support/contracts/scripted-http-server.ts';
import type { Script } from '#support/contracts/transport-under-test.ts';
import { FakePodHttp } from '#support/pods/fake-pod-http.ts';
import { PodFleetServer } from '#support/pods/pod-fleet-server.ts';
import { createPodHttp, type PodHttpOptions } from './network-pod-http.ts';
import type { PodCall, PodRoundTrip } from './pod-http.ts';

podHttpContract('the network, through a proxy', async (fleet, clock) => {
  const server = new PodFleetServer(fleet, clock);
  const proxy = await server.listen();
  const podHttp = createPodHttp({
    clock,
    cluster: 'test',
    timeout: seconds(5),
    env: { HTTP_PROXY: proxy.href },
  });
  return {
    podHttp,
    quiet: () => server.quiet(),
    close: async () => {
      await podHttp.close();
      await server.close();
    },
  };
});

podHttpContract('in memory', async (fleet, clock) => {
  const podHttp = new FakePodHttp({ fleet, clock, timeout: seconds(5) });
  return { podHttp, quiet: () => Promise.resolve(), close: () => podHttp.close() };
});

const direct: PodHttpOptions = {
  clock: new ManualClock(),
  cluster: 'test',
  timeout: seconds(5),
  env: {},
};

function callTo(url: URL, path: string, rest: Partial<PodCall> = {}): PodCall {
  return { set: 'test/x', method: 'POST', url: new URL(path, url).href, ...rest };
}

/** Runs `check` against a server on 127.0.0.1, called without a proxy. */
async function served(
  script: Script,
  check: (server: ScriptedHttpServer, url: URL) => Promise<void>,
): Promise<void> {
  const server = new ScriptedHttpServer(script);
  const url = await server.listen();
  try {
    await check(server, url);
  } finally {
    await server.close();
  }
}

/** A TCP server that does as `serve` says with each connection. */
async function tcpServer(
  serve: (socket: Socket) => void,
): Promise<{ server: Server; port: number }> {
  const server = createServer(serve);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  return { server, port: address.port };
}

test('createPodHttp() says "refused" when no client listens on the port of the pod', async () => {
  const { server, port } = await tcpServer(() => undefined);
  server.close();
  await once(server, 'close');
  const podHttp = createPodHttp(direct);
  const answer = await podHttp.call(callTo(new URL(`http://127.0.0.1:${port}`), '/prepare'));
  assert.equal(answer.kind, 'refused');
  assert.equal(answer.isSent, false);
  await podHttp.close();
});

test('createPodHttp() says "unreachable" when the proxy refuses, which says nothing of the pod', async () => {
  const { server, port } = await tcpServer(() => undefined);
  server.close();
  await once(server, 'close');
  const podHttp = createPodHttp({ ...direct, env: { HTTP_PROXY: `http://127.0.0.1:${port}` } });
  assert.equal((await podHttp.call(podCall('x', 0))).kind, 'unreachable');
  await podHttp.close();
});

test('createPodHttp() says "unreachable" when HTTP_PROXY is no URL, or of a kind that it does not know', async () => {
  for (const proxy of ['http://[', 'socks5://127.0.0.1:1']) {
    const podHttp = createPodHttp({ ...direct, env: { HTTP_PROXY: proxy } });
    assert.equal((await podHttp.call(podCall('x', 0))).kind, 'unreachable');
    await podHttp.close();
  }
});

test('createPodHttp() ends a connection that is still being made when the deadline passes', async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
  // Accepts, and never says its part of the TLS handshake.
  const { server, port } = await tcpServer((socket) => {
    socket.once('data', arrive);
    socket.on('error', () => undefined);
    socket.on('close', () => resolve());
  });
  const clock = new ManualClock();
  const podHttp = createPodHttp({ ...direct, clock });
  const call = podHttp.call(callTo(new URL(`https://127.0.0.1:${port}`), '/prepare'));
  await arrived;
  clock.advance(seconds(5));
  const answer = await call;
  assert.equal(answer.kind, 'timed-out');
  assert.equal(answer.isSent, false);
  await closed;
  await podHttp.close();
  server.close();
});

test('createPodHttp() asks a proxy for a tunnel to a pod that is called by https', async () => {
  const heads: string[] = [];
  const { server, port } = await tcpServer((socket) => {
    socket.once('data', (head) => {
      heads.push(String(head));
      socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n');
    });
  });
  const podHttp = createPodHttp({
    ...direct,
    env: { HTTPS_PROXY: `http://ann:s%40cret@127.0.0.1:${port}` },
  });
  const url = 'https://x-0.x.test.svc.cluster.local.:8443/prepare';
  const answer = await podHttp.call(podCall('x', 0, { url }));
  assert.equal(answer.kind, 'unreachable');
  assert.match(answer.message, /answered CONNECT with 403/);
  assert.match(heads[0] ?? '', /^CONNECT x-0\.x\.test\.svc\.cluster\.local\.:8443 HTTP\/1\.1\r\n/);
  assert.match(heads[0] ?? '', /proxy-authorization: Basic YW5uOnNAY3JldA==\r\n/i);
  await podHttp.close();
  server.close();
});

for (const [stage, answer] of Object.entries({
  'says nothing': '',
  'opens the tunnel to a pod that says nothing': 'HTTP/1.1 200 OK\r\n\r\n',
})) {
  test(`createPodHttp() keeps no connection after the deadline to a proxy that ${stage}`, async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
    const { server, port } = await tcpServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('close', () => resolve());
      socket.once('data', () => {
        if (answer === '') {
          arrive();
          return;
        }
        socket.once('data', () => arrive());
        socket.write(answer);
      });
    });
    const clock = new ManualClock();
    const env = { HTTPS_PROXY: `http://127.0.0.1:${port}` };
    const podHttp = createPodHttp({ ...direct, clock, env });
    const url = 'https://x-0.x.test.svc.cluster.local./prepare';
    const call = podHttp.call(podCall('x', 0, { url }));
    await arrived;
    clock.advance(seconds(5));
    const ended = await call;
    assert.equal(ended.kind, 'timed-out');
    assert.equal(ended.isSent, false);
    await closed;
    await podHttp.close();
    server.close();
  });
}

test('createPodHttp() reads no answer that is longer than its limit', async () => {
  await served({ '/p': { kind: 'flood', bytes: 10_000_000 } }, async (_, url) => {
    const podHttp = createPodHttp(direct);
    assert.equal((await podHttp.call(callTo(url, '/p'))).kind, 'too-large');
    await podHttp.close();
  });
});

test('createPodHttp() says "broken" when the answer ends too early', async () => {
  await served({ '/p': { kind: 'short', announced: 10, body: 'abc' } }, async (_, url) => {
    const podHttp = createPodHttp(direct);
    assert.equal((await podHttp.call(callTo(url, '/p'))).kind, 'broken');
    await podHttp.close();
  });
});

test('createPodHttp() follows a 307 with POST, X-Cluster each time', async () => {
  const script: Script = {
    '/same': { kind: 'answer', status: 307, headers: { location: 'other?y=2' }, body: '' },
    '/other': { kind: 'answer', status: 200, body: 'ok' },
  };
  await served(script, async (server, url) => {
    const podHttp = createPodHttp(direct);
    const ok = { kind: 'answered', status: 200, body: 'ok' };
    assert.deepEqual(await podHttp.call(callTo(url, '/same')), ok);
    assert.deepEqual(
      server.received.map(({ method, path, headers }) => [method, path, headers['x-cluster']]),
      [
        ['POST', '/same', 'test'],
        ['POST', '/other?y=2', 'test'],
      ],
    );
    await podHttp.close();
  });
});

test('createPodHttp() takes no 200 of a GET for an answer to a POST that was redirected (D-59)', async () => {
  const script: Script = {
    '/see': { kind: 'answer', status: 302, headers: { location: '/other' }, body: '' },
    '/other': { kind: 'answer', status: 200, body: 'ok' },
  };
  await served(script, async (server, url) => {
    const podHttp = createPodHttp(direct);
    assert.deepEqual(await podHttp.call(callTo(url, '/see')), {
      kind: 'misdirected',
      isSent: true,
      message: `Cannot POST ${url.href}see: it answers 302, after which POST becomes GET`,
    });
    assert.deepEqual(
      server.received.map(({ path }) => path),
      ['/see'],
    );
    await podHttp.close();
  });
});

test('createPodHttp() calls no other host that a pod redirects to (D-59)', async () => {
  await served({ '/p': { kind: 'answer', status: 200, body: '' } }, async (other, otherUrl) => {
    // The same machine by another name.
    const location = `http://localhost:${otherUrl.port}/p`;
    const script: Script = {
      '/p': { kind: 'answer', status: 308, headers: { location }, body: '' },
    };
    await served(script, async (_, url) => {
      const podHttp = createPodHttp(direct);
      const answer = await podHttp.call(callTo(url, '/p'));
      assert.deepEqual([answer.kind, other.received], ['misdirected', []]);
      await podHttp.close();
    });
  });
});

test('createPodHttp() calls nothing by a URL whose host ends at a backslash (D-59)', async () => {
  await served({ '/@pod/x': { kind: 'answer', status: 200, body: '' } }, async (server, url) => {
    const podHttp = createPodHttp(direct);
    const call = { ...callTo(url, '/'), url: `http://${url.host}\\@pod/x` };
    assert.deepEqual([(await podHttp.call(call)).kind, server.received], ['unreachable', []]);
    await podHttp.close();
  });
});

test('createPodHttp() sends ten requests at most for one call that is redirected for ever', async () => {
  const script: Script = {
    '/loop': { kind: 'answer', status: 308, headers: { location: '/loop' }, body: '' },
  };
  await served(script, async (server, url) => {
    const podHttp = createPodHttp(direct);
    assert.equal((await podHttp.call(callTo(url, '/loop'))).kind, 'misdirected');
    assert.equal(server.received.length, 10);
    await podHttp.close();
  });
});

test('createPodHttp() sends the user of the URL as credentials, and names it in no message', async () => {
  await served({ '/p': { kind: 'reset' } }, async (server, url) => {
    const podHttp = createPodHttp(direct);
    const answer = await podHttp.call(callTo(new URL(`http://ann:pw@${url.host}`), '/p'));
    assert.equal(server.received[0]?.headers['authorization'], 'Basic YW5uOnB3');
    assert.equal(answer.kind, 'broken');
    assert.doesNotMatch(answer.message, /pw/);
    await podHttp.close();
  });
});

test('createPodHttp() turns the 511 of a cluster check into a failure, and leaves another 511 alone', async () => {
  const body = '{"cluster_validation_error_message":"wrong","route":"prepare"}';
  const json = { 'content-type': 'application/json; charset=utf-8' };
  const script: Script = {
    '/check': { kind: 'answer', status: 511, headers: json, body },
    '/portal': { kind: 'answer', status: 511, body },
  };
  await served(script, async (_, url) => {
    const rejections: ClusterRejection[] = [];
    const podHttp = createPodHttp({ ...direct, onRejected: (each) => rejections.push(each) });
    assert.equal((await podHttp.call(callTo(url, '/check'))).kind, 'wrong-cluster');
    assert.deepEqual(rejections, [{ requestCluster: 'test', route: 'prepare', message: 'wrong' }]);
    assert.deepEqual(await podHttp.call(callTo(url, '/portal')), {
      kind: 'answered',
      status: 511,
      body,
    });
    await podHttp.close();
  });
});

test('createPodHttp() tells of each round trip: raw path without query, method, status or "error" (ME-7)', async () => {
  await served(
    { '/a': { kind: 'answer', status: 500, body: '' }, '/b': { kind: 'reset' } },
    async (_, url) => {
      const trips: Omit<PodRoundTrip, 'duration'>[] = [];
      const observe = ({ path, method, status }: PodRoundTrip): void =>
        void trips.push({ path, method, status });
      const podHttp = createPodHttp({ ...direct, observe });
      await podHttp.call(callTo(url, '/a?x=1'));
      await podHttp.call(callTo(url, '/b', { method: 'DELETE' }));
      assert.deepEqual(trips, [
        { path: '/a', method: 'POST', status: 500 },
        { path: '/b', method: 'DELETE', status: 'error' },
      ]);
      await podHttp.close();
    },
  );
});

test('createPodHttp() goes around the proxy for pods that NO_PROXY names without the dot at the end', async () => {
  const seen: string[] = [];
  const { server, port } = await tcpServer((socket) => {
    seen.push('proxy');
    socket.destroy();
  });
  const env = { HTTP_PROXY: `http://127.0.0.1:${port}`, NO_PROXY: '.invalid' };
  const podHttp = createPodHttp({ ...direct, env });
  const answer = await podHttp.call(podCall('x', 0, { url: 'http://x-0.invalid.:80/prepare' }));
  assert.equal(answer.kind, 'unreachable');
  assert.deepEqual(seen, []);
  await podHttp.close();
  server.close();
});

test('createPodHttp() names the cluster in every request, and no other header can replace it [scenario 72]', async () => {
  await served({ '/p': { kind: 'answer', status: 200, body: '' } }, async (server, url) => {
    const podHttp = createPodHttp(direct);
    await podHttp.call(callTo(url, '/p', { headers: { 'x-cluster': 'other' } }));
    await podHttp.call(callTo(url, '/p', { method: 'DELETE' }));
    assert.deepEqual(
      server.received.map(({ headers }) => headers['x-cluster']),
      ['test', 'test'],
    );
    await podHttp.close();
  });
});
