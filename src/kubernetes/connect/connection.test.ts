import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { ScriptedHttpServer } from '#support/contracts/scripted-http-server.ts';
import { staticCredentials } from './bearer-token.ts';
import { connect } from './connection.ts';

const settings = {
  server: new URL('http://api.invalid'),
  tls: () => ({}),
  credentials: staticCredentials('Bearer x'),
};

test('connect() authorises requests and goes through the proxy of the environment (EN-2)', async () => {
  const proxy = new ScriptedHttpServer({});
  const { href } = await proxy.listen();
  const transport = connect(settings, { clock: new FakeClock(), env: { HTTP_PROXY: href } });
  await transport.request({ method: 'GET', path: '/api' });
  assert.equal(proxy.received[0]?.path, 'http://api.invalid/api');
  assert.equal(proxy.received[0]?.headers['authorization'], 'Bearer x');
  await transport.close();
  await proxy.close();
});

test('connect() prefers the proxy that the settings name', async () => {
  const proxy = new ScriptedHttpServer({});
  const { href } = await proxy.listen();
  const env = { HTTP_PROXY: 'http://other.invalid:1' };
  const transport = connect({ ...settings, proxy: href }, { clock: new FakeClock(), env });
  await transport.request({ method: 'GET', path: '/api' });
  assert.equal(proxy.received.length, 1);
  await transport.close();
  await proxy.close();
});
