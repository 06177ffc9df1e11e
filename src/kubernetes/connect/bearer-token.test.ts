import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import { FakeTransport } from '#support/api-server/fake-transport.ts';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import { failure } from '#support/contracts/transport-contract.ts';
import {
  type Credentials,
  rereadCredentials,
  staticCredentials,
  withCredentials,
} from './bearer-token.ts';

interface File {
  content: string | Error;
  reads: number;
}

function fromFile(): {
  readonly file: File;
  readonly clock: ManualClock;
  readonly credentials: Credentials;
  readonly stale: unknown[];
} {
  const file: File = { content: 'Bearer one', reads: 0 };
  const clock = new ManualClock();
  const stale: unknown[] = [];
  const read = async (): Promise<string> => {
    file.reads += 1;
    if (file.content instanceof Error) throw file.content;
    return file.content;
  };
  const onStale = (error: unknown): void => void stale.push(error);
  return { file, clock, stale, credentials: rereadCredentials({ clock, read, onStale }) };
}

test('rereadCredentials() reads once a minute', async () => {
  const { file, clock, credentials } = fromFile();
  await credentials.authorization();
  file.content = 'Bearer two';
  clock.advance(seconds(59));
  assert.equal(await credentials.authorization(), 'Bearer one');
  clock.advance(seconds(1));
  assert.equal(await credentials.authorization(), 'Bearer two');
  assert.equal(file.reads, 2);
});

test('rereadCredentials() shares one reading between calls at the same time', async () => {
  const { file, credentials } = fromFile();
  await Promise.all([credentials.authorization(), credentials.authorization()]);
  assert.equal(file.reads, 1);
});

test('rereadCredentials() keeps the old value and reports when the file cannot be read', async () => {
  const { file, clock, credentials, stale } = fromFile();
  await credentials.authorization();
  file.content = new Error('EIO');
  clock.advance(seconds(60));
  assert.equal(await credentials.authorization(), 'Bearer one');
  assert.deepEqual(stale, [file.content]);
});

test('withCredentials() authorises every request', async () => {
  const inner = new FakeTransport(() => ({}));
  const transport = withCredentials(inner, staticCredentials('Bearer x'));
  await transport.request({ method: 'GET', path: '/a', headers: { accept: 'b' } });
  assert.deepEqual(inner.last.headers, { accept: 'b', authorization: 'Bearer x' });
});

test('withCredentials() sends no header where there are no credentials', async () => {
  const inner = new FakeTransport(() => ({}));
  await withCredentials(inner, staticCredentials(undefined)).request({ method: 'GET', path: '/a' });
  assert.equal(inner.last.headers, undefined);
});

for (const call of ['request', 'stream'] as const) {
  test(`withCredentials() reads again after a 401 and repeats the ${call} once`, async () => {
    const { file, credentials } = fromFile();
    const inner = new FakeTransport((request) => {
      file.content = 'Bearer two';
      return { status: request.headers?.['authorization'] === 'Bearer two' ? 200 : 401 };
    });
    const transport = withCredentials(inner, credentials);
    assert.equal((await transport[call]({ method: 'GET', path: '/a' })).status, 200);
    assert.equal(inner.requests.length, 2);
  });
}

test('withCredentials() returns a 401 when there is nothing newer', async () => {
  const { credentials } = fromFile();
  const inner = new FakeTransport(() => ({ status: 401 }));
  const { status } = await withCredentials(inner, credentials).request({
    method: 'GET',
    path: '/',
  });
  assert.equal(status, 401);
  assert.equal(inner.requests.length, 1);
});

test('withCredentials() asks beforeSend again before it repeats', async () => {
  const { file, credentials } = fromFile();
  const inner = new FakeTransport(() => {
    file.content = 'Bearer two';
    return { status: 401 };
  });
  let asked = 0;
  const beforeSend = (): void => void (asked += 1);
  await withCredentials(inner, credentials).request({ method: 'PUT', path: '/a', beforeSend });
  assert.equal(asked, 2);
});

test('withCredentials() sends nothing when the credentials cannot be read', async () => {
  const { file, credentials } = fromFile();
  file.content = new Error('Cannot read the token file');
  const inner = new FakeTransport(() => ({}));
  const call = withCredentials(inner, credentials).request({ method: 'GET', path: '/a' });
  await assert.rejects(call, failure('not-sent'));
  assert.equal(inner.requests.length, 0);
});
