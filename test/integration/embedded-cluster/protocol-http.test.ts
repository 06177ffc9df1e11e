/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-return -- answers are looked into by path, and a wrong path fails the assertion */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import type { Clock } from '#base/clock.ts';
import { instant, monotonic } from '#base/units.ts';
import { VirtualClock } from '#cluster/clock/virtual-clock.ts';
import { createCluster } from '#cluster/create-cluster.ts';
import { CONFIG_MAPS } from './protocol-env.ts';

/** Real time for the one lane that has sockets. */
const realClock: Clock = {
  now: () => instant(Date.now()),
  monotonic: () => monotonic(performance.now()),
  timer: (delay, fire) => {
    const timer = setTimeout(fire, delay).unref();
    return { cancel: () => clearTimeout(timer) };
  },
  sleep: async (delay) => {
    await new Promise((resolve) => {
      setTimeout(resolve, delay);
    });
  },
  yield: async () => {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  },
};

function tokenOf(kubeconfig: string): string {
  return /token: (\S+)/.exec(kubeconfig)?.[1] ?? '';
}

test('the listener serves requests over HTTP to clients that have a token', async () => {
  const cluster = await createCluster({ clock: realClock, seed: 1 });
  const listener = await cluster.listen();
  const headers = {
    authorization: `Bearer ${tokenOf(listener.kubeconfig())}`,
    'content-type': 'application/json',
  };
  try {
    const body = JSON.stringify({ metadata: { name: 'demo' } });
    const created = await fetch(`${listener.url}/api/v1/namespaces`, {
      method: 'POST',
      body,
      headers,
    });
    assert.equal(created.status, 201);
    const refused = await fetch(`${listener.url}/api/v1/namespaces`);
    assert.equal(refused.status, 401);
    const healthy = await fetch(`${listener.url}/livez`, { headers });
    assert.equal(await healthy.text(), 'ok');
  } finally {
    await cluster.close();
  }
});

test('a watch over HTTP streams events and its connection can be broken', async () => {
  const cluster = await createCluster({ clock: realClock, seed: 1 });
  const listener = await cluster.listen();
  const headers = {
    authorization: `Bearer ${tokenOf(listener.kubeconfig())}`,
    'content-type': 'application/json',
  };
  const path = CONFIG_MAPS.replace('demo', 'default');
  try {
    const answered = new Promise<string>((resolve, reject) => {
      const opened = request(`${listener.url}${path}?watch=1`, { headers });
      opened.on('response', (response) => {
        response.once('data', (chunk: Buffer) => resolve(chunk.toString()));
        response.on('error', () => undefined);
        const body = JSON.stringify({ metadata: { name: 'a' } });
        fetch(`${listener.url}${path}`, { method: 'POST', body, headers }).catch(reject);
      });
      opened.on('error', reject);
      opened.end();
    });
    const event = JSON.parse(await answered);
    assert.deepEqual([event.type, event.object.metadata.name], ['ADDED', 'a']);
    const [session] = cluster.faults.watches();
    session?.break();
    assert.deepEqual(cluster.faults.watches(), []);
  } finally {
    await cluster.close();
  }
});

test('a virtual clock cannot be listened with (CK-5)', async () => {
  const simulated = await createCluster({ clock: new VirtualClock(), seed: 1 });
  await assert.rejects(simulated.listen(), /Cannot listen with a virtual clock/);
});

test('a listener with TLS is trusted by its kubeconfig, and by nothing else', async () => {
  const cluster = await createCluster({ clock: realClock, seed: 1 });
  try {
    const listener = await cluster.listen({ isTls: true });
    assert.match(listener.url, /^https:/);
    const certificate = Buffer.from(listener.ca ?? '').toString('base64');
    assert.ok(listener.kubeconfig().includes(certificate));
    assert.doesNotMatch(listener.kubeconfig(), /insecure-skip-tls-verify/);
    await assert.rejects(fetch(`${listener.url}/version`), /fetch failed/);
  } finally {
    await cluster.close();
  }
});
