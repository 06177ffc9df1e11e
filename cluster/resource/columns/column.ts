import type { JsonObject } from '#base/json.ts';
import { objectAt, textAt } from '../../json/members.ts';
import type { Column } from '../../resource-row.ts';
import { humanAge } from './human-age.ts';

type Cell = Column['cell'];

/** Returns a text column; priority 1 shows it with `-o wide` only. */
export function text(name: string, cell: Cell, priority = 0): Column {
  return Object.freeze({ name, type: 'string', format: '', priority, cell });
}

/** Returns a column of whole numbers. */
export function integer(name: string, cell: Cell): Column {
  return Object.freeze({ name, type: 'integer', format: '', priority: 0, cell });
}

/** Returns a column of whole numbers that the API server declares as text. */
export function count(name: string, cell: Cell): Column {
  return Object.freeze({ ...integer(name, cell), type: 'string' });
}

/** Returns `metadata` of `object`. */
export function metadataOf(object: JsonObject): JsonObject | undefined {
  return objectAt(object, 'metadata');
}

/** The name. */
export const nameColumn: Column = Object.freeze({
  ...text('Name', (object) => textAt(metadataOf(object), 'name')),
  format: 'name',
});

/** The time since the creation. */
export const ageColumn: Column = text('Age', (object, now) =>
  humanAge(textAt(metadataOf(object), 'creationTimestamp'), now),
);

/** The time of the creation: what kinds without columns of their own show. */
export const createdAtColumn: Column = Object.freeze({
  name: 'Created At',
  type: 'date',
  format: '',
  priority: 0,
  cell: (object: JsonObject) => textAt(metadataOf(object), 'creationTimestamp'),
});

/** Returns `value`, or `<none>` where it is empty. */
export function orNone(value: string): string {
  return value === '' ? '<none>' : value;
}
