import type { JsonObject } from '#base/json.ts';
import type { Column, ResourceRow } from '#embedded-cluster/resource-row.ts';
import type { ObjectSchema } from '#embedded-cluster/schema/field-schema.ts';
import { clusterRole, role, roleBinding } from '#embedded-cluster/schema/rbac-kinds.ts';
import { deployment, replicaSet } from '#embedded-cluster/schema/replicated-kinds.ts';
import type { ResourceType } from '#kubernetes/resource-type.ts';
import { ageColumn, createdAtColumn, nameColumn, text } from './columns/column.ts';
import { deploymentColumns, replicaSetColumns } from './columns/workload-columns.ts';
import { defaultPodTemplate } from './default-pod-spec.ts';
import { defineRow, scaleSubresource, statusSubresource } from './define-row.ts';
import { mapObjectAt, objectAt, textAt, withMissing } from './members.ts';
import { subdomainName, validateMetadata } from './validate-metadata.ts';

/** Rows of kinds that are stored and served while nothing here acts on them (SR-2). */

interface Kind {
  readonly kind: string;
  readonly isNamespaced: boolean;
  readonly schema: ObjectSchema;
  readonly columns: readonly Column[];
}

const roleColumns = [nameColumn, createdAtColumn];
const bindingColumns = [
  nameColumn,
  text('Role', (binding) => {
    const reference = objectAt(binding, 'roleRef');
    return `${textAt(reference, 'kind')}/${textAt(reference, 'name')}`;
  }),
  ageColumn,
];

function typeOf(apiVersion: readonly [group: string, version: string], kind: Kind): ResourceType {
  const [group, version] = apiVersion;
  const plural = `${kind.kind.toLowerCase()}s`;
  return Object.freeze({
    group,
    version,
    plural,
    kind: kind.kind,
    isNamespaced: kind.isNamespaced,
  });
}

function rbacRow(kind: Kind): ResourceRow {
  return defineRow({
    type: typeOf(['rbac.authorization.k8s.io', 'v1'], kind),
    singular: kind.kind.toLowerCase(),
    schema: kind.schema,
    columns: kind.columns,
    // Their names may be of any form, such as `system:node`.
    validate: () => [],
    ineffectiveFields: (object) =>
      ['rules', 'roleRef', 'subjects', 'aggregationRule'].filter(
        (member) => object[member] !== undefined,
      ),
    allowsUnconditionalUpdate: true,
  });
}

const replicaDefaults: JsonObject = Object.freeze({ replicas: 1 });
const deploymentDefaults: JsonObject = Object.freeze({
  progressDeadlineSeconds: 600,
  replicas: 1,
  revisionHistoryLimit: 10,
  strategy: Object.freeze({
    rollingUpdate: Object.freeze({ maxSurge: '25%', maxUnavailable: '25%' }),
    type: 'RollingUpdate',
  }),
});

function appsRow(
  kind: Kind,
  more: {
    readonly shortName: string;
    readonly defaults: JsonObject;
    readonly status: JsonObject;
  },
): ResourceRow {
  const { shortName, defaults, status } = more;
  return defineRow({
    type: typeOf(['apps', 'v1'], kind),
    singular: kind.kind.toLowerCase(),
    shortNames: [shortName],
    categories: ['all'],
    schema: kind.schema,
    columns: kind.columns,
    subresources: [scaleSubresource, statusSubresource(kind.kind)],
    hasGeneration: true,
    allowsUnconditionalUpdate: true,
    withDefaults: (object) =>
      mapObjectAt(object, 'spec', (spec) =>
        mapObjectAt(withMissing(spec, defaults), 'template', defaultPodTemplate),
      ),
    prepareForCreate: (object) => ({ ...object, status }),
    validate: (object) => validateMetadata(object, subdomainName),
    ineffectiveFields: (object) => (object['spec'] === undefined ? [] : ['spec']),
  });
}

/** The storage-only rows (SR-2). */
export const storageOnlyRows: readonly ResourceRow[] = Object.freeze([
  appsRow(
    { kind: 'Deployment', isNamespaced: true, schema: deployment, columns: deploymentColumns },
    { shortName: 'deploy', defaults: deploymentDefaults, status: Object.freeze({}) },
  ),
  appsRow(
    { kind: 'ReplicaSet', isNamespaced: true, schema: replicaSet, columns: replicaSetColumns },
    { shortName: 'rs', defaults: replicaDefaults, status: Object.freeze({ replicas: 0 }) },
  ),
  rbacRow({ kind: 'Role', isNamespaced: true, schema: role, columns: roleColumns }),
  rbacRow({ kind: 'ClusterRole', isNamespaced: false, schema: clusterRole, columns: roleColumns }),
  rbacRow({
    kind: 'RoleBinding',
    isNamespaced: true,
    schema: roleBinding,
    columns: bindingColumns,
  }),
  rbacRow({
    kind: 'ClusterRoleBinding',
    isNamespaced: false,
    schema: roleBinding,
    columns: bindingColumns,
  }),
]);
