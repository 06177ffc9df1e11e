import { isJsonObject, type JsonObject, type JsonValue, jsonIn } from '#base/json.ts';
import { type Instant, type Millis, seconds } from '#base/units.ts';
import type { ListResult } from './client.ts';
import type { KubernetesObject } from './object.ts';
import {
  ApiError,
  type Call,
  MalformedAnswerError,
  parseRetryAfter,
} from './transport/api-error.ts';

/** A whole answer, and what it answers. */
export interface WholeAnswer {
  readonly call: Call;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/**
 * Returns the JSON of a 2xx answer. A proxy may send a failure with 200, which says nothing of what the server did.
 *
 * @throws {MalformedAnswerError} when it is empty, cut off, not JSON, or a Status of a failure
 */
export function parseJson(answer: WholeAnswer): JsonValue {
  const text = textOf(answer.body);
  if (text === '') throw malformed(answer, 'it is empty');
  const value = jsonIn(text);
  if (value === undefined) {
    throw malformed(
      answer,
      `its ${answer.body.byteLength} bytes are cut off or no JSON: ${quote(text)}`,
    );
  }
  if (isJsonObject(value) && isStatus(value) && value['status'] === 'Failure') {
    throw malformed(answer, `it is a Status of a failure: ${quote(text)}`);
  }
  return value as JsonValue;
}

/** Returns the object of a 2xx answer. @throws {MalformedAnswerError} when it is none, or lacks name, uid or resourceVersion */
export function parseObject(answer: WholeAnswer): KubernetesObject {
  const value = parseJson(answer);
  const fault = objectFault(value);
  if (fault !== undefined) throw malformed(answer, fault);
  return value as KubernetesObject;
}

/** Returns the object of a 2xx answer, or undefined for a bare Status. @throws {MalformedAnswerError} as {@link parseObject} */
export function parseObjectOrStatus(answer: WholeAnswer): KubernetesObject | undefined {
  const value = parseJson(answer);
  if (isStatus(value)) return undefined;
  const fault = objectFault(value);
  if (fault !== undefined) throw malformed(answer, fault);
  return value as KubernetesObject;
}

/** Returns what would have been stored, which has no resourceVersion; it is given the key's name, and none. */
export function parseUnstored(
  answer: WholeAnswer,
  { namespace, name = '' }: { readonly namespace?: string; readonly name?: string },
): KubernetesObject {
  const value = parseJson(answer);
  const unstored = {
    name,
    ...(namespace !== undefined && { namespace }),
    uid: '',
    resourceVersion: '',
  };
  if (!isJsonObject(value)) return { metadata: unstored };
  const metadata = isJsonObject(value['metadata']) ? value['metadata'] : {};
  return { ...value, metadata: { ...metadata, ...unstored } };
}

/** Returns what was created; an eviction or a binding is answered by a bare Status, which is given the key's name, and no uid. */
export function parseCreated(
  answer: WholeAnswer,
  key: { readonly namespace?: string; readonly name?: string },
): KubernetesObject {
  const value = parseJson(answer);
  if (!isStatus(value) || !isJsonObject(value)) return parseObject(answer);
  const metadata = { ...key, name: key.name ?? '', uid: '', resourceVersion: '' };
  return { ...value, metadata };
}

/** Returns the list of a 2xx answer. @throws {MalformedAnswerError} when it, or any item, is not what the API promises */
export function parseList(answer: WholeAnswer): ListResult {
  const value = parseJson(answer);
  if (!isJsonObject(value)) throw malformed(answer, `it is ${quote(JSON.stringify(value))}`);
  const { metadata } = value;
  const revision = isJsonObject(metadata) ? metadata['resourceVersion'] : undefined;
  if (!isJsonObject(metadata) || typeof revision !== 'string' || revision === '') {
    throw malformed(answer, `its metadata is ${quote(JSON.stringify(metadata))}`);
  }
  const token = metadata['continue'];
  const list = { resourceVersion: revision, items: itemsOf(value, answer) };
  return typeof token === 'string' && token !== '' ? { ...list, continue: token } : list;
}

function itemsOf(list: JsonObject, answer: WholeAnswer): readonly KubernetesObject[] {
  const { items } = list;
  if (!Array.isArray(items))
    throw malformed(answer, `its items are ${quote(JSON.stringify(items))}`);
  for (const [index, item] of items.entries()) {
    const fault = objectFault(item);
    if (fault !== undefined) throw malformed(answer, `of items[${index}] ${fault}`);
  }
  return items as readonly KubernetesObject[];
}

/** Returns the error for an answer that is not 2xx; what the body says counts, where it is a Status (ER-1). */
export function parseRefusal(answer: WholeAnswer, now: Instant): ApiError {
  const text = textOf(answer.body);
  const status = statusBody(text);
  const details = isJsonObject(status['details']) ? status['details'] : {};
  return new ApiError(answer.call, {
    status: answer.status,
    reason: stringOr(status['reason'], ''),
    message: stringOr(status['message'], text === '' ? 'the answer has no body' : quote(text)),
    details,
    retryAfter: parseRetryAfter(answer.headers['retry-after'], now) ?? retryAfterOf(details),
  });
}

/** Reports whether `value` is a `Status` object. */
function isStatus(value: JsonValue): boolean {
  return isJsonObject(value) && value['kind'] === 'Status' && value['apiVersion'] === 'v1';
}

function retryAfterOf(details: JsonObject): Millis | undefined {
  const wait = details['retryAfterSeconds'];
  return typeof wait === 'number' && wait > 0 ? seconds(wait) : undefined;
}

function statusBody(text: string): JsonObject {
  const value = jsonIn(text);
  // Proxies and overloaded servers answer in plain text; the text itself becomes the message.
  return isJsonObject(value) ? value : {};
}

const required = ['name', 'uid', 'resourceVersion'] as const;

/** Returns what is wrong with an object, as a clause; undefined when nothing is. */
function objectFault(value: JsonValue): string | undefined {
  if (!isJsonObject(value)) return `it is ${quote(JSON.stringify(value))}`;
  const { metadata } = value;
  if (!isJsonObject(metadata)) return `its metadata is ${quote(JSON.stringify(metadata))}`;
  for (const member of required) {
    const seen = metadata[member];
    if (typeof seen !== 'string' || seen === '') {
      return `its metadata.${member} is ${quote(JSON.stringify(seen))}`;
    }
  }
  return undefined;
}

function malformed(answer: WholeAnswer, seen: string): MalformedAnswerError {
  return new MalformedAnswerError(answer.call, answer.status, seen);
}

function textOf(body: Uint8Array): string {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
}

/** Returns the first 200 characters, fit for one line of a log. */
function quote(text: string | undefined): string {
  const line = (text ?? 'absent').replaceAll(/\s+/g, ' ').trim();
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}

function stringOr(value: JsonValue | undefined, fallback: string): string {
  return typeof value === 'string' && value !== '' ? value : fallback;
}
