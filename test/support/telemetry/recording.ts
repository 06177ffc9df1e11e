import type { LogFields, Logger, LogLevel } from '#base/logger.ts';
import type { EventNote, EventRecorder } from '#kubernetes/events/event-recorder.ts';

/** One log event as it was written. */
export interface LoggedLine {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields;
}

/** A logger that keeps all lines. */
export class RecordingLogger implements Logger {
  readonly lines: LoggedLine[] = [];
  /** How many of the lines were handed on for certain. */
  flushed = 0;
  readonly #fields: LogFields;

  constructor(fields: LogFields = {}, lines: LoggedLine[] = []) {
    this.#fields = fields;
    this.lines = lines;
  }

  debug(message: string, fields?: LogFields): void {
    this.#write('debug', message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.#write('info', message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.#write('warn', message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.#write('error', message, fields);
  }

  with(fields: LogFields): Logger {
    return new RecordingLogger({ ...this.#fields, ...fields }, this.lines);
  }

  flush(): void {
    this.flushed = this.lines.length;
  }

  #write(level: LogLevel, message: string, fields: LogFields = {}): void {
    this.lines.push({ level, message, fields: { ...this.#fields, ...fields } });
  }
}

/** A recorder that keeps all notes. */
export class RecordingEvents implements EventRecorder {
  readonly notes: EventNote[] = [];

  record(note: EventNote): void {
    this.notes.push(note);
  }

  flush(): Promise<void> {
    return Promise.resolve();
  }
}
