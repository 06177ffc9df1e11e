/* oxlint-disable typescript/no-unsafe-assignment -- answers are looked into by path, and a wrong path fails the assertion */
/** Budgets and evictions, for every cluster. */
import assert from 'node:assert/strict';
import type { JsonObject } from '#base/json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { Answer, Env } from '../env.ts';
import type { Scenario } from '../rollouts.ts';
import { createReadySet, deletePod, isReady, names, nodeOf, uidOf } from './sets.ts';

interface Budget {
  readonly metadata: { readonly generation: number };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly disruptionsAllowed?: number;
    readonly currentHealthy?: number;
    readonly expectedPods?: number;
    readonly disruptedPods?: JsonObject;
  };
}

function budgetOf(env: Env, name = 'db'): Budget | undefined {
  return env.stored('poddisruptionbudgets.policy', name) as unknown as Budget | undefined;
}

async function createBudget(env: Env, spec: JsonObject, name = 'db'): Promise<void> {
  const metadata = { name, namespace: env.namespace };
  const selector = { matchLabels: { app: 'db' } };
  const body = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata,
    spec: { selector, ...spec },
  };
  await env.run(env.admin.create(resourceTypes.podDisruptionBudgets, metadata, { body }));
  await untilCounted(env, name);
}

/** Waits until the controller has seen the budget as it is. */
async function untilCounted(env: Env, name = 'db'): Promise<void> {
  await env.until(`budget ${name} is counted`, () => {
    const budget = budgetOf(env, name);
    return (
      budget?.status?.observedGeneration === budget?.metadata.generation && budget !== undefined
    );
  });
}

async function untilAllowed(env: Env, count: number): Promise<void> {
  await env.until(`${count} disruptions are allowed`, () => {
    return budgetOf(env)?.status?.disruptionsAllowed === count;
  });
}

/** Waits until the controller has counted so many healthy pods; what is allowed is 0 long before all are unready. */
async function untilHealthy(env: Env, count: number): Promise<void> {
  await env.until(`${count} pods are healthy`, () => {
    return budgetOf(env)?.status?.currentHealthy === count;
  });
}

/** Evicts pods, all at once. */
function evictAll(env: Env, pods: readonly string[], query = ''): Promise<readonly Answer[]> {
  const { namespace } = env;
  const answers = pods.map((name) => {
    const path = `/api/v1/namespaces/${namespace}/pods/${name}/eviction${query}`;
    const metadata = { name, namespace };
    return env.ask('POST', path, { apiVersion: 'policy/v1', kind: 'Eviction', metadata });
  });
  return env.run(Promise.all(answers));
}

async function evict(env: Env, pod: string, query = ''): Promise<Answer> {
  const [answer] = await evictAll(env, [pod], query);
  if (answer === undefined) throw new Error('An eviction was not answered');
  return answer;
}

/** The time of the cluster, in whole seconds of ms; what shows it is named `name`. */
async function timeOf(env: Env, name: string): Promise<number> {
  const path = `/api/v1/namespaces/${env.namespace}/configmaps`;
  const { body } = await env.ask('POST', path, { metadata: { name } });
  return Date.parse(body.metadata.creationTimestamp);
}

/** Ready pods of one set under a budget whose status is up to date. */
async function guarded(env: Env, spec: JsonObject, replicas = 3): Promise<void> {
  await createReadySet(env, { replicas, podManagementPolicy: 'Parallel' });
  await createBudget(env, spec);
}

async function makeUnready(env: Env, name: string, left: number): Promise<void> {
  const { namespace } = env;
  env.kubelet.behaviours.add({ behave: 'neverReady', match: { name, namespace } });
  await env.until(
    `${left} pods are ready`,
    () => names(env).filter((each) => isReady(env, each)).length === left,
  );
}

/** Nobody but `update` changes the budget: its controller may want to at the same time. */
async function patchBudget(env: Env, document: JsonObject): Promise<void> {
  const key = { namespace: env.namespace, name: 'db' };
  const body = { kind: 'merge', document } as const;
  await env.run(env.admin.patch(resourceTypes.podDisruptionBudgets, key, { body }));
}

async function cordon(env: Env, node: string, isOn: boolean): Promise<void> {
  const document = { spec: { unschedulable: isOn ? true : null } };
  const patch = { kind: 'merge', document } as const;
  await env.run(env.admin.patch(resourceTypes.nodes, { name: node }, { body: patch }));
}

/** Keyed by a sentence. */
export const disruption: Readonly<Record<string, Scenario>> = {
  '[cluster 38] a budget lets one pod go, refuses the next with a cause, and recovers': {
    act: async (env) => {
      await guarded(env, { maxUnavailable: 1 });
      await untilAllowed(env, 1);
      const first = await evict(env, 'db-0');
      assert.deepEqual([first.status, first.body.status], [201, 'Success']);
      const second = await evict(env, 'db-1');
      assert.equal(second.status, 429);
      assert.equal(
        second.body.message,
        "Cannot evict pod as it would violate the pod's disruption budget.",
      );
      assert.equal(second.body.details.causes[0].reason, 'DisruptionBudget');
      await untilAllowed(env, 1);
      assert.equal((await evict(env, 'db-1')).status, 201);
    },
  },
  '[cluster 38] an eviction marks the pod and takes a disruption, and a dry run does neither': {
    act: async (env) => {
      await guarded(env, { maxUnavailable: 1 });
      await untilAllowed(env, 1);
      const before = env.stored('pods', 'db-0');
      assert.equal((await evict(env, 'db-0', '?dryRun=All')).status, 201);
      assert.equal(env.stored('pods', 'db-0'), before);
      await evict(env, 'db-0');
      // What is stored is heard of a moment after the answer.
      await env.until('the pod is marked, and the disruption taken', () => {
        const seen = env
          .history()
          .some(
            ({ resource, after }) =>
              resource === 'pods' &&
              /"type":"DisruptionTarget","status":"True".*"EvictionByEvictionAPI"/.test(
                JSON.stringify(after),
              ),
          );
        const taken = env.history().some(({ resource, after }) => {
          const { status } = (after ?? {}) as { status?: Budget['status'] };
          return (
            resource === 'poddisruptionbudgets.policy' &&
            status?.disruptedPods?.['db-0'] !== undefined
          );
        });
        return seen && taken;
      });
    },
  },
  '[cluster 39] an unready pod goes while enough others are healthy, though nothing is allowed': {
    act: async (env) => {
      await guarded(env, { maxUnavailable: 1 });
      await makeUnready(env, 'db-0', 2);
      await untilAllowed(env, 0);
      assert.equal((await evict(env, 'db-1')).status, 429);
      assert.equal((await evict(env, 'db-0')).status, 201);
    },
  },
  '[cluster 39] an unready pod stays while too few are healthy, and goes under AlwaysAllow': {
    act: async (env) => {
      await guarded(env, { maxUnavailable: 1 });
      await makeUnready(env, '*', 0);
      await untilHealthy(env, 0);
      assert.equal((await evict(env, 'db-0')).status, 429);
      await patchBudget(env, { spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' } });
      assert.equal((await evict(env, 'db-0')).status, 201);
    },
  },
  '[cluster 39] a pending pod always goes': {
    act: async (env) => {
      await guarded(env, { maxUnavailable: 0 });
      const { namespace } = env;
      env.kubelet.behaviours.add({
        behave: 'imagePullBackOff',
        match: { name: 'db-0', namespace },
      });
      const uid = uidOf(env, 'db-0');
      await deletePod(env, 'db-0');
      await env.until(
        'db-0 is replaced',
        () => uidOf(env, 'db-0') !== uid && nodeOf(env, 'db-0') !== '',
      );
      assert.equal((await evict(env, 'db-1')).status, 429);
      assert.equal((await evict(env, 'db-0')).status, 201);
    },
  },
  '[cluster 41] two budgets of one pod: the answer is 500, the pod stays': {
    act: async (env) => {
      await guarded(env, { maxUnavailable: 1 });
      await createBudget(env, { minAvailable: 1 }, 'second');
      const { status, body } = await evict(env, 'db-0');
      assert.deepEqual([status, body.status, body.code], [500, 'Failure', 500]);
      assert.equal(isReady(env, 'db-0'), true);
    },
  },
  '[cluster 42] twenty evictions at once never exceed the budget': {
    act: async (env) => {
      await guarded(env, { maxUnavailable: 3 }, 20);
      await untilAllowed(env, 3);
      // None comes back before all have been asked.
      const { namespace } = env;
      env.kubelet.behaviours.add({ behave: 'stuckTerminating', match: { namespace } });
      const answers = await evictAll(env, names(env));
      assert.equal(answers.filter(({ status }) => status === 201).length, 3);
      assert.equal(answers.filter(({ status }) => status === 429).length, 17);
    },
  },
  '[cluster 42] a disruption whose pod stays is given back after two minutes': {
    act: async (env) => {
      await guarded(env, { maxUnavailable: 1 });
      const now = await timeOf(env, 'before');
      const begun = new Date(now - 105_000).toISOString().replace('.000Z', 'Z');
      const taken = { disruptedPods: { 'db-0': begun }, disruptionsAllowed: 0 };
      const path = `/apis/policy/v1/namespaces/${env.namespace}/poddisruptionbudgets/db/status`;
      await env.ask('PATCH', path, { status: taken });
      await env.until('the disruption is stored', () => {
        return budgetOf(env)?.status?.disruptedPods?.['db-0'] !== undefined;
      });
      await untilAllowed(env, 1);
      assert.ok((await timeOf(env, 'after')) - now >= 15_000);
    },
  },
  '[cluster 43] a drain of a node under a budget evicts one pod after the other and completes': {
    act: async (env) => {
      for (const node of ['node-1', 'node-2']) await cordon(env, node, true);
      await guarded(env, { maxUnavailable: 1 });
      for (const node of ['node-1', 'node-2']) await cordon(env, node, false);
      await cordon(env, 'node-0', true);
      const from = env.history().length;
      for (const name of names(env)) {
        const uid = uidOf(env, name);
        await untilAllowed(env, 1);
        assert.equal((await evict(env, name)).status, 201);
        await env.until(
          `${name} is replaced`,
          () => uidOf(env, name) !== uid && isReady(env, name),
        );
      }
      await cordon(env, 'node-0', false);
      const down = env.history().slice(from);
      assert.equal(
        down.filter(({ verb, resource }) => verb === 'create' && resource === 'pods').length,
        3,
      );
      assert.deepEqual(
        names(env)
          .map((name) => nodeOf(env, name))
          .filter((node) => node === 'node-0'),
        [],
      );
    },
  },
};
