import { isJsonArray, isJsonObject, type JsonObject } from '#base/json.ts';
import type { SpecFields } from '#base/spec-fields.ts';

/** A header that is sent with a query: its value is written in the spec, or in a key of the Secret of the query. */
export type QueryHeader =
  | { readonly name: string; readonly value: string }
  | { readonly name: string; readonly secretKey: string };

/** Headers of one query at most. */
export const mostHeaders = 16;
/** Characters of a name, of a value that is written in the spec, and of a key of a Secret. */
export const longestHeader = { name: 128, value: 1_024, secretKey: 253 } as const;

const token = /^[\w!#$%&'*+.^`|~-]+$/;
/** What HTTP carries unchanged: ASCII that can be seen, with blanks between. */
const printable = /^[\u0021-\u007e](?:[\u0020-\u007e]*[\u0021-\u007e])?$/;

/** Names that this program or HTTP itself decides on, with which an answer could not be read, or another would be asked. */
const reserved: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  // The services that give machines of a cloud their credentials want one of these as a proof that no page of a browser asks.
  'metadata',
  'metadata-flavor',
  'x-aws-ec2-metadata-token',
  'x-aws-ec2-metadata-token-ttl-seconds',
  'x-google-metadata-request',
]);

/** Returns the headers of a query, or none; what is wrong with them is refused. */
export function queryHeadersOf(
  written: JsonObject,
  path: string,
  fields: SpecFields,
): { readonly headers?: readonly QueryHeader[] } {
  const list = written['headers'] ?? [];
  if (!isJsonArray(list)) {
    fields.refuse(`${path}.headers`, 'must be a list of headers', list);
    return {};
  }
  if (list.length > mostHeaders) {
    fields.refuse(`${path}.headers`, `must be at most ${mostHeaders} headers`, list.length);
  }
  const headers = list.slice(0, mostHeaders).flatMap((each, index): readonly QueryHeader[] => {
    const place = `${path}.headers[${index}]`;
    if (isJsonObject(each)) return headerOf(each, place, fields);
    fields.refuse(place, 'must be a header with name, and value or secretKey', each);
    return [];
  });
  const names = headers.map(({ name }) => name.toLowerCase());
  const twice = names.findIndex((name, index) => names.indexOf(name) < index);
  if (twice >= 0) fields.refuse(`${path}.headers`, 'must have each name once', names[twice]);
  return headers.length === 0 ? {} : { headers };
}

function headerOf(written: JsonObject, path: string, fields: SpecFields): readonly QueryHeader[] {
  const name = nameOf(written, path, fields);
  const value = fields.text(written, `${path}.value`, '') ?? '';
  const secretKey = fields.text(written, `${path}.secretKey`, '') ?? '';
  if ((value === '') === (secretKey === '')) {
    fields.refuse(path, 'must have either value or secretKey', secretKey || undefined);
    return [];
  }
  if (secretKey !== '') return [{ name, secretKey }];
  if (value.length <= longestHeader.value && printable.test(value)) return [{ name, value }];
  const wanted = `must be 1 to ${longestHeader.value} printable characters of ASCII, without blanks around them`;
  fields.refuse(`${path}.value`, wanted, value);
  return [];
}

function nameOf(written: JsonObject, path: string, fields: SpecFields): string {
  const name = fields.text(written, `${path}.name`) ?? '';
  const isToken = name.length <= longestHeader.name && token.test(name);
  if (name !== '' && !isToken) {
    fields.refuse(
      `${path}.name`,
      'must be the name of an HTTP header, such as X-Scope-OrgID',
      name,
    );
  }
  const lower = name.toLowerCase();
  if (lower === 'authorization') {
    const wanted = 'must be another header: credentials are in the Secret that secretRef names';
    fields.refuse(`${path}.name`, wanted, name);
  }
  if (reserved.has(lower)) {
    fields.refuse(`${path}.name`, 'must be a header that a query may choose', name);
  }
  return name;
}

/** Returns the headers as they are sent, names in lower case; undefined where a value is not there. */
export function sentHeaders(
  headers: readonly QueryHeader[],
  secretValues: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> | undefined {
  const sent: Record<string, string> = {};
  for (const header of headers) {
    const value = 'value' in header ? header.value : secretValues[header.secretKey];
    if (value === undefined) return undefined;
    sent[header.name.toLowerCase()] = value;
  }
  return sent;
}
