/**
 * The fields that each kind may have, by which an object is decoded strictly and lists are merged. Whether a value is
 * allowed is checked by `resource/`.
 */
import type { ListMerge } from '../resource-row.ts';

/** What a leaf holds on the wire. `bytes` is base64 text, `json` anything at all, `ignored` is known but never stored. */
export type LeafKind =
  | 'bool'
  | 'bytes'
  | 'ignored'
  | 'int'
  | 'int-or-string'
  | 'json'
  | 'quantity'
  | 'text'
  | 'time'
  | 'micro-time';

/** A value that is no container. */
export interface LeafSchema {
  readonly kind: LeafKind;
  /** Whether the zero value is stored; otherwise `0`, `false`, `''` count as absent, as for a Go field with `omitempty`. */
  readonly keepsZero: boolean;
}

/** A struct: only these members exist. Stored even when empty. */
export interface ObjectSchema {
  readonly kind: 'object';
  readonly fields: Readonly<Record<string, FieldSchema>>;
  /** How strategic merge treats the whole; undefined means member by member. */
  readonly merge?: ListMerge;
}

/** A list; absent when empty, unless `keepsZero`. */
export interface ListSchema {
  readonly kind: 'list';
  readonly of: FieldSchema;
  readonly keepsZero: boolean;
  /** How strategic merge treats it; undefined means as one value. */
  readonly merge?: ListMerge;
}

/** A map of any keys to values of one schema; absent when empty. */
export interface MapSchema {
  readonly kind: 'map';
  readonly of: FieldSchema;
}

/** The shape of one field of a served kind. */
export type FieldSchema = LeafSchema | ListSchema | MapSchema | ObjectSchema;

function leaf(kind: LeafKind, keepsZero = false): LeafSchema {
  return Object.freeze({ kind, keepsZero });
}

/** A string. */
export const text = leaf('text');
/** An integer. */
export const int = leaf('int');
/** A boolean. */
export const bool = leaf('bool');
/** RFC 3339 text. */
export const time = leaf('time');
/** RFC 3339 text with exactly six digits of a second's fraction, as a MicroTime is read. */
export const microTime = leaf('micro-time');
/** Base64 text, stored even when empty. */
export const bytes = leaf('bytes', true);
/** A resource quantity such as `100m`; stored in canonical form. */
export const quantity = leaf('quantity', true);
/** An integer or a string, such as a port or a percentage. */
export const intOrString = leaf('int-or-string', true);
/** Any JSON value, stored as it is. */
export const json = leaf('json', true);
/** A field that exists and is never stored (OB-18). */
export const ignored = leaf('ignored');

/** Returns `schema` whose zero value is stored: a required field, or a pointer in Go. */
export function kept(schema: LeafSchema): LeafSchema;
export function kept(schema: ListSchema): ListSchema;
export function kept(schema: LeafSchema | ListSchema): LeafSchema | ListSchema {
  return Object.freeze({ ...schema, keepsZero: true });
}

/** Returns a struct with these members. */
export function fields(members: Readonly<Record<string, FieldSchema>>): ObjectSchema {
  return Object.freeze({ kind: 'object', fields: members });
}

/** Returns `schema` whose value strategic merge replaces as a whole. */
export function replaced(schema: ObjectSchema): ObjectSchema {
  return Object.freeze({ ...schema, merge: { kind: 'replace' } as const });
}

/** Returns a list that strategic merge replaces. */
export function list(of: FieldSchema): ListSchema {
  return Object.freeze({ kind: 'list', of, keepsZero: false });
}

/** Returns a list that strategic merge merges by the member `key` of its elements. */
export function listBy(key: string, of: ObjectSchema): ListSchema {
  return Object.freeze({
    kind: 'list',
    of,
    keepsZero: false,
    merge: { kind: 'by-key', key } as const,
  });
}

/** Returns a list of scalars that strategic merge treats as a set. */
export function setOf(of: LeafSchema): ListSchema {
  return Object.freeze({ kind: 'list', of, keepsZero: false, merge: { kind: 'set' } as const });
}

/** Returns a map of any keys to `of`. */
export function mapOf(of: FieldSchema): MapSchema {
  return Object.freeze({ kind: 'map', of });
}
