import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { findBinaries } from '../../real-cluster/control-plane/binaries.ts';
import { startControlPlane } from '../../real-cluster/control-plane/control-plane.ts';
import { chosenCluster } from '../../real-cluster/control-plane/existing-cluster.ts';
import { startRealLane } from '../../real-cluster/real-lane.ts';
import { images, isComplete, setImage } from '../../scenarios/group.ts';

const twoContexts = `
apiVersion: v1
kind: Config
current-context: production
contexts:
- name: production
  context: { cluster: production, user: me }
- name: throwaway
  context: { cluster: throwaway, user: me }
`;

let folder: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'existing-'));
});

after(async () => {
  await rm(folder, { recursive: true });
});

async function kubeconfig(text: string): Promise<string> {
  const path = join(folder, 'kubeconfig');
  await writeFile(path, text, { mode: 0o600 });
  return path;
}

describe('chosenCluster()', () => {
  test('is the context of TEST_KUBECONFIG that the command line names', async () => {
    const path = await kubeconfig(twoContexts);
    const chosen = await chosenCluster({ TEST_KUBECONFIG: path }, 'throwaway');
    assert.deepEqual(chosen, { path, context: 'throwaway' });
  });

  test('refuses TEST_KUBECONFIG when no context was named, whatever the current one is', async () => {
    const path = await kubeconfig(twoContexts);
    await assert.rejects(
      chosenCluster({ TEST_KUBECONFIG: path }, undefined),
      /name the context to run on with --context, one of "production", "throwaway"$/,
    );
  });

  test('refuses a context that the file does not have, and one without a file', async () => {
    const path = await kubeconfig(twoContexts);
    await assert.rejects(
      chosenCluster({ TEST_KUBECONFIG: path }, 'other'),
      /"other", but TEST_KUBECONFIG has "production", "throwaway"$/,
    );
    await assert.rejects(
      chosenCluster({}, 'throwaway'),
      /"throwaway", but TEST_KUBECONFIG names no kubeconfig$/,
    );
    assert.equal(await chosenCluster({}, undefined), undefined);
  });
});

describe('startRealLane()', () => {
  test('runs on an existing control plane without nodes, refuses one with nodes, and leaves it as it was', {
    timeout: 180_000,
  }, async () => {
    const say = (): void => undefined;
    const binaries = await findBinaries({ env: process.env, say });
    const plane = await startControlPlane(binaries);
    try {
      const cluster = { path: await kubeconfig(plane.adminKubeconfig), context: 'real' };
      const lane = await startRealLane({ cluster });
      const env = await lane.env({ zones: ['a'], replicas: 2, maxUnavailable: 1 });
      const operator = await env.startOperator();
      await setImage(env, images.new);
      await env.until('the rollout is complete', () => isComplete(env, images.new));
      await operator.stop();
      await env.close();
      await lane.close();
      const { items } = await plane.admin.list(resourceTypes.namespaces, {});
      const left = items
        .map(({ metadata }) => metadata.name)
        .filter((name) => !name.startsWith('kube-'));
      assert.deepEqual(left, ['default']);
      assert.deepEqual((await plane.admin.list(resourceTypes.nodes, {})).items, []);
      const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'worker-1' } };
      await plane.admin.create(resourceTypes.nodes, { name: 'worker-1' }, { body: node });
      await assert.rejects(startRealLane({ cluster }), /context "real" has node "worker-1"/);
    } finally {
      await plane.close();
    }
  });
});
