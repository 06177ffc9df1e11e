/** Whether this process answers `/ready` with 200: not before its caches are filled, nor once it stops (KW-19). */
export interface Readiness {
  isReady(): boolean;
  /** Does nothing after {@link withdraw}. */
  announce(): void;
  /** Withdraws the readiness for good: a process that stops does not become ready again. */
  withdraw(): void;
}

/** Returns a process that is not ready yet. */
export function createReadiness(): Readiness {
  let state: 'starting' | 'ready' | 'stopping' = 'starting';
  return {
    isReady: () => state === 'ready',
    announce: () => {
      if (state === 'starting') state = 'ready';
    },
    withdraw: () => {
      state = 'stopping';
    },
  };
}
