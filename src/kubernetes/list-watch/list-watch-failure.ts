import { type Millis, millis } from '#base/units.ts';

/** The server ended a watch with an ERROR event; shaped like the error of a refused request. */
export class WatchEndedError extends Error {
  override readonly name = 'WatchEndedError';
  readonly status: number;
  readonly retryAfter: Millis | undefined;

  constructor(message: string, status: number, retryAfter: Millis | undefined) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** Returns the HTTP status that `error` stands for; undefined where there was no answer. */
export function statusOf(error: unknown): number | undefined {
  const status = memberOf(error, 'status');
  return typeof status === 'number' ? status : undefined;
}

/** Returns how long the server asked us to stay away; 0 where it did not ask. */
export function retryAfterOf(error: unknown): Millis {
  const span = memberOf(error, 'retryAfter');
  return millis(typeof span === 'number' ? span : 0);
}

function memberOf(error: unknown, name: string): unknown {
  if (typeof error !== 'object' || error === null) return undefined;
  const value: unknown = Reflect.get(error, name);
  return value;
}

/** Statuses of a watch whose position cannot be resumed from: gone, refused, or of a type that went away. */
const relistStatuses: ReadonlySet<number> = new Set([400, 404, 405, 410, 422]);

/** Reports whether a watch that failed with `error` has to start over with a list, rather than resume where it was. */
export function needsRelist(error: unknown): boolean {
  const status = statusOf(error);
  return status !== undefined && relistStatuses.has(status);
}

/** Reports whether `error` means that this server does not know streaming lists, or not for this type. */
export function isStreamingRefused(error: unknown): boolean {
  const status = statusOf(error);
  return status === 400 || status === 404 || status === 405 || status === 422;
}

/** A streaming list was answered, but its end was not marked. */
export class UnmarkedListError extends Error {
  override readonly name = 'UnmarkedListError';
  /** Whether the server does not know streaming lists; else it may have ended the answer as it was stopping. */
  readonly isConclusive: boolean;

  constructor(message: string, isConclusive: boolean) {
    super(message);
    this.isConclusive = isConclusive;
  }
}
