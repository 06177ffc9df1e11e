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
class MemberReader {
  readonly #object: JsonObject;
  readonly #path: string;
  readonly #problems: Parsed<never>[];

  /** @param problems gets what is wrong, in the order in which it is read */
  constructor(object: JsonObject, path: string, problems: Parsed<never>[]) {
    this.#object = object;
    this.#path = path;
    this.#problems = problems;
  }

  text(member: string): string {
    const value = this.#object[member];
    if (typeof value === 'string') return value;
    if (!isAbsent(value)) this.#refuse(member, 'a string');
    return '';
  }

  flag(member: string): boolean {
    const value = this.#object[member];
    if (typeof value === 'boolean') return value;
    if (!isAbsent(value)) this.#refuse(member, 'true or false');
    return false;
  }

  object(member: string): MemberReader {
    const value = this.#object[member];
    const isObject = isJsonObject(value);
    if (!isObject && !isAbsent(value)) this.#refuse(member, 'an object');
    return new MemberReader(isObject ? value : {}, `${this.#path}.${member}`, this.#problems);
  }

  #refuse(member: string, wanted: string): void {
    this.#problems.push(invalid(`${this.#path}.${member}`, `must be ${wanted}`));
  }
}

function isAbsent(value: JsonValue | undefined): boolean {
  return value === undefined || value === null;
}

function parseRequest(value: JsonValue | undefined): Parsed<AdmissionRequest> {
  if (isAbsent(value)) return invalid('request', 'is missing');
  if (!isJsonObject(value)) return invalid('request', 'must be an object');
  const problems: Parsed<never>[] = [];
  const reader = new MemberReader(value, 'request', problems);
  const request: AdmissionRequest = {
    kind: kindIn(reader.object('kind')),
    ...resourceIn(reader.object('resource')),
    userName: reader.object('userInfo').text('username'),
    uid: reader.text('uid'),
    subResource: reader.text('subResource'),
    name: reader.text('name'),
    namespace: reader.text('namespace'),
    operation: reader.text('operation'),
    isDryRun: reader.flag('dryRun'),
    object: value['object'],
    oldObject: value['oldObject'],
  };
  const [problem] = problems;
  return problem ?? valid(request);
}

function kindIn(reader: MemberReader): GroupVersionKind {
  return {
    group: reader.text('group'),
    version: reader.text('version'),
    kind: reader.text('kind'),
  };
}

function resourceIn(reader: MemberReader): Pick<AdmissionRequest, 'resource' | 'resourceGroup'> {
  const found = { resource: reader.text('resource'), resourceGroup: reader.text('group') };
  // Of no use, but one of another type makes the review unreadable, too.
  reader.text('version');
  return found;
}
