import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import { type ConnectionSettings, ConnectionSettingsError } from './connection.ts';
import { kubeconfigSettings } from './kubeconfig.ts';

interface Parts {
  readonly cluster?: object;
  readonly user?: object;
  readonly contexts?: readonly string[];
  readonly current?: string;
  readonly clusterName?: string;
  readonly userName?: string;
}

// JSON is YAML.
function config(parts: Parts = {}): string {
  const context = { cluster: 'c', user: 'u', namespace: 'demo' };
  return JSON.stringify({
    clusters: [
      { name: parts.clusterName ?? 'c', cluster: { server: 'https://api:6443', ...parts.cluster } },
    ],
    users: [{ name: parts.userName ?? 'u', user: parts.user ?? { token: 'secret' } }],
    contexts: (parts.contexts ?? ['main']).map((name) => ({ name, context })),
    'current-context': parts.current ?? 'main',
  });
}

async function fileOf(t: TestContext, text: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
  t.after(() => rm(directory, { recursive: true }));
  const path = join(directory, 'config');
  await writeFile(path, text);
  return path;
}

async function settingsOf(t: TestContext, parts: Parts): Promise<ConnectionSettings> {
  return kubeconfigSettings({ clock: new ManualClock(), path: await fileOf(t, config(parts)) });
}

const PEM = Buffer.from('PEM').toString('base64');

test('kubeconfigSettings() reads server, namespace and token', async (t) => {
  const settings = await settingsOf(t, {});
  assert.equal(settings.server.href, 'https://api:6443/');
  assert.equal(settings.namespace, 'demo');
  assert.equal(await settings.credentials.authorization(), 'Bearer secret');
});

test('kubeconfigSettings() prefers the server of -kubernetes.api-url (FL-14)', async (t) => {
  const path = await fileOf(t, config());
  const options = { clock: new ManualClock(), path, apiUrl: 'http://127.0.0.1:8001' };
  assert.equal((await kubeconfigSettings(options)).server.href, 'http://127.0.0.1:8001/');
});

test('kubeconfigSettings() reaches a plain HTTP server with the token of its user', async (t) => {
  const settings = await settingsOf(t, { cluster: { server: 'http://127.0.0.1:8080' } });
  assert.equal(settings.server.href, 'http://127.0.0.1:8080/');
  assert.equal(await settings.credentials.authorization(), 'Bearer secret');
});

test('kubeconfigSettings() takes the only context when none is current', async (t) => {
  assert.equal((await settingsOf(t, { current: '' })).namespace, 'demo');
});

test('kubeconfigSettings() reads CA and client certificate', async (t) => {
  const user = { 'client-certificate-data': PEM, 'client-key-data': PEM };
  const { tls } = await settingsOf(t, { cluster: { 'certificate-authority-data': PEM }, user });
  const bytes = Buffer.from('PEM');
  assert.deepEqual(tls(), { ca: bytes, cert: bytes, key: bytes });
});

test('kubeconfigSettings() reads tls-server-name, insecure-skip-tls-verify and proxy-url', async (t) => {
  const settings = await settingsOf(t, {
    cluster: {
      'tls-server-name': 'kubernetes',
      'insecure-skip-tls-verify': true,
      'proxy-url': 'http://proxy:3128',
    },
  });
  assert.equal(settings.tls().serverName, 'kubernetes');
  assert.equal(settings.tls().isInsecure, true);
  assert.equal(settings.proxy, 'http://proxy:3128');
});

test('kubeconfigSettings() makes basic credentials of user name and password', async (t) => {
  const { credentials } = await settingsOf(t, { user: { username: 'a', password: 'b' } });
  assert.equal(await credentials.authorization(), 'Basic YTpi');
});

test('kubeconfigSettings() runs a credential plugin', async (t) => {
  const credential = JSON.stringify({ status: { token: 'of-the-plugin' } });
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: process.execPath,
    args: ['-e', `console.log(${JSON.stringify(credential)})`],
  };
  const { credentials } = await settingsOf(t, { user: { exec } });
  assert.equal(await credentials.authorization(), 'Bearer of-the-plugin');
});

const faults: Record<string, { readonly text: string; readonly want: RegExp }> = {
  'it is empty': { text: ' \n', want: /: it is empty$/ },
  'it is no YAML': { text: 'a: [', want: /: it is not a kubeconfig: / },
  'it is a plain text': { text: 'hello', want: /: it has no contexts$/ },
  'it has several contexts and no current one': {
    text: config({ contexts: ['a', 'b'], current: '' }),
    want: /: it has no current-context: set it to one of "a", "b"$/,
  },
  'its current context does not exist': {
    text: config({ current: 'gone' }),
    want: /: its current-context is "gone", it has only "main"$/,
  },
  'its context names a cluster that it does not have': {
    text: config({ clusterName: 'other' }),
    want: /: context "main" names cluster "c", which it does not have$/,
  },
  'its context names a user that it does not have': {
    text: config({ userName: 'other' }),
    want: /: context "main" names user "u", which it does not have$/,
  },
  'its server is no URL': {
    text: config({ cluster: { server: 'api:6443' } }),
    want: /: the server must be an http or https URL: current value is "api:6443"$/,
  },
  'its plugin cannot be run': {
    text: config({ user: { exec: { command: './no-such-plugin' } } }),
    want: /: its credentials cannot be had: .*no-such-plugin/,
  },
};

for (const [why, { text, want }] of Object.entries(faults)) {
  test(`kubeconfigSettings() refuses a file when ${why}`, async (t) => {
    const path = await fileOf(t, text);
    await assert.rejects(kubeconfigSettings({ clock: new ManualClock(), path }), (error) => {
      assert.ok(error instanceof ConnectionSettingsError, String(error));
      assert.match(error.message, want);
      assert.match(error.message, /^Cannot use kubeconfig ".*config": /);
      return true;
    });
  });
}

test('kubeconfigSettings() refuses a path where there is nothing', async () => {
  const options = { clock: new ManualClock(), path: '/no/such/file' };
  await assert.rejects(kubeconfigSettings(options), {
    message: 'Cannot use kubeconfig "/no/such/file": it does not exist',
  });
});

test('kubeconfigSettings() refuses a directory', async () => {
  const options = { clock: new ManualClock(), path: tmpdir() };
  await assert.rejects(kubeconfigSettings(options), /: it is a directory, not a file$/);
});

test('kubeconfigSettings() says what to do where the library is not installed', async (t) => {
  const path = await fileOf(t, config());
  const missing = Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
  const library = (): Promise<never> => Promise.reject(missing);
  await assert.rejects(kubeconfigSettings({ clock: new ManualClock(), path, library }), {
    name: 'ConnectionSettingsError',
    message: `Cannot use kubeconfig "${path}": this installation was made without the package @kubernetes/client-node, which reads it: install that as well, or run in a pod of the cluster`,
  });
});

test('kubeconfigSettings() calls no other failure of the library a missing one', async (t) => {
  const path = await fileOf(t, config());
  const library = (): Promise<never> => Promise.reject(new Error('broken'));
  const options = { clock: new ManualClock(), path, library };
  await assert.rejects(kubeconfigSettings(options), { name: 'Error', message: 'broken' });
});
