import { errorOf } from '#base/error-of.ts';
import type { LogFields, Logger } from '#base/logger.ts';

/** What differs from the usual log. */
export interface KeptLogOptions {
  /** Whether lines of the level info are kept too. @default false */
  readonly keepsInfo?: boolean;
}

/** A log that keeps its warnings and errors as lines, for assertions. */
export class KeptLog implements Logger {
  readonly lines: string[] = [];
  readonly #keepsInfo: boolean;

  constructor({ keepsInfo = false }: KeptLogOptions = {}) {
    this.#keepsInfo = keepsInfo;
  }

  debug(): void {
    // Of no interest to any test.
  }

  info(message: string, fields: LogFields = {}): void {
    if (this.#keepsInfo) this.#keep('info', message, fields);
  }

  warn(message: string, fields: LogFields = {}): void {
    this.#keep('warn', message, fields);
  }

  error(message: string, fields: LogFields = {}): void {
    this.#keep('error', message, fields);
  }

  with(): Logger {
    return this;
  }

  flush(): void {
    // Nothing is kept back.
  }

  #keep(level: string, message: string, fields: LogFields): void {
    const texts = Object.entries(fields).map(([key, value]) => `${key}=${errorOf(value).message}`);
    this.lines.push([level, message, ...texts].join(' '));
  }
}
