import { isUntypedObject, type Untyped, type UntypedObject, untypedNumber } from './untyped.ts';

/** An object, or the error text of Go's decoder. */
export type ParsedObject =
  | { readonly kind: 'object'; readonly object: UntypedObject }
  | { readonly kind: 'undecodable'; readonly text: string };

/** What a reviver gets in addition to a value (ECMA-262, JSON.parse source text access); the types do not have it yet. */
type Reviver = (name: string, value: Untyped, context: { readonly source?: string }) => Untyped;

/**
 * Reads the JSON text of one object, as the peer does where it decodes what it reviews: numbers by their text, characters
 * that are none replaced. Total.
 *
 * @param source well-formed JSON, of bounded length
 */
export function parseUntyped(source: string): ParsedObject {
  let overflow: string | undefined;
  const revive: Reviver = (_name, value, { source: text }) => {
    if (typeof value === 'string') return value.toWellFormed();
    if (typeof value !== 'number' || text === undefined) return value;
    if (!Number.isFinite(value)) overflow ??= text;
    return untypedNumber(text);
  };
  const value = JSON.parse(source, revive as Parameters<typeof JSON.parse>[1]) as Untyped;
  if (overflow !== undefined) {
    return undecodable(`cannot unmarshal number ${overflow} into Go value of type float64`);
  }
  if (isUntypedObject(value)) return { kind: 'object', object: value };
  if (value === null) return { kind: 'object', object: {} };
  const is = Array.isArray(value) ? 'array' : jsonTypes[typeof value];
  return undecodable(`cannot unmarshal ${is} into Go value of type map[string]interface {}`);
}

const jsonTypes: Readonly<Record<string, string>> = {
  bigint: 'number',
  number: 'number',
  string: 'string',
  boolean: 'bool',
};

function undecodable(what: string): ParsedObject {
  return { kind: 'undecodable', text: `json: ${what}` };
}
