/** Severity, most severe last; each configured level includes all more severe ones (LG-6). */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** What may be in a log field; `Error`s are printed with their cause chain, `undefined` fields are left out. */
export type LogValue = string | number | boolean | null | undefined | Error | readonly string[];

/** Fields of one event, in the order in which they are printed (LG-2). */
export type LogFields = Readonly<Record<string, LogValue>>;

/** Structured log of one component: a literal message and fields, one event a line (LG-1…LG-5). */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** Returns a logger that prints `fields` before the message of each event. */
  with(fields: LogFields): Logger;
  /**
   * Hands on what was logged and still waits to be written, before it returns: what is said of a disruption must be known
   * even if the process is killed as soon as the request has left it (D-7).
   */
  flush(): void;
}
