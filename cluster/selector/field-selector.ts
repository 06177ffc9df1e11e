import type { JsonObject } from '#base/json.ts';
import { isJsonObject } from '#base/json.ts';
import { badRequest } from '../errors/status-errors.ts';
import type { ResourceRow } from '../resource-row.ts';

/** One condition of a field selector: the field equals `value`, or (`isNegated`) does not. */
export interface FieldRequirement {
  readonly field: string;
  readonly isNegated: boolean;
  readonly value: string;
}

/** A parsed field selector: all `requirements` must hold. */
export interface FieldSelector {
  readonly requirements: readonly FieldRequirement[];
  readonly matches: (object: JsonObject) => boolean;
}

type Reader = (object: JsonObject) => string;

/**
 * Returns the predicate of a `fieldSelector` parameter (OB-14); empty text matches everything.
 *
 * @throws {StatusError} 400 when the text is malformed or the row does not have the label
 */
export function parseFieldSelector(
  text: string,
  row: ResourceRow,
): (object: JsonObject) => boolean {
  return readFieldSelector(text, row).matches;
}

/**
 * Returns the parsed form of a `fieldSelector` parameter (OB-14), for a store that looks up by name or index.
 *
 * @throws {StatusError} 400 when the text is malformed or the row does not have the label
 */
export function readFieldSelector(text: string, row: ResourceRow): FieldSelector {
  const requirements = splitTerms(text).map((term) => requirementOf(term, text));
  const tests = requirements.map((requirement) => testOf(requirement, row));
  return { requirements, matches: (object) => tests.every((holds) => holds(object)) };
}

function testOf(
  { field, isNegated, value }: FieldRequirement,
  row: ResourceRow,
): (object: JsonObject) => boolean {
  const read = readerOf(field, row);
  return (object) => (read(object) === value) !== isNegated;
}

function readerOf(field: string, row: ResourceRow): Reader {
  if (field === 'metadata.name') return metadataReader('name');
  if (field === 'metadata.namespace') return metadataReader('namespace');
  const read = Object.hasOwn(row.fieldLabels, field) ? row.fieldLabels[field] : undefined;
  if (read === undefined) throw badRequest(`field label not supported: ${field}`);
  return read;
}

function metadataReader(member: string): Reader {
  return ({ metadata }) => {
    const value = isJsonObject(metadata) ? metadata[member] : undefined;
    return typeof value === 'string' ? value : '';
  };
}

/** Splits at commas; a backslash takes the next character literally. Empty terms are skipped. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let i = 0; i < text.length; i += 1) {
    if (text[i] === '\\') {
      i += 1;
    } else if (text[i] === ',') {
      terms.push(text.slice(start, i));
      start = i + 1;
    }
  }
  terms.push(text.slice(start));
  return terms.filter((term) => term !== '');
}

const term = /^([^=!]+)(==|=|!=)((?:[^=\\,]|\\[\\,=])*)$/;

function requirementOf(source: string, text: string): FieldRequirement {
  const [, field, sign, value] = term.exec(source) ?? [];
  if (field === undefined || value === undefined) {
    throw badRequest(`invalid field selector: '${text}'; can't understand '${source}'`);
  }
  return { field, isNegated: sign === '!=', value: value.replaceAll(/\\([\\,=])/g, '$1') };
}
