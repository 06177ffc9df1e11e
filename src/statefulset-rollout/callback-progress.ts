import type { JsonObject, JsonValue } from '#base/json.ts';
import { parseTimestamp } from '#base/time/timestamp.ts';
import { formatUtcSeconds } from '#base/time/utc-seconds.ts';
import type { Instant } from '#base/units.ts';
import { integerAt, stringAt } from '#statefulset/parse-fields.ts';

/** How far the callback about an outcome has come. */
export interface CallbackProgress {
  /** Of the stage that is reported; empty: none is. */
  readonly stageId: string;
  /**
   * What is reported, as it was when the outcome was known, to be sent in these very bytes by each attempt: all of them have one
   * idempotency key (E-5). Empty before that is stored, and where there is no
   * other attempt.
   */
  readonly body: string;
  /** Attempts that have ended. */
  readonly attempts: number;
  /** Undefined: at once. */
  readonly nextAttempt: Instant | undefined;
  /** How the last attempt ended, as one PascalCase word; empty before the first. */
  readonly code: string;
  readonly message: string;
  /** Whether there will be no other attempt. */
  readonly isOver: boolean;
}

/** No receiver is notified of anything. */
export const noCallback: CallbackProgress = Object.freeze({
  stageId: '',
  body: '',
  attempts: 0,
  nextAttempt: undefined,
  code: '',
  message: '',
  isOver: false,
});

/** Characters of what the receiver said. */
const longestMessage = 400;

/** Returns how far the callback of a stored `status.rollout.callback` has come; what cannot be read counts as not written. */
export function parseCallback(stored: JsonObject): CallbackProgress {
  return {
    stageId: stringAt(stored, 'stageId') ?? '',
    body: stringAt(stored, 'body') ?? '',
    attempts: integerAt(stored, 'attempts') ?? 0,
    nextAttempt: timeOf(stored['nextAttempt']),
    code: stringAt(stored, 'code') ?? '',
    message: stringAt(stored, 'lastError') ?? '',
    isOver: stored['over'] === true,
  };
}

function timeOf(value: JsonValue | undefined): Instant | undefined {
  const parsed = typeof value === 'string' ? parseTimestamp(value, '') : undefined;
  return parsed?.kind === 'valid' ? parsed.value : undefined;
}

/** Returns what is in `status.rollout`; nothing where no receiver is notified. */
export function formatCallback(callback: CallbackProgress): JsonObject {
  const { stageId, body, attempts, nextAttempt, code, message, isOver } = callback;
  if (stageId === '') return {};
  return {
    callback: {
      stageId,
      ...(body !== '' && { body }),
      attempts,
      ...(nextAttempt !== undefined && { nextAttempt: formatUtcSeconds(nextAttempt) }),
      ...(code !== '' && { code }),
      ...(message !== '' && { lastError: message.slice(0, longestMessage) }),
      ...(isOver && { over: true }),
    },
  };
}
