import type { ListMerge } from '../resource-row.ts';
import type { FieldSchema } from './field-schema.ts';

/**
 * Returns how strategic merge treats the value at a path of member names (PA-5), looked up in a table built once. Undefined
 * means member by member for an object, and replacement for a list.
 */
export function compileListMerge(schema: FieldSchema): (path: string) => ListMerge | undefined {
  const table = new Map<string, ListMerge>();
  collect(schema, '', table);
  return (path) => table.get(path);
}

function collect(schema: FieldSchema, path: string, table: Map<string, ListMerge>): void {
  if (schema.kind === 'object') {
    if (schema.merge !== undefined) table.set(path, schema.merge);
    for (const [member, field] of Object.entries(schema.fields)) {
      collect(field, path === '' ? member : `${path}.${member}`, table);
    }
  } else if (schema.kind === 'list') {
    if (schema.merge !== undefined) table.set(path, schema.merge);
    collect(schema.of, path, table);
  }
}
