import { errorOf } from '#base/error-of.ts';
import { RefusedAddressError } from '#kubernetes/outgoing/checked-lookup.ts';
import {
  AnswerTooLongError,
  TransportError,
  type TransportResponse,
} from '#kubernetes/transport/transport.ts';
import type { NoReading } from '../answer.ts';
import { hasMoreParts } from '../http/json-structure.ts';
import { parseReading } from './parse-reading.ts';
import type { Hop } from './prometheus-hop.ts';
import type { QueryReading } from './reading.ts';

/** Returns a text without what was sent as a secret. */
export type Mask = (text: string | undefined) => string;

/** Why there is no reading. */
export type Failure = Extract<QueryReading, { kind: 'error' }>;

/** Returns the reading of a question without an answer. */
export function failed(reason: NoReading, message: string): Failure {
  return { kind: 'error', reason, message };
}

/** Returns why a request of `hop` got no answer, as `error` says. */
export function failureOf(error: Error, { url }: Pick<Hop, 'url'>): Failure {
  const cause = error instanceof TransportError && error.cause !== undefined ? error.cause : error;
  const { message } = errorOf(cause);
  if (cause instanceof AnswerTooLongError) return failed('TooLong', `${message}: ${fewer}`);
  if (cause instanceof RefusedAddressError) return failed('BadConfiguration', message);
  return failed('Unreachable', `no answer of ${url.host}: ${shortened(message)}`);
}

/** Returns what the whole `answer` says; a server that is no Prometheus says nothing. */
export function readingOf(answer: TransportResponse, masked: Mask): QueryReading {
  const { status, headers } = answer;
  const encoding = headers['content-encoding'] ?? '';
  if (status < 400 && !/^(?:identity)?$/i.test(encoding.trim())) {
    return failed('Unreadable', 'its answer is compressed, which was not asked for');
  }
  if (hasMoreParts(answer.body, mostParts)) {
    return failed('TooLong', `its answer has more than ${mostParts} objects and lists: ${fewer}`);
  }
  const body = masked(Buffer.from(answer.body).toString());
  if (status >= 400) return failed('Refused', `it answers ${status}${ownErrorIn(body)}`);
  const parsed = parseReading(body);
  if (parsed.kind === 'valid') return parsed.value;
  const { path, message } = parsed.problem;
  return failed('Unreadable', `its answer (${status}) is not from Prometheus: ${path} ${message}`);
}

/**
 * Returns the error that Prometheus itself states in a refusal, as the end of a sentence. Any other text is not repeated: the
 * author of a query may read nothing by it that only this program can reach.
 */
function ownErrorIn(body: string): string {
  const parsed = parseReading(body);
  const isOwn = parsed.kind === 'valid' && parsed.value.kind === 'error';
  return isOwn && parsed.value.kind === 'error' ? `: ${parsed.value.message}` : '';
}

/** A series of an instant query has three. */
const mostParts = 4_096;
const fewer = 'have the query give fewer series, as sum() does';
const longestShown = 300;

/** Returns a text of others, no longer than a message may repeat. */
export function shortened(text: string): string {
  return text.length <= longestShown ? text : `${text.slice(0, longestShown)}…`;
}
