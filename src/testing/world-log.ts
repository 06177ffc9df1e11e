import type { LogFields, Logger, LogLevel } from '#base/logger.ts';
import { type Instant, instant } from '#base/units.ts';
import type { DisruptionStatement, RevisionBySet } from './statement.ts';

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

  #say(level: LogLevel, message: string, fields: LogFields | undefined): void {
    this.#take({ level, message, fields: { ...this.#bound, ...fields } });
  }
}

/** What an event of the operator's log says about one disruptive request (D-7); undefined for all others. */
export function statementOf(entry: LogEntry): DisruptionStatement | undefined {
  if (entry.message !== 'deleting pod') return undefined;
  const text = (name: string): string => {
    const value = entry.fields[name];
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  };
  return {
    podUid: text('uid'),
    sentAt: instant(entry.at),
    proofs: { pods: Number(text('proof_pods')), statefulsets: Number(text('proof_statefulsets')) },
    views: {
      pods: revisions(text('view_pods')),
      statefulsets: revisions(text('view_statefulsets')),
    },
  };
}

function revisions(text: string): RevisionBySet {
  if (!text.includes('=')) return Number(text);
  return Object.fromEntries(
    text.split(',').map((part) => {
      const [set = '', revision = ''] = part.split('=');
      return [set, Number(revision)];
    }),
  );
}
