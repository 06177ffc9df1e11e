import { parse as parseYaml } from 'yaml';
import { errorOf } from '#base/error-of.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { invalid, type Parsed, valid } from '#base/parsed.ts';
import { isJsonTooDeep, tooDeep, yamlProblem } from './nesting.ts';
import { type ParsedReview, parseDocument, undecodable } from './parse-document.ts';

/** Longest body that is read as YAML, in bytes (D-29). */
const maxYaml = 256 * 1_024;
const OPEN_BRACE = 0x7b;
const protobufMagic = Buffer.from('k8s\0');

/**
 * Reads the body of a request as an AdmissionReview: JSON, or YAML of up to 256 KiB, whatever its content type (A3,
 * D-29). Unknown members are ignored, of repeated ones the last counts. Total.
 */
export function parseReview(body: Buffer): ParsedReview {
  const document = parseBody(body);
  if (document.kind === 'invalid') return undecodable(document.problem.message);
  return parseDocument(document.value);
}

function parseBody(body: Buffer): Parsed<JsonObject> {
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
