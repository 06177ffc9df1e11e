import type { LogFields, LogLevel } from '#base/logger.ts';

/** One line of the log at the start that tells of tracing. */
export interface TracingNote {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields;
}
