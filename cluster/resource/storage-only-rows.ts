import type { ResourceType } from '#kubernetes/resource-type.ts';
import { objectAt, textAt } from '../json/members.ts';
import type { Column, ResourceRow } from '../resource-row.ts';
import type { ObjectSchema } from '../schema/field-schema.ts';
import { clusterRole, role, roleBinding } from '../schema/rbac-kinds.ts';
import { ageColumn, createdAtColumn, nameColumn, text } from './columns/column.ts';
import { defineRow } from './define-row.ts';

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

/** The storage-only rows (SR-2). */
export const storageOnlyRows: readonly ResourceRow[] = Object.freeze([
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
