import { parse as parseYaml } from 'yaml';
import { errorOf } from '#base/error-of.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { invalid, type Parsed, valid } from '#base/parsed.ts';
import { isKnownKind } from './known-kinds.ts';
import { isJsonTooDeep, tooDeep, yamlProblem } from './nesting.ts';
import { formatKind, kindOf, unknownKindText } from './object-kind.ts';
import {
  type AdmissionRequest,
  type GroupVersionKind,
  type Review,
  reviewVersions,
} from './review.ts';

/** Longest body that is read as YAML, in bytes (D-29). */
const maxYaml = 256 * 1_024;
const OPEN_BRACE = 0x7b;
const protobufMagic = Buffer.from('k8s\0');

/** A review, or the text of the answer 400 (A4, A5, A10). */
export type ParsedReview =
  | { readonly kind: 'review'; readonly review: Review }
  | { readonly kind: 'unreadable'; readonly text: string };

/**
 * Reads the body of a request as an AdmissionReview: JSON, or YAML of up to 256 KiB, whatever its content type (A3,
 * D-29). Unknown members are ignored, of repeated ones the last counts. Total.
 */
export function parseReview(body: Buffer): ParsedReview {
  const document = parseDocument(body);
  if (document.kind === 'invalid') return undecodable(document.problem.message);
  const kind = kindOf(document.value);
  if (kind.kind === 'invalid') return undecodable(kind.problem.message);
  const apiVersion = reviewVersions.find((version) => version === document.value['apiVersion']);
  if (apiVersion === undefined || kind.value.kind !== 'AdmissionReview') {
    return wrongKind(kind.value);
  }
  const request = parseRequest(document.value['request']);
  if (request.kind === 'invalid') {
    return undecodable(`${request.problem.path} ${request.problem.message}`);
  }
  return { kind: 'review', review: { apiVersion, request: request.value } };
}

function undecodable(why: string): ParsedReview {
  return { kind: 'unreadable', text: `Request could not be decoded: ${why}` };
}

function wrongKind(kind: GroupVersionKind): ParsedReview {
  if (isKnownKind(kind)) {
    return { kind: 'unreadable', text: `Unsupported group version kind: ${formatKind(kind)}` };
  }
  return undecodable(unknownKindText(kind));
}

function parseDocument(body: Buffer): Parsed<JsonObject> {
  if (body.subarray(0, 4).equals(protobufMagic)) return unread('protobuf is not supported');
  const value = startsWithBrace(body) ? parseJson(body) : parseBlockYaml(body);
  if (value.kind === 'invalid') return value;
  return isJsonObject(value.value) ? valid(value.value) : unread('the body is no object');
}

function unread(message: string): Parsed<never> {
  return invalid('body', message);
}

/** What begins so is JSON; all else is tried as YAML. */
function startsWithBrace(body: Buffer): boolean {
  let at = 0;
  while (isBlank(body[at])) at += 1;
  return body[at] === OPEN_BRACE;
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function parseJson(body: Buffer): Parsed<JsonValue> {
  const text = body.toString('utf8');
  if (isJsonTooDeep(text, body)) return unread(`it ${tooDeep}`);
  try {
    return valid(JSON.parse(text) as JsonValue);
  } catch (error) {
    return unread(firstLineOf(error));
  }
}

function parseBlockYaml(body: Buffer): Parsed<JsonValue> {
  if (body.length > maxYaml) {
    return unread(`it is no JSON object, and longer than the ${maxYaml} bytes that YAML may have`);
  }
  const problem = yamlProblem(body);
  if (problem !== undefined) return unread(`it ${problem}`);
  try {
    const options = { uniqueKeys: false, logLevel: 'silent' } as const;
    return valid(parseYaml(body.toString('utf8'), options) as JsonValue);
  } catch (error) {
    return unread(firstLineOf(error));
  }
}

/** Parsers quote the input in their messages: a line of it is enough. */
function firstLineOf(error: unknown): string {
  const [line = ''] = errorOf(error).message.split('\n', 1);
  return line.slice(0, 300);
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
  const [resource = ''] = reader.texts('resource', ['resource', 'group', 'version']);
  const [userName = ''] = reader.texts('userInfo', ['username']);
  const request: AdmissionRequest = {
    uid: reader.text('uid'),
    kind: { group, version, kind },
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
