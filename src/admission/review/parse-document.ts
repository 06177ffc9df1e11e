import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { invalid, type Parsed, valid } from '#base/parsed.ts';
import { isKnownKind } from './known-kinds.ts';
import { formatKind, kindOf, unknownKindText } from './object-kind.ts';
import {
  type AdmissionRequest,
  type GroupVersionKind,
  type Review,
  reviewVersions,
} from './review.ts';

/** A review, or the text of the answer 400. */
export type ParsedReview =
  | { readonly kind: 'review'; readonly review: Review }
  | { readonly kind: 'unreadable'; readonly text: string };

/** Reads a document as an AdmissionReview; unknown members are ignored. Total. */
export function parseDocument(document: JsonObject): ParsedReview {
  const kind = kindOf(document);
  if (kind.kind === 'invalid') return undecodable(kind.problem.message);
  const apiVersion = reviewVersions.find((version) => version === document['apiVersion']);
  if (apiVersion === undefined || kind.value.kind !== 'AdmissionReview') {
    return wrongKind(kind.value);
  }
  const request = parseRequest(document['request']);
  if (request.kind === 'invalid') {
    return undecodable(`${request.problem.path} ${request.problem.message}`);
  }
  return { kind: 'review', review: { apiVersion, request: request.value } };
}

/** Returns the answer to what is not even a document. */
export function undecodable(why: string): ParsedReview {
  return { kind: 'unreadable', text: `Request could not be decoded: ${why}` };
}

function wrongKind(kind: GroupVersionKind): ParsedReview {
  if (isKnownKind(kind)) {
    return { kind: 'unreadable', text: `Unsupported group version kind: ${formatKind(kind)}` };
  }
  return undecodable(unknownKindText(kind));
}

/** A member that has another type makes the whole review unreadable, as it does for the peer. */
class RequestReader {
  readonly #request: JsonObject;
  readonly #path: string;
  problem: Parsed<never> | undefined;

  constructor(request: JsonObject, path: string) {
    this.#request = request;
    this.#path = path;
  }

  text(member: string): string {
    const value = this.#request[member];
    if (typeof value === 'string') return value;
    if (!isAbsent(value)) this.#refuse(member, 'a string');
    return '';
  }

  flag(member: string): boolean {
    const value = this.#request[member];
    if (typeof value === 'boolean') return value;
    if (!isAbsent(value)) this.#refuse(member, 'true or false');
    return false;
  }

  texts(member: string, names: readonly string[]): readonly string[] {
    const value = this.#request[member];
    if (isJsonObject(value)) {
      const inner = new RequestReader(value, `${this.#path}.${member}`);
      const found = names.map((name) => inner.text(name));
      this.problem ??= inner.problem;
      return found;
    }
    if (!isAbsent(value)) this.#refuse(member, 'an object');
    return names.map(() => '');
  }

  #refuse(member: string, wanted: string): void {
    this.problem ??= invalid(`${this.#path}.${member}`, `must be ${wanted}`);
  }
}

function isAbsent(value: JsonValue | undefined): boolean {
  return value === undefined || value === null;
}

function parseRequest(value: JsonValue | undefined): Parsed<AdmissionRequest> {
  if (isAbsent(value)) return invalid('request', 'is missing');
  if (!isJsonObject(value)) return invalid('request', 'must be an object');
  const reader = new RequestReader(value, 'request');
  const [group = '', version = '', kind = ''] = reader.texts('kind', ['group', 'version', 'kind']);
  const [resource = '', resourceGroup = ''] = reader.texts('resource', [
    'resource',
    'group',
    'version',
  ]);
  const [userName = ''] = reader.texts('userInfo', ['username']);
  const request: AdmissionRequest = {
    uid: reader.text('uid'),
    kind: { group, version, kind },
    resourceGroup,
    resource,
    subResource: reader.text('subResource'),
    name: reader.text('name'),
    namespace: reader.text('namespace'),
    operation: reader.text('operation'),
    userName,
    isDryRun: reader.flag('dryRun'),
    object: value['object'],
    oldObject: value['oldObject'],
  };
  return reader.problem ?? valid(request);
}
