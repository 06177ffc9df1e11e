import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { objectAt, textAt } from '../../json/members.ts';
import type { ResourceRow } from '../../resource-row.ts';
import { podRow } from '../pod-row.ts';
import { resourceTable } from '../table.ts';
import { statefulSetRow } from '../workload-rows.ts';
import { isPulledAlways } from './default-container.ts';

function created(row: ResourceRow, object: JsonObject): JsonObject {
  return row.prepareForCreate(row.decode(object).object);
}

function rowOf(plural: string): ResourceRow {
  const row = resourceTable.find(({ type }) => type.plural === plural);
  assert.ok(row);
  return row;
}

const labels = { app: 'web' };
const minimalPod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web-0', namespace: 'default' },
  spec: { containers: [{ name: 'main', image: 'registry.k8s.io/pause:3.10' }] },
};

const defaultedContainer = {
  name: 'main',
  image: 'registry.k8s.io/pause:3.10',
  imagePullPolicy: 'IfNotPresent',
  resources: {},
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
};

test('[cluster 27] a minimal pod is stored as a real API server stores it', () => {
  assert.deepEqual(created(podRow, minimalPod), {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web-0', namespace: 'default' },
    spec: {
      containers: [defaultedContainer],
      dnsPolicy: 'ClusterFirst',
      enableServiceLinks: true,
      preemptionPolicy: 'PreemptLowerPriority',
      priority: 0,
      restartPolicy: 'Always',
      schedulerName: 'default-scheduler',
      securityContext: {},
      serviceAccount: 'default',
      serviceAccountName: 'default',
      terminationGracePeriodSeconds: 30,
      tolerations: [
        {
          effect: 'NoExecute',
          key: 'node.kubernetes.io/not-ready',
          operator: 'Exists',
          tolerationSeconds: 300,
        },
        {
          effect: 'NoExecute',
          key: 'node.kubernetes.io/unreachable',
          operator: 'Exists',
          tolerationSeconds: 300,
        },
      ],
    },
    status: { phase: 'Pending', qosClass: 'BestEffort' },
  });
});

const minimalSet = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'web', namespace: 'default', labels },
  spec: {
    serviceName: 'web',
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: minimalPod.spec },
    volumeClaimTemplates: [
      {
        metadata: { name: 'data' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      },
    ],
  },
};

test('[cluster 27] a minimal StatefulSet is stored as a real API server stores it', () => {
  assert.deepEqual(created(statefulSetRow, minimalSet), {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'web', namespace: 'default', labels },
    spec: {
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
      podManagementPolicy: 'OrderedReady',
      replicas: 1,
      revisionHistoryLimit: 10,
      selector: { matchLabels: labels },
      serviceName: 'web',
      template: {
        metadata: { labels },
        spec: {
          containers: [defaultedContainer],
          dnsPolicy: 'ClusterFirst',
          restartPolicy: 'Always',
          schedulerName: 'default-scheduler',
          securityContext: {},
          terminationGracePeriodSeconds: 30,
        },
      },
      updateStrategy: { rollingUpdate: { partition: 0 }, type: 'RollingUpdate' },
      volumeClaimTemplates: [
        {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          metadata: { name: 'data' },
          spec: {
            accessModes: ['ReadWriteOnce'],
            resources: { requests: { storage: '1Gi' } },
            volumeMode: 'Filesystem',
          },
          status: { phase: 'Pending' },
        },
      ],
    },
    status: { availableReplicas: 0, replicas: 0 },
  });
});

const strategies: Record<string, { given: JsonObject | undefined; want: JsonObject }> = {
  'is RollingUpdate with partition 0 when absent': {
    given: undefined,
    want: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
  },
  'keeps rollingUpdate absent when the type is given alone': {
    given: { type: 'RollingUpdate' },
    want: { type: 'RollingUpdate' },
  },
  'fills a rollingUpdate that is given': {
    given: { type: 'RollingUpdate', rollingUpdate: { partition: 3 } },
    want: { type: 'RollingUpdate', rollingUpdate: { partition: 3 } },
  },
  'leaves OnDelete alone': { given: { type: 'OnDelete' }, want: { type: 'OnDelete' } },
};
for (const [fact, { given, want }] of Object.entries(strategies)) {
  test(`[cluster 27] updateStrategy ${fact}`, () => {
    const spec = given === undefined ? {} : { updateStrategy: given };
    const set = created(statefulSetRow, { ...minimalSet, spec: { ...minimalSet.spec, ...spec } });
    assert.deepEqual(objectAt(set, 'spec')?.['updateStrategy'], want);
  });
}

test('[cluster 27] containers, probes, ports, env and volumes get their defaults in a template too', () => {
  const spec = {
    containers: [
      {
        name: 'main',
        image: 'web',
        ports: [{ containerPort: 80 }],
        env: [
          { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
          { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
        ],
        livenessProbe: { httpGet: { port: 80 } },
        readinessProbe: { grpc: { port: 9000 }, periodSeconds: 3 },
        lifecycle: { preStop: { httpGet: { port: 80, path: '/stop' } } },
        resources: { limits: { memory: '1Gi' } },
      },
    ],
    serviceAccountName: 'web',
    volumes: [
      { name: 'a', configMap: { name: 'c' } },
      { name: 'b', secret: { secretName: 's', defaultMode: 256 } },
      { name: 'c' },
      { name: 'd', hostPath: { path: '/x' } },
      { name: 'e', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } },
    ],
  };
  const template = { metadata: { labels }, spec };
  const set = created(statefulSetRow, { ...minimalSet, spec: { ...minimalSet.spec, template } });
  assert.deepEqual(objectAt(objectAt(objectAt(set, 'spec'), 'template'), 'spec'), {
    containers: [
      {
        name: 'main',
        image: 'web',
        imagePullPolicy: 'Always',
        ports: [{ containerPort: 80, protocol: 'TCP' }],
        env: [
          { name: 'IP', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'status.podIP' } } },
          {
            name: 'CPU',
            valueFrom: { resourceFieldRef: { divisor: '0', resource: 'limits.cpu' } },
          },
        ],
        livenessProbe: {
          httpGet: { path: '/', port: 80, scheme: 'HTTP' },
          failureThreshold: 3,
          periodSeconds: 10,
          successThreshold: 1,
          timeoutSeconds: 1,
        },
        readinessProbe: {
          grpc: { port: 9000, service: '' },
          failureThreshold: 3,
          periodSeconds: 3,
          successThreshold: 1,
          timeoutSeconds: 1,
        },
        lifecycle: { preStop: { httpGet: { path: '/stop', port: 80, scheme: 'HTTP' } } },
        resources: { limits: { memory: '1Gi' } },
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
      },
    ],
    dnsPolicy: 'ClusterFirst',
    restartPolicy: 'Always',
    schedulerName: 'default-scheduler',
    securityContext: {},
    serviceAccount: 'web',
    serviceAccountName: 'web',
    terminationGracePeriodSeconds: 30,
    volumes: [
      { name: 'a', configMap: { defaultMode: 420, name: 'c' } },
      { name: 'b', secret: { defaultMode: 256, secretName: 's' } },
      { name: 'c', emptyDir: {} },
      { name: 'd', hostPath: { path: '/x', type: '' } },
      {
        name: 'e',
        projected: {
          defaultMode: 420,
          sources: [{ serviceAccountToken: { expirationSeconds: 3600, path: 't' } }],
        },
      },
    ],
  });
});

const images: readonly (readonly [image: string, isAlways: boolean])[] = [
  ['nginx', true],
  ['nginx:latest', true],
  ['nginx:1.2', false],
  ['host:5000/nginx', true],
  ['host:5000/nginx:1.2', false],
  ['nginx@sha256:0123', false],
  ['nginx:latest@sha256:0123', true],
];
for (const [image, isAlways] of images) {
  test(`isPulledAlways() of ${image} is ${isAlways}`, () => {
    assert.equal(isPulledAlways(image), isAlways);
  });
}

const qosCases: Record<string, { resources: JsonObject; qosClass: string }> = {
  'Guaranteed when limits and requests of cpu and memory are equal': {
    resources: { limits: { cpu: '1', memory: '1Gi' } },
    qosClass: 'Guaranteed',
  },
  'Guaranteed when they are equal in other units': {
    resources: {
      limits: { cpu: '1', memory: '1Gi' },
      requests: { cpu: '1000m', memory: '1073741824' },
    },
    qosClass: 'Guaranteed',
  },
  'Burstable when only requests are given': {
    resources: { requests: { cpu: '100m' } },
    qosClass: 'Burstable',
  },
  'BestEffort when only other resources are asked for': {
    resources: { limits: { 'example.com/gpu': '1' } },
    qosClass: 'BestEffort',
  },
};
for (const [fact, { resources, qosClass }] of Object.entries(qosCases)) {
  test(`a new pod is ${fact}`, () => {
    const containers = [{ name: 'main', image: 'a:1', resources }];
    const pod = created(podRow, { ...minimalPod, spec: { containers } });
    assert.deepEqual(pod['status'], { phase: 'Pending', qosClass });
  });
}

test('a pod requests what it limits, a client status is dropped, a toleration of its own stays alone', () => {
  const pod = created(podRow, {
    ...minimalPod,
    spec: {
      containers: [{ name: 'main', image: 'a:1', resources: { limits: { memory: '1Gi' } } }],
      tolerations: [{ operator: 'Exists' }],
    },
    status: { phase: 'Running' },
  });
  assert.deepEqual(objectAt(pod, 'spec')?.['tolerations'], [{ operator: 'Exists' }]);
  assert.deepEqual(objectAt(pod, 'spec')?.['containers'], [
    {
      name: 'main',
      image: 'a:1',
      imagePullPolicy: 'IfNotPresent',
      resources: { limits: { memory: '1Gi' }, requests: { memory: '1Gi' } },
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
    },
  ]);
  assert.deepEqual(pod['status'], { phase: 'Pending', qosClass: 'Burstable' });
});

for (const [row, object] of [
  [podRow, minimalPod],
  [statefulSetRow, minimalSet],
] as const) {
  test(`prepareForCreate() and prepareForUpdate() of a ${row.singular} change nothing the second time`, () => {
    const once = created(row, object);
    assert.deepEqual(row.decode(once), { object: once, unknown: [] });
    assert.deepEqual(row.prepareForCreate(once), once);
    assert.equal(row.prepareForUpdate(once, once), once);
  });
}

test('a new Namespace is active, carries its finalizer and the label of its name', () => {
  assert.deepEqual(created(rowOf('namespaces'), { metadata: { name: 'a' } }), {
    metadata: { name: 'a', labels: { 'kubernetes.io/metadata.name': 'a' } },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  });
});

test('a new headless Service keeps None and gets families', () => {
  const spec = { clusterIP: 'None', selector: labels, ports: [{ port: 80 }] };
  assert.deepEqual(created(rowOf('services'), { metadata: { name: 'web' }, spec }), {
    metadata: { name: 'web' },
    spec: {
      clusterIP: 'None',
      clusterIPs: ['None'],
      internalTrafficPolicy: 'Cluster',
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
      selector: labels,
      sessionAffinity: 'None',
      type: 'ClusterIP',
    },
    status: { loadBalancer: {} },
  });
});

test('an update of a Service keeps its cluster IP', () => {
  const row = rowOf('services');
  const given = { metadata: { name: 'web', namespace: 'a' }, spec: { ports: [{ port: 80 }] } };
  const stored = created(row, given);
  const changed = row.prepareForUpdate(row.decode(given).object, stored);
  assert.match(textAt(objectAt(stored, 'spec'), 'clusterIP'), /^10\.\d+\.\d+\.\d+$/);
  assert.deepEqual(changed['spec'], stored['spec']);
});

test('a Secret moves stringData into data', () => {
  const secret = { metadata: { name: 's' }, data: { a: 'eA==' }, stringData: { b: 'y' } };
  assert.deepEqual(created(rowOf('secrets'), secret), {
    metadata: { name: 's' },
    type: 'Opaque',
    data: { a: 'eA==', b: 'eQ==' },
  });
});

test('a SelfSubjectAccessReview is always allowed', () => {
  const review = created(rowOf('selfsubjectaccessreviews'), { spec: {} });
  assert.deepEqual(review['status'], { allowed: true });
});
