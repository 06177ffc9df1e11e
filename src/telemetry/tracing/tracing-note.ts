import type { LogFields, LogLevel } from '#base/logger.ts';

/** One line of the log at the start about tracing. */
export interface TracingNote {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields;
}
