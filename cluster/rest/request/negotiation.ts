import { notAcceptable } from '../../errors/status-errors.ts';

/** What an answer is made into (HT-5). `list` answers take the list form of partial metadata. */
export type AnswerForm =
  | { readonly kind: 'object' }
  | { readonly kind: 'table'; readonly version: string }
  | { readonly kind: 'metadata' };

/** The object as it is. */
export const OBJECT_FORM: AnswerForm = Object.freeze({ kind: 'object' });

interface AcceptEntry {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** Returns the entries of an Accept header, in their order. */
export function parseAccept(accept: string): readonly AcceptEntry[] {
  return accept.split(',').map((entry) => {
    const [type = '', ...rest] = entry.split(';').map((part) => part.trim());
    const pairs = rest.map((part): readonly [string, string] => {
      const equals = part.indexOf('=');
      return equals < 0 ? [part, ''] : [part.slice(0, equals), part.slice(equals + 1)];
    });
    return { type, parameters: new Map(pairs) };
  });
}

const JSON_TYPES: ReadonlySet<string> = new Set(['application/json', 'application/*', '*/*']);

const TABLE_VERSIONS: ReadonlySet<string> = new Set(['v1', 'v1beta1']);

function formOf({ type, parameters }: AcceptEntry, isList: boolean): AnswerForm | undefined {
  if (!JSON_TYPES.has(type)) return undefined;
  const as = parameters.get('as');
  if (as === undefined) return OBJECT_FORM;
  const version = parameters.get('v') ?? '';
  if (parameters.get('g') !== 'meta.k8s.io') return undefined;
  if (as === 'Table') return TABLE_VERSIONS.has(version) ? { kind: 'table', version } : undefined;
  const metadataKind = isList ? 'PartialObjectMetadataList' : 'PartialObjectMetadata';
  return as === metadataKind && version === 'v1' ? { kind: 'metadata' } : undefined;
}

/** Returns the first form of the Accept header that is served. @throws {StatusError} 406 when there is none (HT-5) */
export function negotiate(accept: string | undefined, isList: boolean): AnswerForm {
  if (accept === undefined || accept === '' || accept === 'application/json') return OBJECT_FORM;
  for (const entry of parseAccept(accept)) {
    const form = formOf(entry, isList);
    if (form !== undefined) return form;
  }
  throw notAcceptable([
    'application/json',
    'application/json;as=Table;v=v1;g=meta.k8s.io',
    `application/json;as=PartialObjectMetadata${isList ? 'List' : ''};v=v1;g=meta.k8s.io`,
  ]);
}
