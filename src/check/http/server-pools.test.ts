import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes } from '#base/units.ts';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import { answering, PrometheusServer } from '#support/external-services/prometheus-server.ts';
import { type Server, ServerPools } from './server-pools.ts';

const [one, two] = ['one', 'two'].map((key): Server => ({ key, trust: {} })) as [Server, Server];

test('ServerPools ends what was not used for a while, and nothing else', async (t) => {
  const clock = new ManualClock();
  const pools = new ServerPools({ clock, env: {}, connections: 1 });
  const server = new PrometheusServer(answering('{}'));
  const url = new URL(`http://127.0.0.1:${await server.listen()}`);
  t.after(async () => {
    await pools.close();
    await server.close();
  });
  pools.enter(one);
  const transport = pools.transport(one, url);
  clock.advance(minutes(60));
  pools.enter(two);
  assert.equal(pools.size, 2);
  assert.equal(pools.transport(one, url), transport);
  pools.leave(one);
  pools.leave(two);
  clock.advance(minutes(9));
  pools.enter(two);
  assert.equal(pools.size, 2);
  clock.advance(minutes(1));
  pools.enter(two);
  assert.equal(pools.size, 1);
  assert.throws(() => pools.transport(one, url), /have been ended/);
  await assert.rejects(transport.request({ method: 'GET', path: '/' }), /aborted/);
});

test('ServerPools tries again what could not be opened', async () => {
  const clock = new ManualClock();
  const env: Record<string, string> = { HTTP_PROXY: 'http://:x' };
  const pools = new ServerPools({ clock, env, connections: 1 });
  const url = new URL('http://prometheus.invalid');
  pools.enter(one);
  assert.throws(() => pools.transport(one, url), /^Error: Cannot use the proxy "http:\/\/:x"/);
  delete env['HTTP_PROXY'];
  assert.ok(pools.transport(one, url));
  await pools.close();
});
