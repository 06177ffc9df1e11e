import { signalled } from '#command/process/signals.ts';

/** The one place where the demo learns that it should end. */
export interface Interruption {
  readonly signal: AbortSignal;
  /** The exit code that stands for what ended it; undefined while nothing has. */
  readonly code: number | undefined;
  /** Ends it for a reason inside the program, such as a key. */
  interrupt(code: number): void;
  /** Takes the handlers off again. */
  release(): void;
}

/** As shells count: 128 and the number of the signal. */
const exitCodes: Readonly<Record<string, number>> = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

/** How long an orderly end may take, in milliseconds. */
const patience = 5_000;

/** Listens for SIGINT, SIGTERM, SIGHUP (the terminal was closed) and a standard output that is not read any more. */
export function listenForInterruption(): Interruption {
  const controller = new AbortController();
  let code: number | undefined;
  const interrupt = (value: number): void => {
    code ??= value;
    // Whatever should hang, a person who asked for the end gets it; what must go then goes by the exit hooks.
    setTimeout(() => process.exit(value), patience).unref();
    controller.abort(new Error('the program was interrupted'));
  };
  const signals = signalled((name) => interrupt(exitCodes[name] ?? 1));
  const hangUp = (): void => interrupt(exitCodes['SIGHUP'] ?? 1);
  const brokenPipe = (): void => interrupt(exitCodes['SIGTERM'] ?? 1);
  process.on('SIGHUP', hangUp);
  process.stdout.on('error', brokenPipe);
  return {
    signal: controller.signal,
    get code() {
      return code;
    },
    interrupt,
    release: () => {
      signals.release();
      process.off('SIGHUP', hangUp);
    },
  };
}
