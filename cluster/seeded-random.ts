/** 2^32: turns an unsigned 32-bit integer into a fraction. */
const UINT32_RANGE = 4_294_967_296;

function hashOf(text: string, seed: number): number {
  let hash = (seed ^ 0x811c9dc5) >>> 0;
  for (let i = 0; i < text.length; i += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b);
  return (hash ^ (hash >>> 16)) >>> 0;
}

const hexDigits = Buffer.from('0123456789abcdef');

/** The text of each UUID in turn: what is read out of bytes is one flat string, of which JSON is written at twice the speed. */
const uuidText = Buffer.from('00000000-0000-0000-0000-000000000000');
const dash = 0x2d;

function uuidOf(words: readonly number[]): string {
  let at = 0;
  for (const word of words) {
    for (let shift = 28; shift >= 0; shift -= 4) {
      if (uuidText[at] === dash) at += 1;
      uuidText[at] = hexDigits[(word >>> shift) & 0xf] ?? 0;
      at += 1;
    }
  }
  return uuidText.toString('latin1');
}

/**
 * A stream of random numbers that a seed fixes (CK-6).
 *
 * Each purpose takes its own stream with {@link derive}, so that one more draw for one purpose does not shift
 * the others (SIM-5).
 */
export class SeededRandom {
  readonly #seed: number;
  #state: number;

  constructor(seed: number) {
    this.#seed = seed >>> 0;
    this.#state = hashOf('start', this.#seed);
  }

  /** Returns the stream of the purpose `name`: the same for the same seed and name, however much was drawn elsewhere. */
  derive(name: string): SeededRandom {
    return new SeededRandom(hashOf(name, this.#seed));
  }

  /** Returns an integer in [0, 2^32). */
  uint32(): number {
    this.#state = (this.#state + 0x9e3779b9) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  }

  /** Returns a number in [0, 1). */
  fraction(): number {
    return this.uint32() / UINT32_RANGE;
  }

  /** Returns an integer in [0, bound); `bound` is an integer >= 1. */
  below(bound: number): number {
    return Math.floor(this.fraction() * bound);
  }

  /** Returns a version 4 UUID. */
  uuid(): string {
    const first = this.uint32();
    const second = (this.uint32() & 0xffff0fff) | 0x00004000;
    const third = (this.uint32() & 0x3fffffff) | 0x80000000;
    return uuidOf([first, second, third, this.uint32()]);
  }

  /** Returns `length` characters of `alphabet`. */
  text(length: number, alphabet: string): string {
    let text = '';
    for (let i = 0; i < length; i += 1) text += alphabet.charAt(this.below(alphabet.length));
    return text;
  }
}
