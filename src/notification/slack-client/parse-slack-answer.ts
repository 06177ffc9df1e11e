import { errorOf } from '#base/error-of.ts';
import { isJsonObject } from '#base/json.ts';
import { quoted } from '#base/text/quoted.ts';
import { millis } from '#base/units.ts';
import type { SlackResult } from './slack-call.ts';

/** What the library calls its errors by. */
const codes = {
  rateLimited: 'slack_webapi_rate_limited_error',
  refused: 'slack_webapi_platform_error',
  status: 'slack_webapi_http_error',
} as const;

/** A word of Slack's for what is wrong; the library puts whole pages there where the answer is none of Slack's. */
const word = /^[a-z][a-z\d_]{0,79}$/;

/** Characters of what went wrong; it is kept in the status, too. */
const longestWhy = 400;

/** An id of a conversation, and the time that names a message: some ten characters each. They are kept in the status. */
const conversation = /^[A-Z\d]{1,64}$/;
const timestamp = /^\d{1,32}\.\d{1,32}$/;

/** Reads the answer to a call: it has succeeded where Slack says so in so many words (C-2), and where the message is. */
export function parseSlackAnswer(answer: unknown): SlackResult {
  const { ok, channel, ts } = isJsonObject(answer) ? answer : {};
  if (ok !== true || typeof channel !== 'string' || typeof ts !== 'string') {
    return unreachable('its answer does not identify the message');
  }
  if (conversation.test(channel) && timestamp.test(ts)) return { kind: 'ok', channel, ts };
  const seen = `channel ${quoted(channel)}, ts ${quoted(ts)}`;
  return unreachable(
    `its answer should name an id like C0123456789 and a time like 1700000000.000100: got ${seen}`,
  );
}

/**
 * Reads what the library throws, whatever that is. Never shows the token, as no header is read.
 *
 * @param status of the answer; undefined where there was none
 */
export function parseSlackError(thrown: unknown, status: number | undefined): SlackResult {
  const error = errorOf(thrown) as Error & Readonly<Record<string, unknown>>;
  const { code, retryAfter, data, statusCode } = error;
  if (code === codes.rateLimited || status === 429) return rateLimited(retryAfter);
  if (code === codes.refused) return refusedBy(data);
  if (code === codes.status) return unreachable(`it answers ${String(statusCode)}`);
  const cause = error['original'] instanceof Error ? error['original'] : error;
  return unreachable(innermost(cause).message);
}

/** Returns the cause: the transport only says that there is no answer. */
function innermost(error: Error): Error {
  return error.cause instanceof Error ? error.cause : error;
}

function refusedBy(data: unknown): SlackResult {
  const { error, response_metadata: metadata } = isJsonObject(data) ? data : {};
  // Not repeated: another server than Slack may have said it.
  if (typeof error !== 'string' || !word.test(error)) {
    return unreachable('its answer is not from Slack');
  }
  if (error !== 'ratelimited' && error !== 'rate_limited') return { kind: 'refused', error };
  return rateLimited(isJsonObject(metadata) ? metadata['retryAfter'] : undefined);
}

/** Returns the result for a rate limit. @param seconds as Slack counts them */
function rateLimited(seconds: unknown): SlackResult {
  const isTime = typeof seconds === 'number' && Number.isFinite(seconds) && seconds >= 0;
  return { kind: 'rate-limited', retryAfter: isTime ? millis(seconds * 1_000) : undefined };
}

function unreachable(why: string): SlackResult {
  const text = why.length <= longestWhy ? why : `${why.slice(0, longestWhy)}…`;
  return { kind: 'unreachable', message: `Cannot send to Slack: ${text}` };
}
