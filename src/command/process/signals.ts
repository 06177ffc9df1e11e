/** An abort that a person or the platform asks for. */
export interface Signalled {
  /** Aborts at the first SIGINT or SIGTERM; further ones are swallowed (PR-4). */
  readonly signal: AbortSignal;
  /** Takes the handlers off again. */
  release(): void;
}

/** Listens for SIGINT and SIGTERM. @param onSignal called with the first one, before the abort */
export function signalled(onSignal: (name: string) => void): Signalled {
  const controller = new AbortController();
  const stop = (name: NodeJS.Signals): void => {
    if (controller.signal.aborted) return;
    onSignal(name);
    controller.abort();
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  return {
    signal: controller.signal,
    release: () => {
      process.off('SIGINT', stop);
      process.off('SIGTERM', stop);
    },
  };
}
