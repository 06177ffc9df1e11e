import type { LogFields, Logger, LogLevel } from '#base/logger.ts';
import type { Instant } from '#base/units.ts';

/** One event of an operator's log, as it was said; nothing is formatted. */
export interface LogEntry {
  readonly at: Instant;
  /** `operator-1` and so on. */
  readonly client: string;
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields;
}

/** A log that hands its events on as they are. */
export class EntryLog implements Logger {
  readonly #take: (entry: Pick<LogEntry, 'level' | 'message' | 'fields'>) => void;
  readonly #bound: LogFields;

  constructor(
    take: (entry: Pick<LogEntry, 'level' | 'message' | 'fields'>) => void,
    bound: LogFields = {},
  ) {
    this.#take = take;
    this.#bound = bound;
  }

  debug(message: string, fields?: LogFields): void {
    this.#say('debug', message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.#say('info', message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.#say('warn', message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.#say('error', message, fields);
  }

  with(fields: LogFields): Logger {
    return new EntryLog(this.#take, { ...this.#bound, ...fields });
  }

  flush(): void {
    // Nothing is kept back.
  }

  #say(level: LogLevel, message: string, fields: LogFields | undefined): void {
    this.#take({ level, message, fields: { ...this.#bound, ...fields } });
  }
}
