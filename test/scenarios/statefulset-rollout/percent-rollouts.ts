/** StatefulsetRollouts from their beginning to their end, for every cluster; each starts in an empty namespace. */

import assert from 'node:assert/strict';
import type { JsonObject } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import { numberAt, objectAt, objectsAt, textAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { Scenario } from '../rollouts.ts';
import { carried, isReady, PercentSet, templateOf, valueAt } from './percent-set.ts';

const { statefulSets, statefulsetRollouts } = resourceTypes;
const pinning = { versionLeak: { policy: 'Pin' } };

/** Keyed by a sentence. */
export const percentRollouts: Readonly<Record<string, Scenario>> = {
  'a set that is made goes to a new version at 1, 50 and 100 percent, by evictions and within its budget [T-10, T-23, T-24, T-29]':
    {
      act: async (env) => {
        const db = await PercentSet.settled(env, { percent: 25 });
        assert.deepEqual(db.images, ['db:1', 'db:1', 'db:1', 'db:1']);
        const [owner] = objectsAt(db.set, 'metadata', 'ownerReferences');
        assert.equal(textAt(owner, 'uid'), textAt(db.rollout, 'metadata', 'uid'));
        assert.equal(db.status['percentDeployed'], 25);
        assert.equal(db.status['statefulsetSpecCurrent'], true);
        const mark = db.mark;
        await db.setImage('db:2', { percent: 1 });
        await db.ended();
        assert.deepEqual(db.images, ['db:1', 'db:1', 'db:1', 'db:2']);
        await db.edit({ percent: 50 });
        await db.ended();
        assert.deepEqual(db.images, ['db:1', 'db:1', 'db:2', 'db:2']);
        await db.edit({ percent: 100 });
        await db.ended();
        assert.deepEqual(db.images, ['db:2', 'db:2', 'db:2', 'db:2']);
        const gone = db.goneSince(mark);
        // The last two go at once, in whatever order they arrive.
        assert.deepEqual(gone.slice(0, 2), ['db-3', 'db-2']);
        assert.deepEqual(gone.slice(2).toSorted(), ['db-0', 'db-1']);
        assert.ok(db.mostAway(mark) <= 2, `${db.mostAway(mark)} away`);
        assert.equal(db.status['percentDeployed'], 100);
      },
    },
  'a version that cannot become ready is taken back by the revision that is there, and its pods alone go [T-56]':
    {
      act: async (env) => {
        env.kubelet.behaviours.add({
          behave: 'crashLoop',
          match: { namespace: env.namespace, image: 'db:broken' },
        });
        const db = await PercentSet.settled(env);
        const [first, before] = [textAt(db.set, 'status', 'updateRevision'), db.uids];
        // By their creationTimestamp, in whole seconds, is told which of two revisions is the older one.
        await env.pass(seconds(1));
        await db.setImage('db:broken', { percent: 50 });
        await db.until('two of it are broken', () => [2, 3].every((at) => isBroken(db, at)));
        const mark = db.mark;
        await db.setImage('db:1', { percent: 100 });
        await db.ended();
        assert.equal(textAt(db.set, 'status', 'updateRevision'), first);
        assert.equal(objectAt(db.status, 'rollout')['rollback'], true);
        assert.deepEqual(db.goneSince(mark).toSorted(), ['db-2', 'db-3']);
        assert.deepEqual(db.uids.slice(0, 2), before.slice(0, 2));
        assert.equal((await db.messages('RollbackDetected')).length, 1);
      },
    },
  'an eviction that the budget refuses is reported and tried again, and nothing else goes meanwhile [T-35, T-39]':
    {
      act: async (env) => {
        env.kubelet.behaviours.add({
          behave: 'crashLoop',
          match: { namespace: env.namespace, image: 'db:broken' },
        });
        const db = await PercentSet.settled(env);
        await db.setImage('db:broken');
        await db.until('two of it are broken', () => [2, 3].every((at) => isBroken(db, at)));
        await db.patchBudget({ maxUnavailable: 1 });
        await db.until('the budget lets not even those go', () => {
          const budget = objectAt(env.stored('poddisruptionbudgets.policy', 'db'), 'status');
          return budget['desiredHealthy'] === 3 && budget['currentHealthy'] === 2;
        });
        const mark = db.mark;
        await db.setImage('db:2');
        await db.until('a refusal is reported', () => db.reason.startsWith('PDBBlocked: '));
        assert.match(
          db.reason,
          /^PDBBlocked: Cannot evict Pod "[^"]*": Cannot evict pod as it would violate the pod's disruption budget/,
        );
        assert.match(
          db.reason,
          /; db-3, db-2 cannot become ready, .* set its spec\.unhealthyPodEvictionPolicy to AlwaysAllow/,
        );
        assert.deepEqual(db.goneSince(mark), []);
        await db.patchBudget({ unhealthyPodEvictionPolicy: 'AlwaysAllow' });
        await db.ended();
        assert.deepEqual(db.goneSince(mark), ['db-3', 'db-2', 'db-1', 'db-0']);
        assert.equal((await db.messages('PDBBlocked')).length, 1);
      },
    },
  'ten pods that go at once are as many as the budget lets, although each eviction changes it [T-31]':
    {
      act: async (env) => {
        const db = await PercentSet.open(env, '50%');
        await env.startOperator();
        const twenty = (image: string) => ({ statefulset: carried(image, { replicas: 20 }) });
        await db.create('db:1', twenty('db:1'));
        await db.ended();
        await db.until('the budget counts them', () => {
          const budget = env.stored('poddisruptionbudgets.policy', 'db');
          return numberAt(budget, 'status', 'disruptionsAllowed') === 10;
        });
        const mark = db.mark;
        await db.edit(twenty('db:2'));
        await db.ended();
        assert.deepEqual([...new Set(db.images)], ['db:2']);
        assert.equal(db.goneSince(mark).length, 20);
        assert.ok(db.mostAway(mark) <= 10, `${db.mostAway(mark)} away`);
        const rollout = objectAt(db.status, 'rollout');
        assert.equal(rollout['outcome'], 'Done');
      },
    },
  'two budgets over the pods let none go, and both are named [T-33]': {
    act: async (env) => {
      const db = await PercentSet.settled(env);
      const budget = { maxUnavailable: 1, selector: { matchLabels: { app: 'db' } } };
      await db.make(resourceTypes.podDisruptionBudgets, {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'second' },
        spec: budget,
      });
      const mark = db.mark;
      await db.setImage('db:2');
      await db.until('both are reported', () =>
        /^MultipleBudgets: .*db and second/.test(db.reason),
      );
      await db.remove(resourceTypes.podDisruptionBudgets, 'second');
      await db.ended();
      assert.equal(db.goneSince(mark).length, 4);
    },
  },
  'an image that no API server takes is reported in its words, and the set stays as it is [T-21]': {
    act: async (env) => {
      const db = await PercentSet.settled(env);
      const { generation } = db;
      const template = templateOf('db:2', { ports: [{ containerPort: 99_999 }] });
      await db.edit({ statefulset: carried('db:2', { template }) });
      await db.ended('RolloutFailed');
      assert.match(db.reason, /^RolloutFailed: .*containerPort.*99999/);
      assert.equal(db.generation, generation);
    },
  },
  'an immutable field fails the rollout, or has the set recreated over its pods [T-15, T-16]': {
    act: async (env) => {
      const db = await PercentSet.settled(env);
      const [before, { generation, uids }] = [db.set, db];
      const changed = (more: object) => ({
        statefulset: carried('db:1', { podManagementPolicy: 'OrderedReady' }),
        ...more,
      });
      await db.edit(changed({}));
      await db.ended('RolloutFailed');
      assert.match(
        db.reason,
        /^RolloutFailed: immutable fields of db differ: spec\.podManagementPolicy/,
      );
      assert.equal(db.generation, generation);
      await db.edit(changed({ immutableFieldPolicy: 'RecreateOrphan', rolloutIdentity: 'again' }));
      await db.ended();
      assert.equal(textAt(db.set, 'spec', 'podManagementPolicy'), 'OrderedReady');
      assert.notEqual(textAt(db.set, 'metadata', 'uid'), textAt(before, 'metadata', 'uid'));
      assert.deepEqual(db.uids, uids);
      const [owner] = objectsAt(db.pod(0), 'metadata', 'ownerReferences');
      assert.equal(textAt(owner, 'uid'), textAt(db.set, 'metadata', 'uid'));
    },
  },
  'replicas that the scale subresource has set stay, where an autoscaler targets the set [T-17]': {
    act: async (env) => {
      const db = await PercentSet.settled(env);
      await defineAutoscalers(db);
      const spec = {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db' },
        minReplicas: 1,
        maxReplicas: 10,
      };
      await db.make(autoscalers, {
        apiVersion: 'autoscaling/v2',
        kind: 'HorizontalPodAutoscaler',
        metadata: { name: 'db' },
        spec,
      });
      const path = `${db.path(statefulSets, 'db')}/scale`;
      const scale = (await db.sent('GET', path)).body as JsonObject;
      await db.sent('PUT', path, { ...scale, spec: { replicas: 6 } });
      await db.until('six are ready', () => numberAt(db.set, 'status', 'readyReplicas') === 6);
      const mark = db.mark;
      await db.setImage('db:2', { percent: 50 });
      await db.ended();
      assert.equal(numberAt(db.set, 'spec', 'replicas'), 6);
      assert.equal(numberAt(db.status, 'rollout', 'targetReplicas'), 3);
      assert.deepEqual(db.goneSince(mark).toSorted(), ['db-3', 'db-4', 'db-5']);
    },
  },
  'pods that are pinned come back as they were, and are new once all are [T-64, T-65, T-66]': {
    act: async (env) => {
      const db = await PercentSet.settled(env, pinning);
      const partition = (): unknown =>
        valueAt(db.set, 'spec', 'updateStrategy', 'rollingUpdate', 'partition');
      await db.until('all are pinned', () => partition() === 4);
      const mark = db.mark;
      await db.setImage('db:2', { percent: 50 });
      await db.ended();
      assert.deepEqual([db.images, partition()], [['db:1', 'db:1', 'db:2', 'db:2'], 2]);
      assert.deepEqual(db.goneSince(mark).toSorted(), ['db-2', 'db-3']);
      const { uids } = db;
      await db.remove(resourceTypes.pods, 'db-1');
      await db.remove(resourceTypes.pods, 'db-3');
      await db.until('they are back', () =>
        [1, 3].every((at) => isReady(db.pod(at)) && db.uids[at] !== uids[at]),
      );
      assert.deepEqual(db.images, ['db:1', 'db:1', 'db:2', 'db:2']);
      await db.edit({ percent: 100 });
      await db.ended();
      assert.deepEqual(db.images, ['db:2', 'db:2', 'db:2', 'db:2']);
      await db.until('all are pinned again', () => partition() === 4);
      const { currentRevision, updateRevision } = objectAt(db.set, 'status');
      assert.equal(currentRevision, updateRevision);
      assert.equal(numberAt(db.status, 'leak', 'leakedReplicas'), 0);
      assert.ok(db.mostAway(mark) <= 3, `${db.mostAway(mark)} away`);
    },
  },
  'a set that is made goes with its resource, whether that is deleted in the background or in the foreground [T-59]':
    {
      act: async (env) => {
        const db = await PercentSet.settled(env);
        for (const policy of ['Background', 'Foreground']) {
          await db.remove(statefulsetRollouts, 'db', policy);
          await db.until('all is gone', () => isGone(db) && db.set === undefined);
          await db.until('its pods are, too', () => env.names('pods').length === 0);
          if (policy === 'Foreground') break;
          await db.create('db:1');
          await db.ended();
        }
      },
    },
  'a set that is made stays with its pods when its resource goes and leaves orphans behind [T-59]':
    {
      act: async (env) => {
        const db = await PercentSet.settled(env);
        const { uids } = db;
        await db.remove(statefulsetRollouts, 'db', 'Orphan');
        await db.until('the resource is gone', () => isGone(db));
        assert.deepEqual(db.uids, uids);
        assert.deepEqual(objectsAt(db.set, 'metadata', 'ownerReferences'), []);
        assert.doesNotMatch(
          JSON.stringify(objectAt(db.set, 'metadata', 'annotations')),
          /bedrock\.operator\.slack\.com/,
        );
        assert.equal(textAt(db.set, 'metadata', 'deletionTimestamp'), '');
      },
    },
};

const autoscalers = Object.freeze({
  group: 'autoscaling',
  version: 'v2',
  plural: 'horizontalpodautoscalers',
  kind: 'HorizontalPodAutoscaler',
  isNamespaced: true,
});

/** Where the server has none, a definition stands in for them: they are only listed. */
async function defineAutoscalers(db: PercentSet): Promise<void> {
  if ((await db.env.ask('GET', db.path(autoscalers))).status === 200) return;
  const { group, version, plural, kind } = autoscalers;
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const names = { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List` };
  const versions = [{ name: version, served: true, storage: true, schema: { openAPIV3Schema } }];
  await db.sent('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope: 'Namespaced', names, versions },
  });
  await db.env.untilAnswered(db.path(autoscalers), 200);
}

function isGone({ rollout }: PercentSet): boolean {
  return rollout === undefined;
}

function isBroken(db: PercentSet, ordinal: number): boolean {
  const [status] = objectsAt(db.pod(ordinal), 'status', 'containerStatuses');
  const isBackingOff = textAt(status, 'state', 'waiting', 'reason') === 'CrashLoopBackOff';
  return isBackingOff && db.images[ordinal] === 'db:broken';
}
