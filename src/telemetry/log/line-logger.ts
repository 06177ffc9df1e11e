import type { Clock } from '#base/clock.ts';
import type { LogFields, Logger, LogLevel } from '#base/logger.ts';
import { formatTimestamp } from '../timestamp.ts';
import { formatLogfmt, formatValue, jsonText, plainValue } from './logfmt.ts';

/** Where the lines of a log go. */
export interface LineSink {
  /** Takes one event: a line without its line break. */
  readonly write: (line: string) => void;
  /** Writes the lines that it has kept back. */
  readonly flush: () => void;
}

/** Returns a sink that hands each line to `write` at once. */
export function unbuffered(write: (line: string) => void): LineSink {
  return { write, flush: () => undefined };
}

/** How a logger writes. */
export interface LineLoggerOptions {
  readonly format: 'logfmt' | 'json';
  /** The least severe level that is written (LG-6). */
  readonly level: LogLevel;
  readonly clock: Pick<Clock, 'now'>;
  readonly sink: LineSink;
}

const severity: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

/**
 * Returns a logger that writes each event as one line of logfmt (LG-2) or JSON (LG-3). It never throws for what is in the
 * fields; what `sink` throws is the caller's.
 */
export function createLogger(options: LineLoggerOptions): Logger {
  const format = options.format === 'json' ? jsonFormat({}) : logfmtFormat('');
  return new LineLogger(options, format);
}

/** Writes events with the fields that it is bound to. */
interface Format {
  line(event: LogEvent): string;
  with(fields: LogFields): Format;
}

interface LogEvent {
  readonly level: LogLevel;
  readonly timestamp: string;
  readonly message: string;
  readonly fields: LogFields;
}

class LineLogger implements Logger {
  readonly #options: LineLoggerOptions;
  readonly #format: Format;

  constructor(options: LineLoggerOptions, format: Format) {
    this.#options = options;
    this.#format = format;
  }

  debug(message: string, fields: LogFields = {}): void {
    this.#write('debug', message, fields);
  }

  info(message: string, fields: LogFields = {}): void {
    this.#write('info', message, fields);
  }

  warn(message: string, fields: LogFields = {}): void {
    this.#write('warn', message, fields);
  }

  error(message: string, fields: LogFields = {}): void {
    this.#write('error', message, fields);
  }

  with(fields: LogFields): Logger {
    return new LineLogger(this.#options, this.#format.with(fields));
  }

  flush(): void {
    this.#options.sink.flush();
  }

  #write(level: LogLevel, message: string, fields: LogFields): void {
    const { level: least, clock, sink } = this.#options;
    if (severity[level] < severity[least]) return;
    const timestamp = formatTimestamp(clock.now());
    sink.write(this.#format.line({ level, message, fields, timestamp }));
  }
}

/** @param bound the fields of the logger, as they are printed */
function logfmtFormat(bound: string): Format {
  return {
    line: ({ level, timestamp, message, fields }) =>
      `level=${level} ts=${timestamp}${bound} msg=${formatValue(message)}${formatLogfmt(fields)}`,
    with: (fields) => logfmtFormat(bound + formatLogfmt(fields)),
  };
}

function jsonFormat(bound: LogFields): Format {
  return {
    line: ({ level, timestamp, message, fields }) =>
      sortedJson({ ...bound, ...fields, level, ts: timestamp, msg: message }),
    with: (fields) => jsonFormat({ ...bound, ...fields }),
  };
}

/** Returns JSON with its keys in alphabetical order (LG-3); numbers that JSON lacks are printed as text. */
function sortedJson(fields: LogFields): string {
  const members: string[] = [];
  for (const key of Object.keys(fields).sort()) {
    const value = fields[key];
    if (value === undefined) continue;
    const plain = plainValue(value);
    const isNumberOfJson = typeof plain !== 'number' || Number.isFinite(plain);
    members.push(`${jsonText(key)}:${jsonText(isNumberOfJson ? plain : String(plain))}`);
  }
  return `{${members.join(',')}}`;
}
