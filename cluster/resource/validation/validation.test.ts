import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import type { Cause } from '../../errors/status-error.ts';
import type { ResourceRow } from '../../resource-row.ts';
import { podRow } from '../pod-row.ts';
import { resourceTable } from '../table.ts';
import { podDisruptionBudgetRow, statefulSetRow } from '../workload-rows.ts';

const labels = { app: 'web' };
const podSpec = { containers: [{ name: 'main', image: 'a:1' }] };
const podObject = { metadata: { name: 'web-0', labels }, spec: podSpec };
const setSpec = {
  serviceName: 'web',
  selector: { matchLabels: labels },
  template: { metadata: { labels }, spec: podSpec },
};
const setObject = { metadata: { name: 'web' }, spec: setSpec };

function causesOf(row: ResourceRow, object: JsonObject, old?: JsonObject): readonly Cause[] {
  const next = row.prepareForCreate(row.decode(object).object);
  return old === undefined
    ? row.validate(next)
    : row.validate(next, row.prepareForCreate(row.decode(old).object));
}

function rowOf(plural: string): ResourceRow {
  const row = resourceTable.find(({ type }) => type.plural === plural);
  assert.ok(row);
  return row;
}

function setWith(spec: JsonObject): JsonObject {
  return { ...setObject, spec: { ...setSpec, ...spec } };
}

function podWith(spec: JsonObject): JsonObject {
  return { ...podObject, spec: { ...podSpec, ...spec } };
}

interface Want {
  readonly row: ResourceRow;
  readonly object: JsonObject;
  readonly old?: JsonObject;
  readonly causes: readonly (readonly [reason: string, field: string, message: string])[];
}

const setChange =
  "Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
const podChange =
  'Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

const cases: Record<string, Want> = {
  'a StatefulSet may be minimal': { row: statefulSetRow, object: setObject, causes: [] },
  'a StatefulSet needs a selector': {
    row: statefulSetRow,
    object: { ...setObject, spec: { template: setSpec.template } },
    causes: [['FieldValueRequired', 'spec.selector', 'Required value']],
  },
  'a StatefulSet may not have negative numbers': {
    row: statefulSetRow,
    object: setWith({
      replicas: -1,
      minReadySeconds: -2,
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: -3 } },
    }),
    causes: [
      [
        'FieldValueInvalid',
        'spec.replicas',
        'Invalid value: -1: must be greater than or equal to 0',
      ],
      [
        'FieldValueInvalid',
        'spec.minReadySeconds',
        'Invalid value: -2: must be greater than or equal to 0',
      ],
      [
        'FieldValueInvalid',
        'spec.updateStrategy.rollingUpdate.partition',
        'Invalid value: -3: must be greater than or equal to 0',
      ],
    ],
  },
  'maxUnavailable of a StatefulSet may not be 0': {
    row: statefulSetRow,
    object: setWith({
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0 } },
    }),
    causes: [
      [
        'FieldValueInvalid',
        'spec.updateStrategy.rollingUpdate.maxUnavailable',
        'Invalid value: 0: cannot be 0',
      ],
    ],
  },
  'the selector of a StatefulSet must match its template': {
    row: statefulSetRow,
    object: setWith({ selector: { matchLabels: { app: 'other' } } }),
    causes: [
      [
        'FieldValueInvalid',
        'spec.template.metadata.labels',
        'Invalid value: {"app":"web"}: `selector` does not match template `labels`',
      ],
    ],
  },
  'the template of a StatefulSet always restarts': {
    row: statefulSetRow,
    object: setWith({
      template: { metadata: { labels }, spec: { ...podSpec, restartPolicy: 'Never' } },
    }),
    causes: [
      [
        'FieldValueNotSupported',
        'spec.template.spec.restartPolicy',
        'Unsupported value: "Never": supported values: "Always"',
      ],
    ],
  },
  'containers of a template need name and image': {
    row: statefulSetRow,
    object: setWith({ template: { metadata: { labels }, spec: { containers: [{}] } } }),
    causes: [
      ['FieldValueRequired', 'spec.template.spec.containers[0].name', 'Required value'],
      ['FieldValueRequired', 'spec.template.spec.containers[0].image', 'Required value'],
    ],
  },
  'a container of a template may mount a claim template': {
    row: statefulSetRow,
    object: setWith({
      template: {
        metadata: { labels },
        spec: {
          containers: [
            { name: 'main', image: 'a:1', volumeMounts: [{ name: 'data', mountPath: '/data' }] },
          ],
        },
      },
      volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: {} }],
    }),
    causes: [],
  },
  'a StatefulSet with a long name may be stored': {
    row: statefulSetRow,
    object: { ...setObject, metadata: { name: 'a'.repeat(60) } },
    causes: [],
  },
  'a StatefulSet may change its mutable fields': {
    row: statefulSetRow,
    object: setWith({
      replicas: 5,
      minReadySeconds: 9,
      revisionHistoryLimit: 1,
      ordinals: { start: 2 },
      updateStrategy: { type: 'OnDelete' },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete' },
      template: { metadata: { labels }, spec: { containers: [{ name: 'b', image: 'b:2' }] } },
    }),
    old: setObject,
    causes: [],
  },
  'a StatefulSet may not change anything else': {
    row: statefulSetRow,
    object: setWith({ serviceName: 'other', podManagementPolicy: 'Parallel' }),
    old: setObject,
    causes: [['FieldValueForbidden', 'spec', setChange]],
  },
  'a pod may be minimal': { row: podRow, object: podObject, causes: [] },
  'a pod needs a container': {
    row: podRow,
    object: { metadata: { name: 'a' }, spec: {} },
    causes: [['FieldValueRequired', 'spec.containers', 'Required value']],
  },
  'the revision label of a pod has at most 63 characters': {
    row: podRow,
    object: {
      ...podObject,
      metadata: { name: 'a', labels: { 'controller-revision-hash': 'a'.repeat(64) } },
    },
    causes: [
      [
        'FieldValueInvalid',
        'metadata.labels',
        `Invalid value: "${'a'.repeat(64)}": must be no more than 63 bytes`,
      ],
    ],
  },
  'container names are unique and mounts lead to volumes': {
    row: podRow,
    object: podWith({
      containers: [
        { name: 'a', image: 'a:1' },
        { name: 'a', image: 'a:1', volumeMounts: [{ name: 'x', mountPath: '/x' }] },
      ],
    }),
    causes: [
      ['FieldValueDuplicate', 'spec.containers[1].name', 'Duplicate value: "a"'],
      ['FieldValueNotFound', 'spec.containers[1].volumeMounts[0].name', 'Not found: "x"'],
    ],
  },
  'a container requests no more than its limit': {
    row: podRow,
    object: podWith({
      containers: [
        {
          name: 'a',
          image: 'a:1',
          resources: { requests: { memory: '2Gi' }, limits: { memory: '1Gi' } },
        },
      ],
    }),
    causes: [
      [
        'FieldValueInvalid',
        'spec.containers[0].resources.requests',
        'Invalid value: "2Gi": must be less than or equal to memory limit of 1Gi',
      ],
    ],
  },
  'a pod may change image and deadline, and gain tolerations': {
    row: podRow,
    object: podWith({
      containers: [{ name: 'main', image: 'a:2', imagePullPolicy: 'IfNotPresent' }],
      activeDeadlineSeconds: 60,
      tolerations: [{ key: 'x', operator: 'Exists' }],
    }),
    old: podObject,
    causes: [],
  },
  'a pod may not change its command': {
    row: podRow,
    object: podWith({ containers: [{ name: 'main', image: 'a:1', command: ['x'] }] }),
    old: podObject,
    causes: [['FieldValueForbidden', 'spec', podChange]],
  },
  'a pod may not lose a toleration': {
    row: podRow,
    object: podObject,
    old: podWith({ tolerations: [{ key: 'x', operator: 'Exists' }] }),
    causes: [['FieldValueForbidden', 'spec', podChange]],
  },
  'a PodDisruptionBudget has one bound': {
    row: podDisruptionBudgetRow,
    object: { metadata: { name: 'a' }, spec: { minAvailable: 1, maxUnavailable: '20%' } },
    causes: [
      [
        'FieldValueInvalid',
        'spec',
        'Invalid value: {"minAvailable":1,"maxUnavailable":"20%"}: minAvailable and maxUnavailable cannot be both set',
      ],
    ],
  },
  'an object needs a name': {
    row: rowOf('configmaps'),
    object: { metadata: {} },
    causes: [
      ['FieldValueRequired', 'metadata.name', 'Required value: name or generateName is required'],
    ],
  },
  'an immutable ConfigMap keeps its data': {
    row: rowOf('configmaps'),
    object: { metadata: { name: 'a' }, immutable: true, data: { x: '2' } },
    old: { metadata: { name: 'a' }, immutable: true, data: { x: '1' } },
    causes: [
      ['FieldValueForbidden', 'data', 'Forbidden: field is immutable when `immutable` is set'],
    ],
  },
  'a claim may grow but not change its class': {
    row: rowOf('persistentvolumeclaims'),
    object: {
      metadata: { name: 'a' },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'y',
        resources: { requests: { storage: '2Gi' } },
      },
    },
    old: {
      metadata: { name: 'a' },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'x',
        resources: { requests: { storage: '1Gi' } },
      },
    },
    causes: [
      [
        'FieldValueForbidden',
        'spec',
        'Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims',
      ],
    ],
  },
  'an Event lives beside its object': {
    row: rowOf('events'),
    object: { metadata: { name: 'a', namespace: 'x' }, involvedObject: { namespace: 'y' } },
    causes: [
      [
        'FieldValueInvalid',
        'involvedObject.namespace',
        'Invalid value: "y": does not match event.namespace',
      ],
    ],
  },
};
for (const [fact, { row, object, old, causes }] of Object.entries(cases)) {
  test(`validate() holds that ${fact}`, () => {
    const seen = causesOf(row, object, old);
    assert.deepEqual(
      seen.map(({ reason, field, message }) => [reason, field, message]),
      causes,
    );
  });
}

const badNames: readonly (readonly [plural: string, name: string])[] = [
  ['statefulsets', 'Web'],
  ['pods', 'web_0'],
  ['namespaces', 'a.b'],
  ['services', '1web'],
  ['configmaps', '-a'],
];
for (const [plural, name] of badNames) {
  test(`validate() refuses the name "${name}" for ${plural}`, () => {
    const causes = rowOf(plural).validate({ metadata: { name } });
    assert.ok(causes.some((cause) => cause.field === 'metadata.name'));
  });
}

test('resourceTable serves each resource once, all in the `all` category but few', () => {
  assert.deepEqual(
    resourceTable.filter(({ categories }) => categories.includes('all')).map((row) => row.singular),
    ['service', 'pod', 'statefulset'],
  );
  const keys = resourceTable.map(({ type }) => `${type.plural}.${type.group}`);
  assert.equal(new Set(keys).size, keys.length);
});
