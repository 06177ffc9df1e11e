/** What a field holds. */
export type FieldType =
  | 'string'
  | 'int'
  | 'bool'
  | 'bytes'
  | 'time'
  | 'micro-time'
  | 'int-or-string'
  /** Known and not kept. */
  | 'skipped'
  | Message;

/** One field of a message. */
export interface Field {
  readonly name: string;
  readonly type: FieldType;
  readonly shape: 'one' | 'list' | 'map';
}

/** Fields by their numbers, which are those of the published `generated.proto` files. */
export interface Message {
  readonly fields: Readonly<Record<number, Field>>;
}

/** Returns a field with one value. */
export function one(name: string, type: FieldType): Field {
  return { name, type, shape: 'one' };
}

/** Returns a field that may occur again and again. */
export function listOf(name: string, type: FieldType): Field {
  return { name, type, shape: 'list' };
}

/** Returns a map from text. */
export function mapOf(name: string, type: FieldType): Field {
  return { name, type, shape: 'map' };
}

/** Returns a message whose fields are numbered from 1 in this order. */
export function message(...fields: readonly Field[]): Message {
  return { fields: Object.fromEntries(fields.map((field, index) => [index + 1, field])) };
}
