import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import { millis } from '#base/units.ts';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import { AnsweringPods, type PodCall } from './answering-pods.ts';

const clock = new ManualClock();
const calls: PodCall[] = [];
const pods = new AnsweringPods({ clock, onCall: (call) => calls.push(call) });
let proxy = '';

before(async () => {
  proxy = await pods.listen();
});

after(async () => {
  await pods.close();
});

/** As a client does that has a proxy: the whole URL in the request line, the pod's name in Host. */
async function call(method: string, pod: string): Promise<readonly [number, string]> {
  const host = `${pod}.db.demo.svc.cluster.local.`;
  const options = { method, path: `http://${host}:8080/prepare`, headers: { host } };
  const { promise, resolve, reject } = Promise.withResolvers<readonly [number, string]>();
  const sent = request(proxy, { ...options, agent: false }, (response) => {
    let body = '';
    response.on('data', (chunk) => (body += String(chunk)));
    response.on('end', () => resolve([response.statusCode ?? 0, body]));
  });
  sent.on('error', reject).end();
  return promise;
}

test('AnsweringPods says since when a pod is prepared, in seconds rounded up, until DELETE', async () => {
  clock.advance(millis(250));
  assert.deepEqual(await call('POST', 'db-3'), [200, '{"timestamp":1700000001}']);
  assert.equal(pods.preparedAt('db-3'), 1_700_000_000_250);
  clock.advance(millis(5_000));
  assert.deepEqual(await call('POST', 'db-3'), [200, '{"timestamp":1700000001}']);
  assert.equal((await call('DELETE', 'db-3'))[0], 200);
  assert.equal(pods.preparedAt('db-3'), undefined);
});

test('AnsweringPods lets a pod say not yet, and then prepare', async () => {
  pods.behave('db-4', { refusals: 1, after: millis(0) });
  assert.deepEqual(await call('POST', 'db-4'), [503, 'not yet: blocks are being uploaded']);
  assert.equal(pods.preparedAt('db-4'), undefined);
  assert.equal((await call('POST', 'db-4'))[0], 200);
  assert.equal(pods.preparedAt('db-4'), clock.now());
  const told = calls.slice(-2).map(({ pod, status }) => `${pod} ${status}`);
  assert.deepEqual(told, ['db-4 503', 'db-4 200']);
});

test('AnsweringPods knows nothing of a pod that is gone', async () => {
  await call('POST', 'db-5');
  pods.forget('db-5');
  assert.equal(pods.preparedAt('db-5'), undefined);
});
