import type { JsonObject } from '#base/json.ts';
import { invalid, type Parsed, valid } from '#base/parsed.ts';
import { bytesOf } from './parse-credentials.ts';

/** Where a token is. */
export interface TokenRef {
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
}

/** What a header can hold: others would be reported in an error, with the token. */
const sendable = /^[\x21-\x7e]+$/;

/**
 * Reads a token from a Secret, white space around it left out.
 *
 * @param secret undefined where there is none of that name
 */
export function parseConsulToken(
  { name, key }: TokenRef,
  secret: JsonObject | undefined,
): Parsed<string> {
  if (secret === undefined) return invalid(`Secret "${name}"`, 'must exist: found none');
  return parseToken(`Secret "${name}", key ${key}`, bytesOf(secret, key)?.toString());
}

/** Reads a token as it is in a file or a variable, white space around it left out. @param path names it, for the problem */
export function parseToken(path: string, text = ''): Parsed<string> {
  const token = text.trim();
  if (sendable.test(token)) return valid(token);
  const found = token === '' ? 'none' : 'other characters';
  return invalid(path, `must hold one line of printable characters: found ${found}`);
}
