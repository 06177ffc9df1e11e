/** What was thrown, fit for a log field. */
export function errorOf(error: unknown): Error | string {
  return error instanceof Error ? error : String(error);
}
