import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { instant, seconds } from '#base/units.ts';
import { selfSigned } from '#cluster/transport/self-signed.ts';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import { podCall } from '#support/contracts/pod-http-contract.ts';
import { createPodHttp } from './undici-pod-http.ts';

const name = 'x-0.x.test.svc.cluster.local';
const identity = await selfSigned(instant(Date.now()), [name]);

interface Stage {
  /** Of the requests that reached the pod. */
  readonly atPod: readonly IncomingHttpHeaders[];
  /** Of the requests for a tunnel. */
  readonly atProxy: readonly IncomingHttpHeaders[];
  readonly answer: { readonly kind: string; readonly message?: string };
}

/** Calls a pod by https through a proxy that asks for a password. */
async function called(): Promise<Stage> {
  const [atPod, atProxy]: IncomingHttpHeaders[][] = [[], []];
  const pod = createSecureServer(identity, ({ headers }, response) => {
    atPod?.push(headers);
    response.end('ok');
  }).listen(0, '127.0.0.1');
  pod.on('tlsClientError', () => undefined);
  const proxy = createServer().listen(0, '127.0.0.1');
  await Promise.all([once(pod, 'listening'), once(proxy, 'listening')]);
  const portOf = (server: typeof proxy | typeof pod): number =>
    (server.address() as AddressInfo).port;
  proxy.on('connect', ({ headers }, socket) => {
    atProxy?.push(headers);
    const upstream = connect(portOf(pod), '127.0.0.1');
    for (const each of [socket, upstream]) each.on('error', () => undefined);
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    socket.pipe(upstream).pipe(socket);
  });
  const env = { HTTPS_PROXY: `http://ann:pw@127.0.0.1:${portOf(proxy)}` };
  const podHttp = createPodHttp({
    clock: new ManualClock(),
    cluster: 'test',
    timeout: seconds(5),
    env,
  });
  const answer = await podHttp.call(podCall('x', 0, { url: `https://${name}.:8443/prepare` }));
  await podHttp.close();
  pod.close();
  proxy.close();
  return { atPod: atPod ?? [], atProxy: atProxy ?? [], answer };
}

test('PodLine sends nothing to a pod whose certificate no CA vouches for', async () => {
  const { atPod, answer } = await called();
  assert.deepEqual(atPod, []);
  assert.notEqual(answer.kind, 'answered');
  assert.match(answer.message ?? '', /self-signed certificate/);
});

test('PodLine tells the password of the proxy to the proxy, and not to the pod', async () => {
  const usual = getCACertificates('default');
  setDefaultCACertificates([...usual, identity.cert]);
  try {
    const { atPod, atProxy, answer } = await called();
    assert.equal(answer.kind, 'answered', JSON.stringify(answer));
    assert.equal(atProxy[0]?.['proxy-authorization'], 'Basic YW5uOnB3');
    assert.deepEqual(
      atPod.map((headers) => headers['proxy-authorization']),
      [undefined],
    );
  } finally {
    setDefaultCACertificates(usual);
  }
});
