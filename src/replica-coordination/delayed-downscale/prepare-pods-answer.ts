import { isJsonObject, jsonIn } from '#base/json.ts';
import { type Instant, instant } from '#base/units.ts';
import type { PodAnswer } from '#pod-http/pod-http.ts';

/** What an answer to POST says: the time from which the pod has been prepared, or a clause that says why it does not say. */
export type PreparedAnswer =
  | { readonly kind: 'prepared'; readonly since: Instant }
  | { readonly kind: 'failed'; readonly why: string };

/** What an answer to DELETE says: the pod is out of it, a person has locked its state, or why neither is known. */
export type CancelledAnswer =
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'locked' }
  | { readonly kind: 'failed'; readonly why: string };

/** Longest part of a pod's body that is repeated to people. */
const longestQuote = 200;

/**
 * Returns what an answer to POST means. Success is a 2xx whose body is JSON with an integer `timestamp`, in Unix seconds,
 * other than 0 (DD-13).
 */
export function preparedAnswer(answer: PodAnswer): PreparedAnswer {
  if (answer.kind !== 'answered')
    return { kind: 'failed', why: `did not answer: ${answer.message}` };
  if (!isSuccess(answer.status)) return { kind: 'failed', why: statusText(answer) };
  const seconds = timestampOf(answer.body);
  if (seconds !== undefined) return { kind: 'prepared', since: instant(seconds * 1_000) };
  const why = `answered ${answer.status} without a JSON "timestamp" in whole seconds: ${quote(answer.body)}`;
  return { kind: 'failed', why };
}

/**
 * Returns what an answer to DELETE means. Success is a 2xx; a 409 ends the calls, too: there a person has locked the pod's
 * state (DD-14).
 */
export function cancelledAnswer(answer: PodAnswer): CancelledAnswer {
  if (answer.kind !== 'answered')
    return { kind: 'failed', why: `did not answer: ${answer.message}` };
  if (isSuccess(answer.status)) return { kind: 'cancelled' };
  if (answer.status === 409) return { kind: 'locked' };
  return { kind: 'failed', why: statusText(answer) };
}

/** Returns `body` as people may see it: quoted, and cut. */
function quote(body: string): string {
  return JSON.stringify(body.length > longestQuote ? `${body.slice(0, longestQuote)}…` : body);
}

function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

function statusText(answer: { readonly status: number; readonly body: string }): string {
  return `answered ${answer.status}: ${quote(answer.body)}`;
}

/**
 * Returns the timestamp of an answer. The peer's parser takes neither `1e9` nor `1.0` for an integer; `JSON.parse` does, so
 * the text is looked at, too.
 */
function timestampOf(body: string): number | undefined {
  const value = jsonIn(body);
  if (!isJsonObject(value)) return undefined;
  const { timestamp } = value;
  if (typeof timestamp !== 'number' || !Number.isSafeInteger(timestamp) || timestamp === 0) {
    return undefined;
  }
  return /"timestamp"\s*:\s*-?\d+\s*[,}]/.test(body) ? timestamp : undefined;
}
