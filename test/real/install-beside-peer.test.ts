/** What the chart looks up of the peer before it is installed in its place, as real helm asks an API server. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { chartFolder, Renderer } from '../real-cluster/rendered.ts';

const deployments = {
  name: 'deployments',
  singularName: 'deployment',
  namespaced: true,
  kind: 'Deployment',
  verbs: ['get', 'list'],
};

/** Serves what helm asks for before a lookup, and one Deployment of the release mimir. */
function serverOf(image: string, replicas: number): Server {
  const groupVersion = { groupVersion: 'apps/v1', version: 'v1' };
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
    '/apis/apps/v1/namespaces/cells/deployments/mimir-rollout-operator': {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'mimir-rollout-operator', namespace: 'cells' },
      spec: { replicas, template: { spec: { containers: [{ name: 'rollout-operator', image }] } } },
      status: replicas === 0 ? {} : { replicas },
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

  async function render(image: string, replicas: number): Promise<string> {
    const server = serverOf(image, replicas);
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
      const refusal = await render(image, 1);
      assert.ok(refusal.includes(`the Deployment "mimir-rollout-operator" still runs "${image}"`));
      assert.match(refusal, /scale it to 0, wait until its pods are gone, and try again/);
    });
  }

  test('is rendered when they are gone, and in place of another image', async () => {
    assert.equal(await render('grafana/rollout-operator:v0.38.1', 0), '');
    assert.equal(await render('registry.example/rollout-operator:0.1.0', 2), '');
  });
});
