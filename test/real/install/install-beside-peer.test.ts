/** What the chart looks up of the peer before it is installed in its place, as real helm asks an API server. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { chartFolder, Renderer } from '../../real-cluster/rendered.ts';

const deployments = {
  name: 'deployments',
  singularName: 'deployment',
  namespaced: true,
  kind: 'Deployment',
  verbs: ['get', 'list'],
};

interface Running {
  readonly image: string;
  readonly replicas: number;
  /** @default mimir */
  readonly release?: string;
}

/** Serves what helm asks for before a lookup, and one Deployment of `release`. */
function serverOf({ image, replicas, release = 'mimir' }: Running): Server {
  const groupVersion = { groupVersion: 'apps/v1', version: 'v1' };
  const labels = {
    'app.kubernetes.io/instance': release,
    'helm.sh/chart': 'rollout-operator-0.37.0',
  };
  const deployment = {
    metadata: { name: `${release}-rollout-operator`, namespace: 'cells', labels },
    spec: { replicas, template: { spec: { containers: [{ name: 'rollout-operator', image }] } } },
    status: replicas === 0 ? {} : { replicas },
  };
  const answers: Readonly<Record<string, object>> = {
    '/version': { major: '1', minor: '36', gitVersion: 'v1.36.0' },
    '/api': { kind: 'APIVersions', versions: ['v1'] },
    '/apis': {
      kind: 'APIGroupList',
      groups: [{ name: 'apps', versions: [groupVersion], preferredVersion: groupVersion }],
    },
    '/api/v1': {
      kind: 'APIResourceList',
      groupVersion: 'v1',
      resources: ['Secret', 'ConfigMap'].map((kind) => {
        const name = `${kind.toLowerCase()}s`;
        return { ...deployments, kind, name, singularName: '' };
      }),
    },
    '/apis/apps/v1': {
      kind: 'APIResourceList',
      groupVersion: 'apps/v1',
      resources: [deployments],
    },
    '/apis/apps/v1/namespaces/cells/deployments': {
      apiVersion: 'apps/v1',
      kind: 'DeploymentList',
      items: [deployment, { metadata: { name: 'another' }, spec: {}, status: { replicas: 1 } }],
    },
  };
  const missing = { kind: 'Status', status: 'Failure', reason: 'NotFound', code: 404 };
  return createServer(({ url = '' }, response) => {
    const found = answers[new URL(url, 'http://localhost').pathname];
    response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(found ?? missing));
  });
}

describe('the chart in place of the peer', () => {
  let renderer: Renderer;

  before(async () => {
    const say = (line: string): void => void process.stderr.write(`${line}\n`);
    renderer = await Renderer.create({ env: process.env, say });
  });

  after(() => renderer?.close());

  /** What helm says against the release mimir where `running` is there. */
  async function render(running: Running): Promise<string> {
    const server = serverOf(running);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const address = server.address();
      assert.ok(typeof address === 'object' && address !== null);
      const cluster = { server: `http://127.0.0.1:${address.port}` };
      const config = {
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [{ name: 'one', cluster }],
        contexts: [{ name: 'one', context: { cluster: 'one', user: 'one' } }],
        users: [{ name: 'one', user: {} }],
        'current-context': 'one',
      };
      const kubeconfig = join(renderer.folder, `kubeconfig-${address.port}`);
      await writeFile(kubeconfig, JSON.stringify(config));
      const { code, stderr } = await renderer.helm([
        'template',
        'mimir',
        chartFolder,
        '--namespace=cells',
        '--dry-run=server',
        `--kubeconfig=${kubeconfig}`,
      ]);
      return code === 0 ? '' : stderr;
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  }

  for (const image of [
    'grafana/rollout-operator:v0.38.1',
    'docker.io/grafana/rollout-operator@sha256:1',
    'registry.example:5000/grafana/rollout-operator',
  ]) {
    test(`is refused while pods of ${image} are there`, async () => {
      const refusal = await render({ image, replicas: 1 });
      assert.ok(refusal.includes(`the Deployment "mimir-rollout-operator" still runs "${image}"`));
      assert.match(refusal, /scale it to 0, wait until its pods are gone, and try again/);
    });
  }

  test('is rendered when they are gone, and in place of another image', async () => {
    assert.equal(await render({ image: 'grafana/rollout-operator:v0.38.1', replicas: 0 }), '');
    assert.equal(
      await render({ image: 'registry.example/rollout-operator:0.1.0', replicas: 2 }),
      '',
    );
  });

  test('is refused beside another release that works in the namespace, whatever its image', async () => {
    const refusal = await render({ image: 'ours:0.1.0', replicas: 2, release: 'old' });
    assert.match(
      refusal,
      /the Deployment "old-rollout-operator" of the release "old" works in namespace "cells" already, and two operators must never work on the same StatefulSets: upgrade that release, or scale it to 0/,
    );
    assert.doesNotMatch(refusal, /"another"/);
  });

  test('is rendered beside another release that is scaled to 0', async () => {
    assert.equal(await render({ image: 'ours:0.1.0', replicas: 0, release: 'old' }), '');
  });
});
