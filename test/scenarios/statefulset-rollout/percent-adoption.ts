/** StatefulsetRollouts over sets that are there already, and what is no change of a set, for every cluster. */
import assert from 'node:assert/strict';
import type { JsonObject } from '#base/json.ts';
import { numberAt, objectAt, objectsAt, textAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { Scenario } from '../rollouts.ts';
import { carried, isReady, PercentSet, templateOf, valueAt } from './percent-set.ts';

const { statefulSets } = resourceTypes;
const apply = { 'content-type': 'application/apply-patch+yaml' };

/** Keyed by a sentence. */
export const percentAdoption: Readonly<Record<string, Scenario>> = {
  'a set that others made and changed is adopted in one request, and keeps what is theirs [T-12]': {
    act: async (env) => {
      const db = await PercentSet.open(env);
      await makeForeign(db);
      const before = db.set;
      await env.startOperator();
      const mark = db.mark;
      await db.create('db:2', { percent: 50 });
      await db.ended();
      const [first] = env
        .history()
        .slice(mark)
        .filter(({ resource, before: was, after: is }) => {
          const [old, now] = [was, is].map((set) => JSON.stringify(valueAt(set, 'spec')));
          return resource === 'statefulsets.apps' && old !== now;
        });
      assert.equal(textAt(first?.after, 'spec', 'updateStrategy', 'type'), 'OnDelete');
      assert.equal(imageIn(first?.after), 'db:2');
      assert.deepEqual(objectsAt(db.set, 'metadata', 'ownerReferences'), []);
      assert.deepEqual(foreignParts(db.set), foreignParts(before));
      assert.deepEqual(db.images, ['db:1', 'db:1', 'db:2', 'db:2']);
      await db.remove(resourceTypes.statefulsetRollouts, 'db');
      await db.until('the resource is gone', () => db.rollout === undefined);
      const marks = Object.keys(objectAt(db.set, 'metadata', 'annotations'));
      assert.deepEqual(
        marks.filter((mark) => mark.startsWith('bedrock')),
        [],
      );
      assert.deepEqual(foreignParts(db.set), foreignParts(before));
      assert.equal(textAt(db.set, 'metadata', 'deletionTimestamp'), '');
    },
  },
  'a set that another applies from the server side keeps what that owns, and both go on beside each other':
    {
      needs: ['apply'],
      act: async (env) => {
        const db = await PercentSet.open(env);
        const path = db.path(statefulSets, 'db');
        const applied = carried('db:1');
        await db.sent('PATCH', `${path}?fieldManager=team`, applied, apply);
        const own = { metadata: { annotations: { 'team/owned': 'yes' }, labels: { team: 'a' } } };
        const theirs = {
          apiVersion: 'apps/v1',
          kind: 'StatefulSet',
          ...own,
          spec: { template: { metadata: { annotations: { 'team/checksum': '1' } } } },
        };
        await db.sent('PATCH', `${path}?fieldManager=annotator`, theirs, apply);
        await env.startOperator();
        await db.create('db:2');
        await db.ended();
        assert.deepEqual(db.images, ['db:2', 'db:2', 'db:2', 'db:2']);
        // What the first one applied is ours to say now: it is told so, and the others go on.
        const again = await env.ask('PATCH', `${path}?fieldManager=team`, applied, apply);
        assert.equal(again.status, 409, JSON.stringify(again.body));
        const fields = objectsAt(again.body as JsonObject, 'details', 'causes').map((cause) =>
          textAt(cause, 'field'),
        );
        const imageField = '.spec.template.spec.containers[name="main"].image';
        assert.ok(fields.includes(imageField), fields.join(' '));
        const { generation } = db;
        await db.sent('PATCH', `${path}?fieldManager=annotator`, theirs, apply);
        assert.equal(textAt(db.set, 'metadata', 'annotations', 'team/owned'), 'yes');
        assert.equal(
          textAt(db.set, 'spec', 'template', 'metadata', 'annotations', 'team/checksum'),
          '1',
        );
        assert.equal(db.generation, generation);
        assert.equal(db.phase, 'RolloutDone');
      },
    },
  'a set that belongs to another is left alone, and whose it is told [T-13]': {
    act: async (env) => {
      const db = await PercentSet.open(env);
      const owner = await db.make(resourceTypes.configMaps, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'stranger' },
      });
      const uid = textAt(owner, 'metadata', 'uid');
      const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'stranger', uid };
      const set = carried('db:1');
      const ownerReferences = [{ ...reference, controller: true }];
      await db.make(statefulSets, { ...set, metadata: { name: 'db', ownerReferences } });
      await db.until('it is ready', () => numberAt(db.set, 'status', 'readyReplicas') === 4);
      const before = db.set;
      await env.startOperator();
      await db.create('db:2');
      await db.ended('RolloutFailed');
      assert.match(db.reason, /^RolloutFailed: db belongs to ConfigMap stranger/);
      assert.deepEqual(db.set?.['spec'], before?.['spec']);
      assert.deepEqual(objectAt(db.set, 'metadata', 'annotations'), {});
    },
  },
  'quantities in another spelling, and what the server sets where nothing is said, are no change [T-20]':
    {
      act: async (env) => {
        const db = await PercentSet.open(env);
        await env.startOperator();
        const template = manifold('1000m', '1Gi');
        await db.create('db:1', { statefulset: carried('db:1', { template }) });
        await db.ended();
        assert.equal(db.generation, 1);
        const mark = db.mark;
        for (const [cpu, memory] of [
          ['1', '1024Mi'],
          [1, '1073741824'],
          ['1000m', '1048576Ki'],
        ] as const) {
          await db.edit({ statefulset: carried('db:1', { template: manifold(cpu, memory) }) });
          await db.ended();
        }
        assert.equal(db.status['statefulsetSpecCurrent'], true);
        assert.deepEqual(db.goneSince(mark), []);
        const templates = new Set(
          env
            .history()
            .filter(({ resource, after }) => resource === 'statefulsets.apps' && after)
            .map(({ after }) => textAt(after, 'status', 'updateRevision')),
        );
        templates.delete('');
        assert.equal(templates.size, 1);
        assert.equal(db.generation, 1);
        assert.deepEqual(await db.messages('SemanticDiffIgnored'), []);
      },
    },
  'what a user changes by hand of what is wanted is written back, and what they add stays [T-19]': {
    act: async (env) => {
      const db = await PercentSet.settled(env);
      await db.setImage('db:2', { pauseRequested: true, percent: 50 });
      await db.until('it is paused', () => db.phase === 'Paused');
      const template = {
        metadata: { annotations: { 'restarted-at': 'noon' } },
        spec: { terminationGracePeriodSeconds: 2, hostname: 'by-hand' },
      };
      await db.patchSet({ spec: { template, minReadySeconds: 1 } });
      await db.edit({ pauseRequested: false });
      await db.ended();
      const live = objectAt(db.set, 'spec', 'template');
      assert.equal(imageIn(db.set), 'db:2');
      assert.equal(valueAt(live, 'spec', 'terminationGracePeriodSeconds'), 1);
      assert.equal(textAt(live, 'metadata', 'annotations', 'restarted-at'), 'noon');
      assert.equal(textAt(live, 'spec', 'hostname'), 'by-hand');
      assert.equal(valueAt(db.set, 'spec', 'minReadySeconds'), 1);
    },
  },
};

function imageIn(set: JsonObject | undefined): string {
  return textAt(objectsAt(set, 'spec', 'template', 'spec', 'containers')[0], 'image');
}

/** A set that rolls by itself, made by one client and changed by another. */
async function makeForeign(db: PercentSet): Promise<void> {
  const sidecar = { name: 'sidecar', image: 'log:1' };
  const set = carried('db:1');
  const metadata = { name: 'db', labels: { team: 'a' }, annotations: { note: 'ours' } };
  await db.make(statefulSets, { ...set, metadata });
  const spec = {
    template: {
      metadata: { annotations: { 'restarted-at': 'noon' } },
      spec: {
        containers: [{ name: 'main', env: [{ name: 'THEIRS', value: '1' }] }, sidecar],
        tolerations: [{ operator: 'Exists' }],
      },
    },
    minReadySeconds: 1,
    revisionHistoryLimit: 3,
  };
  await db.sent(
    'PATCH',
    db.path(statefulSets, 'db'),
    { spec },
    {
      'content-type': 'application/strategic-merge-patch+json',
    },
  );
  await db.until('it has rolled itself', () => {
    const { currentRevision, updateRevision, observedGeneration } = objectAt(db.set, 'status');
    const isNew = currentRevision === updateRevision && observedGeneration === 2;
    return isNew && [0, 1, 2, 3].every((at) => isReady(db.pod(at)));
  });
}

/** All that the resource does not say of the set. */
function foreignParts(set: JsonObject | undefined): JsonObject {
  const spec = objectAt(set, 'spec');
  const pod = objectAt(spec, 'template', 'spec');
  const [main, sidecar] = objectsAt(pod, 'containers');
  const { annotations, labels } = objectAt(set, 'metadata');
  return {
    note: (annotations as JsonObject)['note'],
    team: (labels as JsonObject)['team'],
    restarted: objectAt(spec, 'template', 'metadata')['annotations'],
    env: main?.['env'],
    sidecar,
    tolerations: pod['tolerations'],
    minReady: spec['minReadySeconds'],
    history: spec['revisionHistoryLimit'],
  };
}

/** A template with most of what the API server adds something to, written as people write it. */
function manifold(cpu: number | string, memory: string): JsonObject {
  const usual = templateOf('db:1', {
    resources: { requests: { cpu, memory }, limits: { memory } },
    ports: [{ containerPort: 80 }, { containerPort: 53, protocol: 'UDP', name: 'dns' }],
    env: [
      { name: 'A', value: 'a' },
      { name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'requests.cpu', divisor: '1m' } } },
    ],
    envFrom: [{ configMapRef: { name: 'settings', optional: true } }],
    readinessProbe: { httpGet: { path: '/', port: 80 } },
    livenessProbe: { tcpSocket: { port: 'dns' } },
    startupProbe: { exec: { command: ['true'] } },
    lifecycle: { preStop: { httpGet: { path: '/', port: 80 } } },
    volumeMounts: [
      { name: 'config', mountPath: '/config' },
      { name: 'all', mountPath: '/all', readOnly: true },
    ],
    securityContext: {},
  });
  const spec = {
    ...objectAt(usual, 'spec'),
    initContainers: [{ name: 'init', image: 'init' }],
    securityContext: {},
    volumes: [
      { name: 'config', configMap: { name: 'settings' } },
      { name: 'secret', secret: { secretName: 'keys', optional: true } },
      { name: 'scratch', emptyDir: { sizeLimit: memory } },
      { name: 'host', hostPath: { path: '/tmp' } },
      {
        name: 'all',
        projected: {
          sources: [
            { serviceAccountToken: { path: 'token' } },
            { downwardAPI: { items: [{ path: 'l', fieldRef: { fieldPath: 'metadata.labels' } }] } },
          ],
        },
      },
    ],
    affinity: {
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 1, podAffinityTerm: { topologyKey: 'kubernetes.io/hostname' } },
        ],
      },
    },
    tolerations: [],
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' },
    ],
    hostAliases: [{ ip: '10.0.0.1', hostnames: ['a'] }],
    nodeSelector: {},
  };
  return { ...usual, spec };
}
