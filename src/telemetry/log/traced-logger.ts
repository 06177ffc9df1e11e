import type { LogFields, Logger } from '#base/logger.ts';
import type { Tracing } from '../tracing/tracing.ts';

/** Returns `log` with the `trace_id` of the recorded trace on its lines, as the peer has it. */
export function tracedLogger(log: Logger, tracing: Tracing): Logger {
  return new TracedLogger(log, tracing);
}

class TracedLogger implements Logger {
  readonly #log: Logger;
  readonly #tracing: Tracing;

  constructor(log: Logger, tracing: Tracing) {
    this.#log = log;
    this.#tracing = tracing;
  }

  debug(message: string, fields?: LogFields): void {
    this.#here().debug(message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.#here().info(message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.#here().warn(message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.#here().error(message, fields);
  }

  with(fields: LogFields): Logger {
    return new TracedLogger(this.#log.with(fields), this.#tracing);
  }

  flush(): void {
    this.#log.flush();
  }

  #here(): Logger {
    const traceId = this.#tracing.traceId();
    return traceId === undefined ? this.#log : this.#log.with({ trace_id: traceId });
  }
}
