import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { numberField, textField } from '../json/json-fields.ts';
import { ageColumn, nameColumn } from '../resource/columns/column.ts';
import { humanAge } from '../resource/columns/human-age.ts';
import type { Column } from '../resource-row.ts';
import { compileJsonPath } from './json-path.ts';

const TYPES: ReadonlySet<string> = new Set(['string', 'integer', 'number', 'boolean', 'date']);

function isColumnType(type: string): type is Column['type'] {
  return TYPES.has(type);
}

/** Returns the columns of a CustomResourceDefinition's version; name and age where it gives none (CR-6). */
export function printerColumns(version: JsonObject): readonly Column[] {
  const given = version['additionalPrinterColumns'];
  const columns = isJsonArray(given) ? given.filter(isJsonObject).map(columnOf) : [];
  return columns.length === 0 ? [nameColumn, ageColumn] : [nameColumn, ...columns];
}

function columnOf(definition: JsonObject): Column {
  const type = textField(definition, 'type');
  const shown = isColumnType(type) ? type : 'string';
  const read = compileJsonPath(textField(definition, 'jsonPath'));
  return {
    name: textField(definition, 'name'),
    // A date is shown as an age, which is a text.
    type: shown === 'date' ? 'string' : shown,
    format: '',
    priority: numberField(definition, 'priority') ?? 0,
    cell: (object, now) => cellOf(read?.(object), shown, now),
  };
}

function cellOf(value: JsonValue | undefined, type: Column['type'], now: number): JsonValue {
  if (value === undefined || value === null) return null;
  if (type === 'date') return typeof value === 'string' ? humanAge(value, now) : '<invalid>';
  if (type === 'string') return typeof value === 'string' ? value : JSON.stringify(value);
  const wanted = type === 'boolean' ? 'boolean' : 'number';
  return typeof value === wanted ? value : null;
}
