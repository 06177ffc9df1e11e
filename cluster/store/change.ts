import type { JsonObject } from '#base/json.ts';
import { metadataOf } from '../json/json-fields.ts';
import { Version } from './version.ts';

/** Types of watch events that carry an object. */
export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** Returns `object` as it reads at `revision`; everything else is shared. */
export function atRevision(object: JsonObject, revision: number): JsonObject {
  const metadata = { ...metadataOf(object), resourceVersion: String(revision) };
  return { ...object, metadata };
}

/** Returns the watch line of one event: one JSON object and a newline (LW-5). */
export function encodeLine(type: string, object: Buffer): Buffer {
  return Buffer.concat(lineParts(type, object));
}

/** Returns the pieces of that line, of which the object is not copied. */
export function lineParts(type: string, object: Buffer): readonly Buffer[] {
  return [Buffer.from(`{"type":"${type}","object":`), object, lineEnd];
}

const lineEnd = Buffer.from('}\n');

/** One entry of the watch log (ST-4); its lines are encoded once and shared by all watches (PF-2). */
export class Change {
  readonly revision: number;
  readonly key: string;
  /** The state before; absent when the object was created. */
  readonly before: Version | undefined;
  /** The state after; absent when the object was deleted. */
  readonly after: Version | undefined;
  /** When it was committed, in ms. */
  readonly at: number;
  /** Made with the first line: most changes are not watched. */
  #lines: Map<ChangeType, Buffer> | undefined;
  #departed: Version | undefined;

  constructor(change: {
    readonly revision: number;
    readonly at: number;
    readonly before?: Version | undefined;
    readonly after?: Version | undefined;
  }) {
    this.revision = change.revision;
    this.at = change.at;
    this.before = change.before;
    this.after = change.after;
    this.key = (change.after ?? change.before)?.key ?? '';
  }

  /** Returns the previous object carrying this revision: what a DELETED event shows (LW-7). */
  get departed(): Version {
    if (this.before === undefined) {
      throw new Error(
        `Cannot show how ${this.key} left at revision ${this.revision} as it was created there`,
      );
    }
    this.#departed ??= Version.frozen(
      this.key,
      atRevision(this.before.object, this.revision),
      this.revision,
    );
    return this.#departed;
  }

  /** Returns the encoded event of `type`. */
  line(type: ChangeType): Buffer {
    const known = this.#lines?.get(type);
    if (known !== undefined) return known;
    const version = type === 'DELETED' ? this.departed : this.after;
    if (version === undefined) {
      throw new Error(
        `Cannot encode ${type} of ${this.key} at revision ${this.revision} as it was deleted there`,
      );
    }
    const line = encodeLine(type, version.bytes);
    this.#lines ??= new Map();
    this.#lines.set(type, line);
    return line;
  }
}
