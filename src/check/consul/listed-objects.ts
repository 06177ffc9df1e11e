import type { Problem } from '#base/parsed.ts';

/** How long a list may be, and each of its objects. */
export interface ListBounds {
  readonly mostObjects: number;
  /** In bytes. */
  readonly longestObject: number;
}

const code = {
  quote: 0x22,
  escape: 0x5c,
  comma: 0x2c,
  openList: 0x5b,
  closeList: 0x5d,
  openObject: 0x7b,
  closeObject: 0x7d,
} as const;
const blanks: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** What may be between two objects. */
type Expected = 'list' | 'object or end' | 'comma or end' | 'object' | 'nothing';

/** What is expected after a byte, by what was expected. */
const grammar: Readonly<Record<Expected, ReadonlyMap<number, Expected>>> = {
  list: new Map([[code.openList, 'object or end']]),
  'object or end': new Map<number, Expected>([
    [code.openObject, 'comma or end'],
    [code.closeList, 'nothing'],
  ]),
  'comma or end': new Map<number, Expected>([
    [code.comma, 'object'],
    [code.closeList, 'nothing'],
  ]),
  object: new Map([[code.openObject, 'comma or end']]),
  nothing: new Map(),
};

/**
 * Cuts a list of objects in JSON, which comes in pieces, into the texts of its objects. One object is held at a time, and none of
 * it is read: neither a long list nor one of countless parts takes more than that, or keeps the process for longer.
 */
export class ListedObjects {
  readonly #bounds: ListBounds;
  readonly #tell: (text: string) => Problem | undefined;
  readonly #held: Uint8Array[] = [];
  #length = 0;
  #count = 0;
  #expected: Expected = 'list';
  /** Of the object that is under way; 0 outside of any. */
  #depth = 0;
  #isInText = false;
  #isEscaped = false;

  /** Starts before the list. @param tell called with the text of each object, which may be invalid JSON; returns what is wrong with it */
  constructor(bounds: ListBounds, tell: (text: string) => Problem | undefined) {
    this.#bounds = bounds;
    this.#tell = tell;
  }

  /** Counts the objects that have begun. */
  get count(): number {
    return this.#count;
  }

  /** Reads on. @returns what is wrong, whereafter nothing more is to be read */
  take(piece: Uint8Array): Problem | undefined {
    let begin = 0;
    // An iterator over entries would take several times as long.
    for (let at = 0; at < piece.length; at += 1) {
      const byte = piece[at] ?? 0;
      if (this.#depth > 0) {
        if (!this.#endsObject(byte)) continue;
        const problem = this.#hold(piece.subarray(begin, at + 1)) ?? this.#told();
        if (problem !== undefined) return problem;
      } else if (!blanks.has(byte)) {
        const problem = this.#between(byte);
        if (problem !== undefined) return problem;
        begin = at;
      }
    }
    return this.#depth > 0 ? this.#hold(piece.subarray(begin)) : undefined;
  }

  /** Ends the list. @returns what is missing */
  end(): Problem | undefined {
    return this.#expected === 'nothing' ? undefined : this.#noList();
  }

  /** Reports whether `byte` is the last one of the present object. */
  #endsObject(byte: number): boolean {
    if (this.#isInText) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === code.escape) this.#isEscaped = true;
      else this.#isInText = byte !== code.quote;
      return false;
    }
    if (byte === code.quote) this.#isInText = true;
    else if (byte === code.openObject || byte === code.openList) this.#depth += 1;
    else if (byte === code.closeObject || byte === code.closeList) this.#depth -= 1;
    return this.#depth === 0;
  }

  #between(byte: number): Problem | undefined {
    const expected = this.#expected;
    const follows = grammar[expected].get(byte);
    if (follows === undefined) {
      const isObject = expected === 'object' || expected === 'object or end';
      if (!isObject) return this.#noList();
      return { path: `instance ${this.#count + 1}`, message: 'must be an object' };
    }
    this.#expected = follows;
    return byte === code.openObject ? this.#begin() : undefined;
  }

  #begin(): Problem | undefined {
    const { mostObjects } = this.#bounds;
    this.#count += 1;
    this.#depth = 1;
    if (this.#count <= mostObjects) return undefined;
    return { path: 'the answer', message: `must have at most ${mostObjects} instances` };
  }

  #hold(part: Uint8Array): Problem | undefined {
    const { longestObject } = this.#bounds;
    this.#length += part.length;
    this.#held.push(part);
    if (this.#length <= longestObject) return undefined;
    const path = `instance ${this.#count}`;
    return { path, message: `must have at most ${longestObject} bytes` };
  }

  #told(): Problem | undefined {
    const text = Buffer.concat(this.#held.splice(0)).toString();
    this.#length = 0;
    return this.#tell(text);
  }

  #noList(): Problem {
    return { path: 'the answer', message: 'must be a list of instances in JSON' };
  }
}
