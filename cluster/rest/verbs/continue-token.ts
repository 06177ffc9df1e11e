import { isJsonObject } from '#base/json.ts';
import { badRequest } from '../../errors/status-errors.ts';
import { numberField, textField } from '../../json/json-fields.ts';

/** Where a next page begins. */
export interface ContinueToken {
  /** Revision of the first page; -1: whatever is stored now (LW-3). */
  readonly revision: number;
  /** The first key that may be shown, relative to the list's scope. */
  readonly start: string;
}

/** Returns the token as a client carries it. */
export function encodeContinue(token: ContinueToken): string {
  const content = { v: 'meta.k8s.io/v1', rv: token.revision, start: token.start };
  return Buffer.from(JSON.stringify(content)).toString('base64url');
}

/** Reads a token. @throws {StatusError} 400 for what this server did not make */
export function decodeContinue(text: string): ContinueToken {
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    throw badRequest('continue key is not valid: it cannot be decoded');
  }
  if (!isJsonObject(parsed) || parsed['v'] !== 'meta.k8s.io/v1') {
    throw badRequest('continue key is not valid: unrecognized encoded version');
  }
  const revision = numberField(parsed, 'rv') ?? 0;
  const start = textField(parsed, 'start');
  if (start === '' || revision === 0 || start.includes('..')) {
    throw badRequest('continue key is not valid: it has no revision or no start');
  }
  return { revision, start };
}
