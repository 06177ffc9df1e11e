import { Buffer, isUtf8 } from 'node:buffer';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { type Millis, seconds } from '#base/units.ts';
import type { KubernetesObject } from '../object.ts';
import { isRevision } from '../revision.ts';

/** The kinds of change that a watch delivers. */
export type WatchChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** One line of a watch answer. */
export type WatchEvent =
  | {
      readonly kind: 'change';
      readonly type: WatchChangeType;
      readonly object: KubernetesObject;
    }
  /** Everything up to `revision` was sent; `isInitialEventsEnd` ends a streaming list (LW-9). */
  | { readonly kind: 'bookmark'; readonly revision: string; readonly isInitialEventsEnd: boolean }
  /** The server ends the watch; `status` is the HTTP status that it stands for, 500 where it names none. */
  | {
      readonly kind: 'error';
      readonly status: number;
      readonly retryAfter: Millis | undefined;
      readonly message: string;
    };

/** Bytes of a watch that are not what the API promises; the watch must be left, its position is still good. */
export class WatchDecodeError extends Error {
  override readonly name = 'WatchDecodeError';
}

/** Longest line that is decoded, in bytes; etcd refuses objects of a tenth of it. */
export const maxWatchLine: number = 16 * 1024 * 1024;

const newline = 0x0a;

/**
 * Turns the bytes of one watch answer, cut anywhere, into events.
 *
 * Bytes are split at 0x0A before they are decoded, so that a cut inside a UTF-8 sequence does not matter, and
 * each line is decoded and parsed once.
 */
export class WatchDecoder {
  readonly #textOf: (line: Buffer) => string;
  #head: Buffer[] = [];
  #headLength = 0;
  #consumed = 0;

  /** @param textOf the text of a line that is parsed; may leave out values that is not read. @default all of it */
  constructor(textOf: (line: Buffer) => string = wholeText) {
    this.#textOf = textOf;
  }

  /** Returns the bytes of all lines decoded so far. */
  get consumed(): number {
    return this.#consumed;
  }

  /**
   * Returns the events completed by `chunk`, decoded one by one as they are taken; the rest is kept for the next call.
   *
   * @throws {WatchDecodeError} for a line that is no event
   */
  *push(chunk: Uint8Array): Generator<WatchEvent, void, undefined> {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, start)) {
      const line = this.#line(bytes.subarray(start, end));
      start = end + 1;
      this.#consumed += line.length + 1;
      if (line.length > 0) yield decodeLine(line, this.#textOf);
    }
    if (start < bytes.length) this.#keep(bytes.subarray(start));
  }

  /** Notes that the answer has ended. @throws {WatchDecodeError} when it ended inside a line */
  end(): void {
    if (this.#headLength > 0) {
      throw new WatchDecodeError(
        `Cannot decode the watch's last ${this.#headLength} bytes as the answer ended inside a line`,
      );
    }
  }

  #line(tail: Buffer): Buffer {
    if (this.#headLength === 0) {
      refuseLongLine(tail.length);
      return tail;
    }
    refuseLongLine(this.#headLength + tail.length);
    const line = Buffer.concat([...this.#head, tail]);
    this.#head = [];
    this.#headLength = 0;
    return line;
  }

  #keep(part: Buffer): void {
    this.#headLength += part.length;
    refuseLongLine(this.#headLength);
    // A copy: the transport may fill its buffer again once it is asked for more.
    this.#head.push(Buffer.from(part));
  }
}

function refuseLongLine(length: number): void {
  if (length > maxWatchLine) {
    throw new WatchDecodeError(
      `Cannot decode a watch line of ${length} bytes or more as the limit is ${maxWatchLine}`,
    );
  }
}

function wholeText(line: Buffer): string {
  return line.toString('utf8');
}

function decodeLine(line: Buffer, textOf: (line: Buffer) => string): WatchEvent {
  if (!isUtf8(line)) {
    throw new WatchDecodeError(
      `Cannot decode a watch line of ${line.length} bytes as it must be UTF-8`,
    );
  }
  const value = parseLine(textOf(line));
  if (!isJsonObject(value) || !isJsonObject(value['object'])) {
    throw new WatchDecodeError(
      'Cannot decode a watch line as it must be a JSON object with "type" and "object"',
    );
  }
  return eventOf(value['type'], value['object']);
}

function parseLine(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const shown = JSON.stringify(text.slice(0, 80));
    throw new WatchDecodeError(
      `Cannot decode a watch line as it must be JSON: it begins ${shown}`,
      {
        cause,
      },
    );
  }
}

function eventOf(type: unknown, object: JsonObject): WatchEvent {
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { kind: 'change', type, object: checkedObject(type, object) };
    case 'BOOKMARK':
      return bookmarkOf(object);
    case 'ERROR':
      return errorOf(object);
    default:
      throw new WatchDecodeError(
        `Cannot decode a watch event of type ${JSON.stringify(type)} as it must be ADDED, MODIFIED, DELETED, BOOKMARK or ERROR`,
      );
  }
}

/** Reports whether `object` has the metadata that every stored object has: a name, a uid and a revision. */
function isKubernetesObject(object: JsonObject): object is KubernetesObject {
  const metadata = object['metadata'];
  return (
    isJsonObject(metadata) &&
    typeof metadata['name'] === 'string' &&
    typeof metadata['uid'] === 'string' &&
    isRevision(metadata['resourceVersion'])
  );
}

function checkedObject(type: WatchChangeType, object: JsonObject): KubernetesObject {
  if (isKubernetesObject(object)) return object;
  const shown = JSON.stringify(object['metadata'] ?? null).slice(0, 200);
  throw new WatchDecodeError(
    `Cannot decode a watch event of type ${type} as metadata must have name, uid and a decimal resourceVersion: got ${shown}`,
  );
}

function bookmarkOf(object: JsonObject): WatchEvent {
  const metadata = object['metadata'];
  const revision = isJsonObject(metadata) ? metadata['resourceVersion'] : undefined;
  if (!isJsonObject(metadata) || !isRevision(revision)) {
    throw new WatchDecodeError(
      `Cannot decode a bookmark as metadata.resourceVersion must be decimal: got ${JSON.stringify(revision)}`,
    );
  }
  const annotations = metadata['annotations'];
  const mark = isJsonObject(annotations) ? annotations['k8s.io/initial-events-end'] : undefined;
  return { kind: 'bookmark', revision, isInitialEventsEnd: mark === 'true' };
}

function errorOf(status: JsonObject): WatchEvent {
  const { code, message, details } = status;
  const after = isJsonObject(details) ? details['retryAfterSeconds'] : undefined;
  return {
    kind: 'error',
    status: typeof code === 'number' ? code : 500,
    retryAfter: typeof after === 'number' && after > 0 ? seconds(after) : undefined,
    message: typeof message === 'string' ? message : 'no message',
  };
}
