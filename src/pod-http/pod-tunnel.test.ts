import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RawServer } from '#support/pods/raw-server.ts';
import { PodLine } from './pod-line.ts';
import type { Hop } from './redirect.ts';

const pod: Hop = {
  method: 'POST',
  url: new URL('https://x-0.x.test.svc.cluster.local.:8443/prepare'),
  host: 'x-0.x.test.svc.cluster.local.:8443',
};

/** Why there is no connection through a proxy that says just `says`; all connections are gone when this resolves. */
async function failureWith(says: string, ending: 'ends' | 'waits'): Promise<string> {
  const server = new RawServer(says, ending);
  const proxy = await server.listen();
  const line = new PodLine(pod, proxy);
  const why = await line.open().then(String, ({ message }: Error) => message);
  line.destroy();
  await server.quiet();
  // An attempt more would be made for as long as the deadline lets it.
  assert.equal(server.heard.length, 1);
  return why.replaceAll(proxy.host, 'P');
}

const failures: Record<string, readonly [says: string, ending: 'ends' | 'waits', why: RegExp]> = {
  'closes the connection': [
    '',
    'ends',
    /^the proxy P opens no tunnel: the connection was closed before the whole answer$/,
  ],
  'closes the connection within its answer': [
    'HTTP/1.1 200',
    'ends',
    /^the proxy P opens no tunnel: the connection was closed before the whole answer$/,
  ],
  'refuses, and keeps the connection': [
    'HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 9\r\n\r\nno',
    'waits',
    /^the proxy P answered CONNECT with 407$/,
  ],
  'answers with another status of success': [
    'HTTP/1.1 204 No Content\r\n\r\n',
    'waits',
    /^the proxy P answered CONNECT with 204$/,
  ],
  'has no final status': [
    'HTTP/1.1 100 Continue\r\n\r\n',
    'waits',
    /^the proxy P answered CONNECT with 100$/,
  ],
  'is no HTTP server': [
    '220 mail.test ESMTP\r\n',
    'waits',
    /^the proxy P opens no tunnel: the answer is not valid HTTP\/1\.1: Expected HTTP\//,
  ],
  'opens the tunnel, and has bytes in it that are no TLS': [
    'HTTP/1.1 200 OK\r\n\r\n220 mail.test ESMTP\r\n',
    'waits',
    /wrong version number/,
  ],
  'opens the tunnel, and closes it': [
    'HTTP/1.1 200 OK\r\n\r\n',
    'ends',
    /disconnected before secure TLS connection/,
  ],
};

for (const [title, [says, ending, why]] of Object.entries(failures)) {
  test(`PodLine asks a proxy once that ${title}`, async () => {
    assert.match(await failureWith(says, ending), why);
  });
}

test('PodLine opens nothing once it is destroyed', async () => {
  const server = new RawServer('HTTP/1.1 403 Forbidden\r\n\r\n', 'ends');
  const line = new PodLine(pod, await server.listen());
  line.destroy();
  const why = await line.open().then(String, ({ message }: Error) => message);
  await server.quiet();
  assert.equal(why, 'the connection was closed before it could be used');
  assert.deepEqual(server.heard, []);
});

for (const [stage, says] of Object.entries({
  'answered CONNECT': '',
  'passed TLS on': 'HTTP/1.1 200 OK\r\n\r\n',
})) {
  test(`PodLine ends all that it opened when it is destroyed before the proxy ${stage}`, async () => {
    const server = new RawServer(says, 'waits');
    const line = new PodLine(pod, await server.listen());
    const opened = assert.rejects(line.open());
    await server.said();
    line.destroy();
    await opened;
    await server.quiet();
  });
}

test('PodLine asks for a tunnel to an address of IPv6 in brackets', async () => {
  const server = new RawServer('HTTP/1.1 403 Forbidden\r\n\r\n', 'ends');
  const url = new URL('https://[fd00::1]/prepare');
  const line = new PodLine({ method: 'POST', url, host: url.host }, await server.listen());
  await assert.rejects(line.open());
  line.destroy();
  await server.quiet();
  assert.match(
    server.heard[0] ?? '',
    /^CONNECT \[fd00::1\]:443 HTTP\/1\.1\r\nhost: \[fd00::1\]:443\r\n/i,
  );
});

test('PodLine knows no proxies but those of http and https', () => {
  assert.throws(() => new PodLine(pod, new URL('socks5://127.0.0.1:1080')), {
    message: 'the proxy socks5://127.0.0.1:1080 is no http or https URL',
  });
});
