import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type KubectlEnv, kubectlMissing, startKubectlEnv } from './kubectl-env.ts';

const skip = kubectlMissing();

const db = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 3
  serviceName: db
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: app, image: "db:1"}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: db}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: db}}}
`;

describe('kubectl rolls and drains', { skip }, () => {
  let env: KubectlEnv;

  before(async () => {
    env = await startKubectlEnv();
    for (const node of ['node-1', 'node-2']) await env.kubectl(['cordon', node]);
    await env.kubectl(['apply', '-f', '-'], db);
    await env.kubectl(['rollout', 'status', 'sts/db', '--timeout=20s']);
  });

  after(async () => {
    await env.close();
  });

  const imageOf = async (): Promise<string> =>
    env.kubectl([
      'get',
      'pods',
      '-l',
      'app=db',
      '-o',
      'jsonpath={.items[*].spec.containers[0].image}',
    ]);

  test('drain of a node under a budget evicts one pod after the other (T43)', async () => {
    const nodesOf = ['get', 'pods', '-l', 'app=db', '-o', 'jsonpath={.items[*].spec.nodeName}'];
    assert.equal(await env.kubectl(nodesOf), 'node-0 node-0 node-0');
    for (const node of ['node-1', 'node-2']) await env.kubectl(['uncordon', node]);
    const mostGone = mostUnreadyAtOnce(env);
    const drained = await env.run(['drain', 'node-0', '--timeout=60s']);
    assert.equal(drained.code, 0);
    assert.match(
      drained.stderr,
      /Cannot evict pod as it would violate the pod's disruption budget/,
    );
    assert.equal(mostGone(), 1);
    assert.doesNotMatch(await env.kubectl(nodesOf), /node-0/);
    assert.match(await env.kubectl(['get', 'node', 'node-0']), /Ready,SchedulingDisabled/);
  });

  test('rollout restart, status, history and undo follow the revisions', async () => {
    await env.kubectl(['rollout', 'restart', 'sts/db']);
    await env.kubectl(['rollout', 'status', 'sts/db', '--timeout=30s']);
    await env.kubectl(['set', 'image', 'sts/db', 'app=db:2']);
    await env.kubectl(['rollout', 'status', 'sts/db', '--timeout=30s']);
    assert.equal(await imageOf(), 'db:2 db:2 db:2');
    const history = await env.kubectl(['rollout', 'history', 'sts/db']);
    assert.match(history, /^1 .*\n2 .*\n3 .*$/m);
    const third = await env.kubectl(['rollout', 'history', 'sts/db', '--revision=3']);
    assert.match(third, /Image:\s+db:2/);
    await env.kubectl(['rollout', 'undo', 'sts/db']);
    await env.kubectl(['rollout', 'status', 'sts/db', '--timeout=30s']);
    assert.equal(await imageOf(), 'db:1 db:1 db:1');
  });

  test('wait meets a condition, and delete waits for the end', async () => {
    await env.kubectl(['delete', 'pod', 'db-0', '--timeout=20s']);
    await env.kubectl(['wait', '--for=create', 'pod/db-0', '--timeout=20s']);
    await env.kubectl(['wait', '--for=condition=Ready', 'pod/db-0', '--timeout=20s']);
  });

  test('auth can-i answers from the rules that are in force', async () => {
    assert.equal(await env.kubectl(['auth', 'can-i', 'create', 'pods/eviction']), 'yes\n');
  });

  test('events lists what happened to an object', async () => {
    const events = await env.kubectl(['events', '--for', 'statefulset/db']);
    assert.match(events, /SuccessfulCreate +StatefulSet\/db +create Pod db-0/);
  });
});

/** From now on counts how many pods of the set are missing or not ready at once; the answer is the most. */
function mostUnreadyAtOnce(env: KubectlEnv): () => number {
  const collection = env.cluster.context.store.collection('pods');
  let most = 0;
  const count = (): void => {
    const ready = collection
      .list('default')
      .filter(({ object }) => /"type":"Ready","status":"True"/.test(JSON.stringify(object)));
    most = Math.max(most, 3 - ready.length);
  };
  collection.onChange(count);
  return () => most;
}
