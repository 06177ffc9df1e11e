import type { JsonObject } from '#base/json.ts';
import type { ResourceType } from '#kubernetes/resource-type.ts';
import type { ResourceRow } from '../../resource-row.ts';
import type { FieldSchema, LeafKind, ListSchema, ObjectSchema } from '../../schema/field-schema.ts';

const LEAF_TYPES: Readonly<Record<LeafKind, JsonObject>> = {
  bool: { type: 'boolean' },
  bytes: { type: 'string', format: 'byte' },
  ignored: { type: 'object' },
  int: { type: 'integer', format: 'int64' },
  'int-or-string': { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
  'micro-time': { type: 'string', format: 'date-time' },
  json: { 'x-kubernetes-preserve-unknown-fields': true },
  quantity: { oneOf: [{ type: 'string' }, { type: 'number' }] },
  text: { type: 'string' },
  time: { type: 'string', format: 'date-time' },
};

/** Returns the name of a kind's component, unique within the document of its group and version. */
export function componentName({ group, version, kind }: ResourceType): string {
  const reversed = group.split('.').toReversed().join('.');
  return group === '' ? `io.k8s.api.core.${version}.${kind}` : `${reversed}.${version}.${kind}`;
}

/** Returns the schema of a kind as OpenAPI v3, with how its lists merge (HT-10). */
export function componentOf(row: ResourceRow): JsonObject {
  const { group, kind, version } = row.type;
  const shape = row.openApi ?? (row.schema && objectSchema(row.schema)) ?? { type: 'object' };
  return {
    description: `${kind} as the embedded cluster serves it.`,
    ...shape,
    'x-kubernetes-group-version-kind': [{ group, kind, version }],
  };
}

function schemaOf(field: FieldSchema): JsonObject {
  switch (field.kind) {
    case 'object':
      return objectSchema(field);
    case 'list':
      return listSchema(field);
    case 'map':
      return { type: 'object', additionalProperties: schemaOf(field.of) };
    default:
      return LEAF_TYPES[field.kind];
  }
}

function objectSchema({ fields, merge }: ObjectSchema): JsonObject {
  const properties = Object.entries(fields).map(([name, field]): readonly [string, JsonObject] => [
    name,
    schemaOf(field),
  ]);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(merge?.kind === 'replace' ? { 'x-kubernetes-patch-strategy': 'replace' } : {}),
  };
}

function listSchema({ of, merge }: ListSchema): JsonObject {
  const items = { type: 'array', items: schemaOf(of) };
  if (merge === undefined || merge.kind === 'replace') return items;
  return {
    ...items,
    'x-kubernetes-patch-strategy': 'merge',
    ...(merge.kind === 'by-key' ? { 'x-kubernetes-patch-merge-key': merge.key } : {}),
  };
}
