/** Returns what was thrown, as an Error: anything may be. */
export function errorOf(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/**
 * Returns what `error` says, which is never nothing: a failed connection to several addresses is an AggregateError with an
 * empty message.
 */
export function messageOf(error: Error): string {
  if (error.message !== '') return error.message;
  if (error instanceof AggregateError) return error.errors.map(String).join('; ');
  return error.name;
}
