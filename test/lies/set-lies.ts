/* oxlint-disable typescript/no-explicit-any, typescript/no-unsafe-assignment, typescript/no-unsafe-return -- objects are looked into by path, and a lie that misses its target lets its scenario pass, which fails the run */
import type { EmbeddedCluster } from '#cluster/create-cluster.ts';
import { lieInCommits, SETS, stored } from './commits.ts';
import type { Lie } from './lie.ts';
import { lieOnTheWire } from './wire.ts';

function ownerOf(cluster: EmbeddedCluster, object: any): any {
  const uids = (object.metadata.ownerReferences ?? []).map(({ uid }: { uid: string }) => uid);
  return stored(cluster, SETS).find(({ metadata }) => uids.includes(metadata.uid));
}

function podsOf(cluster: EmbeddedCluster, set: any): readonly any[] {
  return stored(cluster, 'pods').filter(
    (pod) => ownerOf(cluster, pod)?.metadata.uid === set.metadata.uid,
  );
}

function isReady(pod: any): boolean {
  return (pod.status?.conditions ?? []).some(
    ({ type, status }: { type: string; status: string }) => type === 'Ready' && status === 'True',
  );
}

/** Removes a pod as nobody but a lie does: without a trace of its going. */
function vanish(cluster: EmbeddedCluster, pod: any): void {
  const { store } = cluster.context;
  const key = `${pod.metadata.namespace}/${pod.metadata.name}`;
  const before = store.collection('pods').get(key);
  store.commit({ resource: 'pods', key, before, after: undefined });
}

/** Lies about sets and what belongs to them. */
export const setLies: Readonly<Record<string, Lie>> = {
  'a replacement has the uid of the pod before': {
    trap: 'FT-6',
    file: 'statefulset-update',
    scenario: '[cluster 32] a deleted pod is seen terminating',
    tell: (cluster) => {
      const uids = new Map<string, string>();
      lieInCommits(cluster, ({ resource, key, after }) => {
        if (resource !== 'pods') return after;
        const uid = uids.get(key) ?? after.metadata.uid;
        uids.set(key, uid);
        return { ...after, metadata: { ...after.metadata, uid } };
      });
    },
  },
  'OnDelete moves currentRevision': {
    trap: 'FT-19',
    file: 'statefulset-update',
    scenario: '[cluster 34] OnDelete deletes nothing',
    tell: (cluster) =>
      lieInCommits(cluster, ({ resource, after }) => {
        const isOnDelete = after.spec?.updateStrategy?.type === 'OnDelete';
        if (resource !== SETS || !isOnDelete || after.status === undefined) return after;
        const { updatedReplicas, replicas, updateRevision, currentRevision } = after.status;
        const isDone = updatedReplicas === replicas;
        after.status.currentRevision = isDone ? updateRevision : currentRevision;
        return after;
      }),
  },
  'a deleted pod below the partition returns at the new revision': {
    trap: 'FT-19',
    file: 'statefulset-update',
    scenario: '[cluster 35] a partition keeps lower pods',
    tell: (cluster) =>
      lieInCommits(cluster, ({ resource, before, after }) => {
        if (resource !== 'pods' || before !== undefined) return after;
        const set = ownerOf(cluster, after);
        after.spec.containers[0].image = set.spec.template.spec.containers[0].image;
        return after;
      }),
  },
  'the status of a set follows its spec in the same step': {
    trap: 'FT-31',
    file: 'statefulset-update',
    scenario: '[cluster 21] the status of a set follows a change',
    tell: (cluster) =>
      lieInCommits(cluster, ({ resource, after }) => {
        if (resource !== SETS || after.status === undefined) return after;
        const { generation: observedGeneration } = after.metadata;
        return { ...after, status: { ...after.status, observedGeneration } };
      }),
  },
  'a rollback makes a new revision': {
    trap: 'FT-21',
    file: 'statefulset-update',
    scenario: '[cluster 37] a rollback reuses the name of the old revision',
    tell: (cluster) =>
      lieOnTheWire(cluster, {
        answer: async (send, request) => {
          const { method, path, body = '{}' } = request;
          if (method !== 'PATCH' || !path.includes('/controllerrevisions/')) return send(request);
          const { revision } = JSON.parse(body);
          const { body: bytes } = await send({ method: 'GET', path });
          const { metadata, ...content } = JSON.parse(Buffer.from(bytes).toString());
          const { resourceVersion: _, uid: __, ...kept } = metadata;
          const copy = {
            ...content,
            metadata: { ...kept, name: `${metadata.name}-again` },
            revision,
          };
          const collection = path.slice(0, path.lastIndexOf('/'));
          return send({ method: 'POST', path: collection, body: JSON.stringify(copy) });
        },
      }),
  },
  'a terminating pod is not counted as ready': {
    trap: 'FT-20',
    file: 'statefulset-update',
    scenario: '[cluster 36] a terminating pod counts as ready',
    tell: (cluster) =>
      lieInCommits(cluster, ({ resource, after }) => {
        if (resource !== SETS || after.status?.readyReplicas === undefined) return after;
        const ready = podsOf(cluster, after).filter(
          (pod) => isReady(pod) && pod.metadata.deletionTimestamp === undefined,
        );
        return { ...after, status: { ...after.status, readyReplicas: ready.length } };
      }),
  },
  'a broken pod does not block the revert': {
    trap: 'FT-22',
    file: 'statefulset-update',
    scenario: '[cluster 31] a broken revision blocks an ordered set',
    tell: (cluster) => {
      cluster.context.store.collection(SETS).onChange(({ before, after }) => {
        const generation = (version: any): number => version?.object.metadata.generation ?? 0;
        if (after === undefined || generation(before) === generation(after)) return;
        for (const pod of podsOf(cluster, after.object)) if (!isReady(pod)) vanish(cluster, pod);
      });
    },
  },
  'what a set owns goes in the same step': {
    trap: 'FT-23',
    file: 'gc-cascade',
    scenario: '[cluster 48] a background deletion takes the pods',
    tell: (cluster) => {
      cluster.context.store.collection(SETS).onChange(({ before, after }) => {
        if (before === undefined || after !== undefined) return;
        const { uid } = (before.object as any).metadata;
        for (const pod of stored(cluster, 'pods')) {
          const owners = pod.metadata.ownerReferences ?? [];
          if (owners.some((owner: { uid: string }) => owner.uid === uid)) vanish(cluster, pod);
        }
      });
    },
  },
};
