import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { seconds } from '#base/units.ts';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import { ConnectionSettingsError } from './connection.ts';
import { inClusterSettings } from './in-cluster.ts';

const env = { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' };

async function mounted(t: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'service-account-'));
  t.after(() => rm(directory, { recursive: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
  return directory;
}

const files = { token: 'one\n', 'ca.crt': 'PEM', namespace: 'demo\n' };

test('inClusterSettings() reads server, CA, token and namespace (EN-1)', async (t) => {
  const directory = await mounted(t, files);
  const settings = await inClusterSettings({ clock: new ManualClock(), env, directory });
  assert.equal(settings.server.href, 'https://10.96.0.1/');
  assert.deepEqual(settings.tls(), { ca: 'PEM' });
  assert.equal(settings.namespace, 'demo');
  assert.equal(await settings.credentials.authorization(), 'Bearer one');
});

test('inClusterSettings() brackets an IPv6 address', async (t) => {
  const directory = await mounted(t, files);
  const settings = await inClusterSettings({
    clock: new ManualClock(),
    env: { ...env, KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443' },
    directory,
  });
  assert.equal(settings.server.href, 'https://[fd00::1]:6443/');
});

test('inClusterSettings() reads token and CA again after a minute', async (t) => {
  const clock = new ManualClock();
  const directory = await mounted(t, files);
  const { credentials, tls } = await inClusterSettings({ clock, env, directory });
  await credentials.authorization();
  await writeFile(join(directory, 'token'), 'two');
  await writeFile(join(directory, 'ca.crt'), 'NEW');
  clock.advance(seconds(60));
  assert.equal(await credentials.authorization(), 'Bearer two');
  assert.deepEqual(tls(), { ca: 'NEW' });
});

const faults: Record<
  string,
  { readonly env: object; readonly files: Readonly<Record<string, string>>; readonly want: RegExp }
> = {
  'without a host': {
    env: { KUBERNETES_SERVICE_HOST: undefined },
    files,
    want: /as KUBERNETES_SERVICE_HOST is not set, as it is in a pod$/,
  },
  'with a port that is none': {
    env: { KUBERNETES_SERVICE_PORT: 'tcp://x' },
    files,
    want: /KUBERNETES_SERVICE_PORT must be a port number: current value is "tcp:\/\/x"$/,
  },
  'without a token file': {
    env: {},
    files: { 'ca.crt': 'PEM' },
    want: /token" cannot be read \(ENOENT.*check automountServiceAccountToken$/,
  },
  'with an empty token file': {
    env: {},
    files: { ...files, token: '\n' },
    want: /token" is empty$/,
  },
  'without a CA file': { env: {}, files: { token: 'one' }, want: /ca\.crt" cannot be read/ },
};

for (const [when, { env: change, files: present, want }] of Object.entries(faults)) {
  test(`inClusterSettings() says why it cannot be used ${when}`, async (t) => {
    const directory = await mounted(t, present);
    const options = { clock: new ManualClock(), env: { ...env, ...change }, directory };
    await assert.rejects(inClusterSettings(options), (error) => {
      assert.ok(error instanceof ConnectionSettingsError);
      assert.match(error.message, want);
      return true;
    });
  });
}
