import { errorOf } from '#base/error-of.ts';
import type { JsonValue } from '#base/json.ts';
import { badRequest } from '../errors/status-errors.ts';

/** Parses `text`. @throws {StatusError} 400 when it is not JSON */
export function parseJson(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    const why = errorOf(error).message;
    throw badRequest(`the object provided is not valid JSON: ${why}`);
  }
}
