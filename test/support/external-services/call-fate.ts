/** What becomes of a call to the outside: it never leaves, or its answer never comes; undefined: neither. */
export type CallFate = 'not-sent' | 'not-answered' | undefined;

/** Returns what never comes, as for a process that has died meanwhile. */
export function never<T>(): Promise<T> {
  return new Promise<T>(() => undefined);
}
