import type { JsonObject } from '#base/json.ts';
import { StatusError } from '#embedded-cluster/status-error.ts';
import type { WholeAnswer } from './api-request.ts';
import { ExpiredTokenError } from './list.ts';
import type { Reply } from './server-context.ts';
import { statusOf } from './status.ts';

const JSON_TYPE = { 'content-type': 'application/json' } as const;
const TEXT_TYPE = { 'content-type': 'text/plain; charset=utf-8' } as const;

/** Plain text, such as `ok` and `404 page not found`. */
export function textAnswer(status: number, text: string): WholeAnswer {
  return { kind: 'whole', status, headers: TEXT_TYPE, body: [Buffer.from(text)] };
}

/** A JSON document that is not an object of the store. */
export function documentAnswer(
  document: JsonObject,
  mediaType: string = JSON_TYPE['content-type'],
): WholeAnswer {
  const body = [Buffer.from(JSON.stringify(document))];
  return { kind: 'whole', status: 200, headers: { 'content-type': mediaType }, body };
}

/** The value of the Warning header, or undefined when there is nothing to warn of (HT-8). */
function warningHeader(warnings: readonly string[]): string | undefined {
  if (warnings.length === 0) return undefined;
  return [...new Set(warnings)]
    .map((text) => `299 - "${text.replaceAll(/["\\]/g, '\\$&')}"`)
    .join(', ');
}

/** What a handler replied. */
export function replyAnswer(reply: Reply, warnings: readonly string[]): WholeAnswer {
  const warning = warningHeader(warnings);
  const headers = warning === undefined ? JSON_TYPE : { ...JSON_TYPE, warning };
  return { kind: 'whole', status: reply.status, headers, body: reply.body };
}

/** What `error` becomes (ER-1); anything but a StatusError is a bug and thrown on. */
export function errorAnswer(error: unknown, warnings: readonly string[] = []): WholeAnswer {
  if (!(error instanceof StatusError)) throw error;
  const status = statusOf(error);
  const body =
    error instanceof ExpiredTokenError
      ? { ...status, metadata: { continue: error.fresh } }
      : status;
  const { retryAfterSeconds } = error.details;
  const warning = warningHeader(warnings);
  return {
    kind: 'whole',
    status: error.code,
    headers: {
      ...JSON_TYPE,
      ...(warning === undefined ? {} : { warning }),
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
    },
    body: [Buffer.from(JSON.stringify(body))],
  };
}
