/* oxlint-disable typescript/no-unsafe-assignment -- answers are looked into by path, and a wrong path fails the assertion */
/** What the StatefulSet controller does, for every cluster. */
import assert from 'node:assert/strict';
import type { JsonObject } from '#base/json.ts';
import type { Env } from '../env.ts';
import type { Scenario } from '../rollouts.ts';
import {
  createReadySet,
  createSet,
  deletePod,
  deletions,
  imageOf,
  isObserved,
  isReady,
  mostDown,
  names,
  patchSet,
  replacePod,
  setDbImage,
  starts,
  statusOf,
  uidOf,
  untilOn,
  untilReady,
} from './sets.ts';

const partition = (value: number): JsonObject => ({
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: value } },
});

function breakPulls(env: Env): void {
  const match = { namespace: env.namespace, image: '*:broken' };
  env.kubelet.behaviours.add({ behave: 'imagePullBackOff', match });
}

/** A set whose highest pod cannot start, and whose template was then taken back; the controller has seen that. */
async function revertedWhileBroken(env: Env, spec: JsonObject = {}): Promise<void> {
  breakPulls(env);
  await createReadySet(env, spec);
  const first = statusOf(env).updateRevision;
  await setDbImage(env, 'db:broken');
  await env.until('db-2 is broken', () => imageOf(env, 'db-2') === 'db:broken');
  await setDbImage(env, 'db:1');
  await env.until(
    'the revert is seen',
    () => isObserved(env) && statusOf(env).updateRevision === first,
  );
}

/** Rolls five pods under `rollingUpdate.maxUnavailable`. @returns the most that were down at once */
async function downUnder(env: Env, limit: number | string, policy: string): Promise<number> {
  const rollingUpdate = { partition: 0, maxUnavailable: limit };
  const updateStrategy = { type: 'RollingUpdate', rollingUpdate };
  await createReadySet(env, { replicas: 5, podManagementPolicy: policy, updateStrategy });
  const from = env.history().length;
  await setDbImage(env, 'db:2');
  await untilOn(env, 'db:2', 5);
  return mostDown(env, 5, from);
}

/** Keyed by a sentence. */
export const statefulSets: Readonly<Record<string, Scenario>> = {
  '[cluster 30] an ordered set creates one pod after the other, each when the one before is ready':
    {
      act: async (env) => {
        await createReadySet(env, { replicas: 5 });
        const want = [0, 1, 2, 3, 4].flatMap((ordinal) => [
          `create db-${ordinal}`,
          `ready db-${ordinal}`,
        ]);
        assert.deepEqual(starts(env), want);
      },
    },
  'a pod is labelled with the zone of its node, and says which set its name is generated from': {
    needs: ['zoneLabels'],
    act: async (env) => {
      await createReadySet(env, { replicas: 1 });
      const path = `/api/v1/namespaces/${env.namespace}/pods/db-0`;
      const { body: pod } = await env.ask('GET', path);
      const { body: node } = await env.ask('GET', `/api/v1/nodes/${pod.spec.nodeName}`);
      const zone = 'topology.kubernetes.io/zone';
      assert.equal(pod.metadata.generateName, 'db-');
      assert.equal(pod.metadata.labels[zone], node.metadata.labels[zone]);
      assert.match(pod.metadata.labels[zone], /^zone-/);
      assert.equal(pod.metadata.labels['topology.kubernetes.io/region'], 'local');
    },
  },
  '[cluster 30] a parallel set creates all pods at once': {
    act: async (env) => {
      // A pod that is never ready stops an ordered set after itself.
      env.kubelet.behaviours.add({ behave: 'neverReady', match: { namespace: env.namespace } });
      await createSet(env, { replicas: 5, podManagementPolicy: 'Parallel' });
      await env.until('there are five pods', () => names(env).length === 5);
    },
  },
  '[cluster 31] a broken revision blocks an ordered set, and so does the revert, until the pod is deleted':
    {
      act: async (env) => {
        await revertedWhileBroken(env);
        assert.equal(imageOf(env, 'db-2'), 'db:broken');
        assert.deepEqual(deletions(env), ['db-2']);
        await deletePod(env, 'db-2');
        await untilReady(env);
        assert.equal(imageOf(env, 'db-2'), 'db:1');
      },
    },
  '[cluster 31] a parallel set recovers from a broken revision by the revert alone': {
    act: async (env) => {
      await revertedWhileBroken(env, { podManagementPolicy: 'Parallel' });
      await untilReady(env);
      assert.equal(imageOf(env, 'db-2'), 'db:1');
    },
  },
  '[cluster 32] a deleted pod is seen terminating, and its replacement has another uid': {
    act: async (env) => {
      await createReadySet(env);
      const uid = uidOf(env, 'db-1');
      await replacePod(env, 'db-1');
      const seen = env
        .history()
        .filter((change) => change.uid === uid)
        .at(-2)?.after;
      assert.match(JSON.stringify(seen), /"deletionTimestamp"/);
      assert.notEqual(uidOf(env, 'db-1'), uid);
    },
  },
  '[cluster 33] scaling down takes the highest pod first and waits for health; it goes before an update':
    {
      act: async (env) => {
        await createReadySet(env, { replicas: 5 });
        await patchSet(env, {
          replicas: 3,
          template: { spec: { containers: [{ name: 'main', image: 'db:2' }] } },
        });
        await untilOn(env, 'db:2', 3);
        assert.deepEqual(deletions(env), ['db-4', 'db-3', 'db-2', 'db-1', 'db-0']);
        assert.deepEqual(names(env), ['db-0', 'db-1', 'db-2']);
      },
    },
  '[cluster 34] OnDelete deletes nothing; a deleted pod returns updated; currentRevision never moves':
    {
      act: async (env) => {
        await createReadySet(env, { updateStrategy: { type: 'OnDelete' } });
        const first = statusOf(env).currentRevision;
        await setDbImage(env, 'db:2');
        await env.until(
          'the update is seen',
          () => isObserved(env) && statusOf(env).updateRevision !== first,
        );
        assert.deepEqual(deletions(env), []);
        for (const name of ['db-0', 'db-1', 'db-2']) {
          await replacePod(env, name);
          assert.equal(imageOf(env, name), 'db:2');
        }
        await untilOn(env, 'db:2');
        assert.equal(statusOf(env).currentRevision, first);
      },
    },
  '[cluster 35] a partition keeps lower pods, and gives a deleted one back at the old revision': {
    act: async (env) => {
      await createReadySet(env, { replicas: 5, ...partition(3) });
      const first = statusOf(env).currentRevision;
      await setDbImage(env, 'db:2');
      await env.until('two are updated', () => {
        const { updatedReplicas, readyReplicas } = statusOf(env);
        return updatedReplicas === 2 && readyReplicas === 5;
      });
      assert.deepEqual(deletions(env), ['db-4', 'db-3']);
      await replacePod(env, 'db-1');
      assert.equal(imageOf(env, 'db-1'), 'db:1');
      assert.equal(statusOf(env).currentRevision, first);
      await patchSet(env, partition(0));
      await untilOn(env, 'db:2', 5);
      await env.until('the revision is promoted', () => {
        const { currentRevision, updateRevision } = statusOf(env);
        return currentRevision === updateRevision && currentRevision !== first;
      });
    },
  },
  '[cluster 36] a pod becomes available only after minReadySeconds': {
    act: async (env) => {
      await createSet(env, { replicas: 1, minReadySeconds: 3 });
      await env.until('the pod is counted as ready', () => statusOf(env).readyReplicas === 1);
      assert.equal(statusOf(env).availableReplicas, 0);
      await env.until('the pod is available', () => statusOf(env).availableReplicas === 1);
    },
  },
  '[cluster 36] a ready pod that is terminating counts as ready, not as updated': {
    act: async (env) => {
      await createReadySet(env);
      env.kubelet.behaviours.add({
        behave: 'stuckTerminating',
        match: { namespace: env.namespace, name: 'db-1' },
      });
      await deletePod(env, 'db-1');
      await env.until('it no longer counts as updated', () => statusOf(env).updatedReplicas === 2);
      assert.deepEqual([statusOf(env).replicas, isReady(env, 'db-1')], [3, false]);
    },
  },
  '[cluster 37] a rollback reuses the name of the old revision under a higher number': {
    act: async (env) => {
      await createReadySet(env, { replicas: 1 });
      const { currentRevision = '' } = statusOf(env);
      await setDbImage(env, 'db:2');
      await untilOn(env, 'db:2', 1);
      await setDbImage(env, 'db:1');
      await untilOn(env, 'db:1', 1);
      await env.until(
        'the old revision is current',
        () => statusOf(env).currentRevision === currentRevision,
      );
      assert.equal(env.stored('controllerrevisions.apps', currentRevision)?.['revision'], 3);
      assert.equal(env.names('controllerrevisions.apps').length, 2);
    },
  },
  '[cluster 37] the history keeps revisionHistoryLimit old revisions': {
    act: async (env) => {
      await createReadySet(env, { replicas: 1, revisionHistoryLimit: 2 });
      for (const image of ['db:2', 'db:3', 'db:4', 'db:5']) {
        await setDbImage(env, image);
        await untilOn(env, image, 1);
      }
      const numbers = (): readonly number[] =>
        env
          .names('controllerrevisions.apps')
          .map((name) => Number(env.stored('controllerrevisions.apps', name)?.['revision']))
          .toSorted((one, other) => one - other);
      await env.until('three revisions are left', () => numbers().length === 3);
      assert.deepEqual(numbers(), [3, 4, 5]);
    },
  },
  '[cluster 37] maxUnavailable is ignored where the feature is off: one pod goes at a time': {
    act: async (env) => {
      assert.equal(await downUnder(env, 2, 'OrderedReady'), 1);
    },
  },
};

/** As above, where the feature MaxUnavailableStatefulSet is on. */
export const limitedUpdates: Readonly<Record<string, Scenario>> = {
  '[cluster 37] maxUnavailable 2 takes two pods of a parallel set down': {
    act: async (env) => {
      assert.equal(await downUnder(env, 2, 'Parallel'), 2);
    },
  },
  '[cluster 37] maxUnavailable 2 takes two pods of an ordered set down': {
    act: async (env) => {
      assert.equal(await downUnder(env, 2, 'OrderedReady'), 2);
    },
  },
  '[cluster 37] maxUnavailable 50 % of five is two, rounded down': {
    act: async (env) => {
      assert.equal(await downUnder(env, '50%', 'Parallel'), 2);
    },
  },
};
