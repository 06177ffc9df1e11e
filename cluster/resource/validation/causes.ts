import type { JsonValue } from '#base/json.ts';
import type { Cause } from '../../errors/status-error.ts';

function withDetail(text: string, detail: string): string {
  return detail === '' ? text : `${text}: ${detail}`;
}

/** Returns the cause for a field that must be given. */
export function required(field: string, detail = ''): Cause {
  return { reason: 'FieldValueRequired', message: withDetail('Required value', detail), field };
}

/** Returns the cause for a field whose value breaks a rule, which `detail` states. */
export function invalidValue(field: string, value: JsonValue | undefined, detail: string): Cause {
  const seen = JSON.stringify(value ?? null);
  return { reason: 'FieldValueInvalid', message: `Invalid value: ${seen}: ${detail}`, field };
}

/** Returns the cause for a field that may not be set or changed. */
export function forbiddenField(field: string, detail: string): Cause {
  return { reason: 'FieldValueForbidden', message: `Forbidden: ${detail}`, field };
}

/** Returns the cause for a field that takes only the values `supported`, which are listed sorted. */
export function notSupported(field: string, value: string, supported: readonly string[]): Cause {
  return notOneOf(field, value, supported.toSorted());
}

/** Returns the cause for a field that takes only the values `supported`, which are listed as they come. */
export function notOneOf(field: string, value: JsonValue, supported: readonly string[]): Cause {
  const list = supported.map((each) => JSON.stringify(each)).join(', ');
  return {
    reason: 'FieldValueNotSupported',
    message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${list}`,
    field,
  };
}

/** Returns the cause for a value that may occur once only. */
export function duplicate(field: string, value: JsonValue): Cause {
  return {
    reason: 'FieldValueDuplicate',
    message: `Duplicate value: ${JSON.stringify(value)}`,
    field,
  };
}

/** Returns the cause for a reference within the object that leads nowhere. */
export function notFoundValue(field: string, value: string): Cause {
  return { reason: 'FieldValueNotFound', message: `Not found: ${JSON.stringify(value)}`, field };
}

/** Returns the cause for a value of more than `limit` bytes. */
export function tooLong(field: string, limit: number): Cause {
  return {
    reason: 'FieldValueTooLong',
    message: `Too long: may not be more than ${limit} ${limit === 1 ? 'byte' : 'bytes'}`,
    field,
  };
}

/** A list or a map with more members than `limit`. */
export function tooMany(field: string, count: number, limit: number): Cause {
  return {
    reason: 'FieldValueTooMany',
    message: `Too many: ${count}: must have at most ${limit} ${limit === 1 ? 'item' : 'items'}`,
    field,
  };
}

/** Returns a cause when `value` is a number below 0; absent values pass. */
export function negativeCauses(field: string, value: JsonValue | undefined): readonly Cause[] {
  return typeof value === 'number' && value < 0
    ? [invalidValue(field, value, 'must be greater than or equal to 0')]
    : [];
}
