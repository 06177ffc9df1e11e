/** kubectl rolls, waits and drains (CL-4, CL-8, CL-9, CL-12), for every cluster. */
import assert from 'node:assert/strict';
import type { JsonObject } from '#base/json.ts';
import { objectsAt } from '#cluster/json/read-json.ts';
import type { KubectlSuite } from './kubectl.ts';
import type { KubectlEnv } from './kubectl-env.ts';

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

const status = ['rollout', 'status', 'sts/db', '--timeout=30s'];
const images = 'jsonpath={.items[*].spec.containers[0].image}';

async function imageOf({ kubectl }: KubectlEnv): Promise<string> {
  return kubectl(['get', 'pods', '-l', 'app=db', '-o', images]);
}

function isReady(pod: JsonObject | undefined): boolean {
  const conditions = pod === undefined ? [] : objectsAt(pod, 'status', 'conditions');
  return conditions.some(({ type, status: value }) => type === 'Ready' && value === 'True');
}

/** How many of the three pods were missing or not ready at once, at most, among the changes from `since` on. */
function mostUnready(env: KubectlEnv, since: number): number {
  const ready = new Set<string>();
  let most = 0;
  for (const [at, { resource, name, after }] of env.history().entries()) {
    if (resource !== 'pods') continue;
    if (isReady(after)) ready.add(name);
    else ready.delete(name);
    if (at >= since) most = Math.max(most, 3 - ready.size);
  }
  return most;
}

/** See above. */
export const rollouts: KubectlSuite = {
  name: 'kubectl rolls and drains',
  prepare: async ({ kubectl }) => {
    for (const node of ['node-1', 'node-2']) await kubectl(['cordon', node]);
    await kubectl(['apply', '-f', '-'], db);
    await kubectl(status);
  },
  tests: {
    'drain of a node under a budget evicts one pod after the other (cluster 43)': async (env) => {
      const { kubectl, run } = env;
      const nodes = 'jsonpath={.items[*].spec.nodeName}';
      const nodesOf = ['get', 'pods', '-l', 'app=db', '-o', nodes];
      assert.equal(await kubectl(nodesOf), 'node-0 node-0 node-0');
      for (const node of ['node-1', 'node-2']) await kubectl(['uncordon', node]);
      const since = env.history().length;
      const drained = await run(['drain', 'node-0', '--timeout=60s']);
      assert.equal(drained.code, 0, drained.stderr);
      assert.match(
        drained.stderr,
        /Cannot evict pod as it would violate the pod's disruption budget/,
      );
      assert.equal(mostUnready(env, since), 1);
      assert.doesNotMatch(await kubectl(nodesOf), /node-0/);
      assert.match(await kubectl(['get', 'node', 'node-0']), /Ready,SchedulingDisabled/);
      await kubectl(['uncordon', 'node-0']);
    },
    'rollout restart, status, history and undo follow the revisions': async (env) => {
      const { kubectl, run } = env;
      await kubectl(['rollout', 'restart', 'sts/db']);
      await kubectl(status);
      await kubectl(['set', 'image', 'sts/db', 'app=db:2']);
      await kubectl(status);
      assert.equal(await imageOf(env), 'db:2 db:2 db:2');
      const history = await kubectl(['rollout', 'history', 'sts/db']);
      assert.match(history, /^1 .*\n2 .*\n3 .*$/m);
      const third = await kubectl(['rollout', 'history', 'sts/db', '--revision=3']);
      assert.match(third, /Image:\s+db:2/);
      await kubectl(['rollout', 'undo', 'sts/db']);
      await kubectl(status);
      assert.equal(await imageOf(env), 'db:1 db:1 db:1');
      await kubectl(['rollout', 'undo', 'sts/db', '--to-revision=3']);
      await kubectl(status);
      assert.equal(await imageOf(env), 'db:2 db:2 db:2');
      const none = await run(['rollout', 'undo', 'sts/db', '--to-revision=77']);
      assert.match(none.stderr, /unable to find specified revision 77/);
    },
    'set changes variables, limits and the account of a template': async ({ kubectl, run }) => {
      await kubectl(['set', 'env', 'sts/db', 'A=1']);
      await kubectl(['set', 'resources', 'sts/db', '--limits=cpu=1,memory=1Gi']);
      const shown = await kubectl(['set', 'env', 'sts/db', '--list']);
      assert.match(shown, /^A=1$/m);
      const limits = 'jsonpath={.spec.template.spec.containers[0].resources.limits}';
      const found = await kubectl(['get', 'sts', 'db', '-o', limits]);
      assert.equal(found, '{"cpu":"1","memory":"1Gi"}');
      const unknown = await run(['set', 'image', 'sts/db', 'nope=db:3']);
      assert.match(unknown.stderr, /unable to find container named "nope"/);
      await kubectl(status);
    },
    'wait meets a condition, and delete waits for the end': async ({ kubectl, run }) => {
      await kubectl(['delete', 'pod', 'db-0', '--timeout=20s']);
      await kubectl(['wait', '--for=create', 'pod/db-0', '--timeout=20s']);
      await kubectl(['wait', '--for=condition=Ready', 'pod/db-0', '--timeout=20s']);
      await kubectl([
        'wait',
        '--for=jsonpath={.status.readyReplicas}=3',
        'sts/db',
        '--timeout=20s',
      ]);
      const vain = await run(['wait', '--for=condition=Nope', 'pod/db-0', '--timeout=1s']);
      assert.match(vain.stderr, /timed out waiting for the condition/);
    },
    'events lists what happened to an object': async ({ kubectl }) => {
      const events = await kubectl(['events', '--for', 'statefulset/db']);
      assert.match(events, /SuccessfulCreate +StatefulSet\/db +[Cc]reate Pod db-0/);
    },
  },
};
