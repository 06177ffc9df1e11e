import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { instant, seconds } from '#base/units.ts';
import { selfSigned } from '#cluster/transport/self-signed.ts';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import { podCall } from '#support/contracts/pod-http-contract.ts';
import { createPodHttp } from './network-pod-http.ts';
import type { PodAnswer } from './pod-http.ts';

const name = 'x-0.x.test.svc.cluster.local';
const identity = await selfSigned(instant(Date.now()), [name]);

/** Headers of the requests that arrived. */
interface Arrived {
  readonly atPod: readonly IncomingHttpHeaders[];
  /** Of the requests for a tunnel. */
  readonly atProxy: readonly IncomingHttpHeaders[];
}

type CallPod = (headers?: Readonly<Record<string, string>>) => Promise<PodAnswer>;

/** Has `use` call a pod by https through a proxy that asks for a password; `x-end` has the pod end the connection. */
async function onStage(
  context: TestContext,
  use: (call: CallPod) => Promise<void>,
): Promise<Arrived> {
  const atPod: IncomingHttpHeaders[] = [];
  const atProxy: IncomingHttpHeaders[] = [];
  const pod = createSecureServer(identity, ({ headers }, response) => {
    atPod.push(headers);
    if (headers['x-end'] === undefined) response.end('ok');
    else response.destroy();
  }).listen(0, '127.0.0.1');
  pod.on('tlsClientError', () => undefined);
  const proxy = createServer().listen(0, '127.0.0.1');
  await Promise.all([once(pod, 'listening'), once(proxy, 'listening')]);
  const portOf = (server: typeof proxy | typeof pod): number =>
    (server.address() as AddressInfo).port;
  proxy.on('connect', ({ headers }, socket) => {
    atProxy.push(headers);
    const upstream = connect(portOf(pod), '127.0.0.1');
    for (const each of [socket, upstream]) each.on('error', () => undefined);
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    socket.pipe(upstream).pipe(socket);
  });
  const env = { HTTPS_PROXY: `http://ann:pw@127.0.0.1:${portOf(proxy)}` };
  const options = { clock: new ManualClock(), cluster: 'test', timeout: seconds(5), env };
  const podHttp = createPodHttp(options);
  // Also when an exception that no code catches has failed the test, and calls have no end.
  context.after(async () => {
    await podHttp.close();
    pod.close();
    proxy.close();
  });
  const url = `https://${name}.:8443/prepare`;
  await use((headers = {}) => podHttp.call(podCall('x', 0, { url, headers })));
  return { atPod, atProxy };
}

/** Has `use` called while the pod's certificate is trusted. */
async function trusted<T>(use: () => Promise<T>): Promise<T> {
  const usual = getCACertificates('default');
  setDefaultCACertificates([...usual, identity.cert]);
  try {
    return await use();
  } finally {
    setDefaultCACertificates(usual);
  }
}

test('PodLine sends nothing to a pod whose certificate no CA vouches for', async (context) => {
  const { atPod } = await onStage(context, async (call) => {
    const answer = await call();
    assert.equal(answer.kind, 'unreachable');
    assert.match(answer.message, /self-signed certificate/);
  });
  assert.deepEqual(atPod, []);
});

test('PodLine tells the password of the proxy to the proxy, and not to the pod', async (context) => {
  const { atPod, atProxy } = await trusted(() =>
    onStage(context, async (call) => {
      assert.deepEqual(await call(), { kind: 'answered', status: 200, body: 'ok' });
    }),
  );
  assert.equal(atProxy[0]?.['proxy-authorization'], 'Basic YW5uOnB3');
  assert.deepEqual(
    atPod.map((headers) => headers['proxy-authorization']),
    [undefined],
  );
});

test('PodLine leaves each call a parser of its own after pods that ended their tunnels', async (context) => {
  await trusted(() =>
    onStage(context, async (call) => {
      const cut = [await call({ 'x-end': '1' }), await call({ 'x-end': '1' })];
      assert.deepEqual(new Set(cut.map(({ kind }) => kind)), new Set(['broken']));
      const answers = await Promise.all([call(), call(), call(), call()]);
      assert.deepEqual(new Set(answers.map(({ kind }) => kind)), new Set(['answered']));
    }),
  );
});
