import { badRequest } from '../../errors/status-errors.ts';
import { invalidOptions } from './status.ts';

/** Returns the boolean query parameter `name`; false when absent. @throws {StatusError} 400 when malformed (HT-9) */
export function booleanParameter(query: URLSearchParams, name: string): boolean {
  const text = query.get(name);
  if (text === null || text === '') return false;
  if (/^(1|t|true)$/i.test(text)) return true;
  if (/^(0|f|false)$/i.test(text)) return false;
  throw badRequest(`invalid value for the query parameter ${name}: "${text}" is not a boolean`);
}

/** Returns the integer query parameter `name`, or undefined when absent. @throws {StatusError} 400 when malformed (HT-9) */
export function integerParameter(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  if (!/^-?\d{1,15}$/.test(text)) {
    throw badRequest(`invalid value for the query parameter ${name}: "${text}" is not an integer`);
  }
  return Number(text);
}

/** Reports whether the request is a dry run. @throws {StatusError} 422 for anything but `All` (OB-12) */
export function isDryRun(values: readonly string[], kind: string): boolean {
  const wrong = values.find((value) => value !== 'All');
  if (wrong === undefined) return values.length > 0;
  throw invalidOptions(kind, {
    reason: 'FieldValueNotSupported',
    message: `Unsupported value: "${wrong}": supported values: "All"`,
    field: 'dryRun',
  });
}

/** How unknown fields are met (OB-13). */
export type FieldValidation = 'Strict' | 'Warn' | 'Ignore';

/** Reads `fieldValidation`. @throws {StatusError} 422 for an unknown mode */
export function fieldValidationOf(query: URLSearchParams): FieldValidation {
  const text = query.get('fieldValidation') ?? '';
  if (text === '') return 'Warn';
  if (text === 'Strict' || text === 'Warn' || text === 'Ignore') return text;
  throw invalidOptions('CreateOptions', {
    reason: 'FieldValueNotSupported',
    message: `Unsupported value: "${text}": supported values: "Ignore", "Strict", "Warn"`,
    field: 'fieldValidation',
  });
}
