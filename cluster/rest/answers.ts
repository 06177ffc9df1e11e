import type { JsonObject } from '#base/json.ts';
import { StatusError } from '../errors/status-error.ts';
import { JSON_TYPE, type WholeAnswer } from './request/api-request.ts';
import type { Reply } from './request/server-context.ts';
import { statusOf } from './request/status.ts';
import { ExpiredTokenError } from './verbs/list.ts';

const jsonHeaders = { 'content-type': JSON_TYPE } as const;
const textHeaders = { 'content-type': 'text/plain; charset=utf-8' } as const;

/** Returns plain text, such as `ok` and `404 page not found`. */
export function textAnswer(status: number, text: string): WholeAnswer {
  return { kind: 'whole', status, headers: textHeaders, body: [Buffer.from(text)] };
}

/** Returns a JSON document that is not an object of the store. */
export function documentAnswer(document: JsonObject, mediaType: string = JSON_TYPE): WholeAnswer {
  const body = [Buffer.from(JSON.stringify(document))];
  return { kind: 'whole', status: 200, headers: { 'content-type': mediaType }, body };
}

/** Returns the value of the Warning header, or undefined when there is nothing to warn of (HT-8). */
function warningHeader(warnings: readonly string[]): string | undefined {
  if (warnings.length === 0) return undefined;
  return [...new Set(warnings)]
    .map((text) => `299 - "${text.replaceAll(/["\\]/g, '\\$&')}"`)
    .join(', ');
}

/** Returns what a handler replied. */
export function replyAnswer(reply: Reply, warnings: readonly string[]): WholeAnswer {
  const warning = warningHeader(warnings);
  const headers = warning === undefined ? jsonHeaders : { ...jsonHeaders, warning };
  return { kind: 'whole', status: reply.status, headers, body: reply.body };
}

/** Returns what `error` becomes (ER-1); anything but a StatusError is a bug and thrown on. */
export function errorAnswer(error: unknown, warnings: readonly string[] = []): WholeAnswer {
  if (!(error instanceof StatusError)) throw error;
  const status = statusOf(error);
  const body =
    error instanceof ExpiredTokenError
      ? { ...status, metadata: { continue: error.fresh } }
      : status;
  const { retryAfterSeconds } = error.details ?? {};
  const warning = warningHeader(warnings);
  return {
    kind: 'whole',
    status: error.code,
    headers: {
      ...jsonHeaders,
      ...(warning === undefined ? {} : { warning }),
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
    },
    body: [Buffer.from(JSON.stringify(body))],
  };
}
