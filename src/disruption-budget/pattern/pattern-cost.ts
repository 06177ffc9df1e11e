/** Estimates what a regular expression of RE2 costs, so that one that costs too much is refused before it is compiled. */

/** What compiling a pattern would take. */
export interface PatternCost {
  /** Not less than the instructions of the compiled pattern, each class of Unicode counting as {@link unicodeClass}. */
  readonly instructions: number;
  /** The first repetition that repeats more than 1,000 times together with those within it, as it is written. */
  readonly overlongRepeat: string | undefined;
  /** The pattern with another name for each group that has one. */
  readonly renamed: string;
}

/** Go's own bound on counted repetitions within one another. */
const mostRepeats = 1_000;
/** What an instruction of its own is for each range of a class of Unicode that is folded: some hundred ranges. */
const unicodeClass = 200;
/** A range of a class that may reach far beyond ASCII, of which each character is folded. */
const wideRange = 400;
/** The begin and the end of a match, and of the program. */
const surroundings = 4;

/** The begin and the end of a group, and what stands for nothing in it. */
const emptyGroup = 3;

/** One element of a pattern, and how often repetitions within it repeat together. */
interface Cost {
  readonly instructions: number;
  readonly repeats: number;
}

/** A group that is being read: what precedes its last element, and that. */
interface OpenGroup {
  instructions: number;
  repeats: number;
  last: Cost;
}

const nothing: Cost = { instructions: 0, repeats: 1 };
const repetition = /\{(\d+)(?:(,)(\d*))?\}\??|[*+?]\??/y;
const unicodeName = /\\[pP](?:\{[^}]*\}|[^])/y;
const codePoint = /\\x\{[\dA-Fa-f]+\}/y;
const namedGroup = /\(\?P?<\w+>/y;
const flagsOnly = /\(\?[imsU-]+\)/y;
const namedClass = /\[:[^]*?:\]/y;

/** Goes over `pattern` once. What is no regular expression costs something too: compiling it says what is wrong. */
export function patternCost(pattern: string): PatternCost {
  return new PatternReader(pattern).cost();
}

class PatternReader {
  readonly #pattern: string;
  readonly #groups: OpenGroup[] = [{ instructions: surroundings, repeats: 1, last: nothing }];
  #at = 0;
  #overlongRepeat: string | undefined;
  /** The pattern up to {@link #copied}, with other names of groups. */
  #renamed = '';
  #names = 0;
  #copied = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  cost(): PatternCost {
    while (this.#at < this.#pattern.length) this.#element();
    while (this.#groups.length > 1) this.#close();
    const { instructions, last } = this.#group;
    return {
      instructions: instructions + last.instructions,
      overlongRepeat: this.#overlongRepeat,
      renamed: this.#renamed + this.#pattern.slice(this.#copied),
    };
  }

  get #group(): OpenGroup {
    return this.#groups.at(-1) ?? { instructions: 0, repeats: 1, last: nothing };
  }

  #element(): void {
    switch (this.#pattern[this.#at]) {
      case '\\':
        return this.#escape();
      case '[':
        return this.#class();
      case '(':
        return this.#open();
      case ')':
        this.#at += 1;
        return this.#close();
      default:
        return this.#repeat();
    }
  }

  /** Adds an element that is not repeated yet. */
  #push(cost: Cost): void {
    const group = this.#group;
    group.instructions += group.last.instructions;
    group.repeats = Math.max(group.repeats, group.last.repeats);
    group.last = cost;
  }

  #open(): void {
    // No element: what comes next may repeat what is before.
    const flags = this.#matched(flagsOnly);
    if (flags > 0) {
      this.#at += flags;
      return;
    }
    const named = this.#matched(namedGroup);
    if (named > 0) {
      this.#names += 1;
      this.#renamed += `${this.#pattern.slice(this.#copied, this.#at)}(?P<n${this.#names}>`;
      this.#copied = this.#at + named;
    }
    this.#at += Math.max(named, 1);
    this.#groups.push({ instructions: emptyGroup, repeats: 1, last: nothing });
  }

  #close(): void {
    if (this.#groups.length === 1) return this.#push({ instructions: 1, repeats: 1 });
    const closed = this.#groups.pop();
    if (closed === undefined) return undefined;
    const { instructions, repeats, last } = closed;
    return this.#push({
      instructions: instructions + last.instructions,
      repeats: Math.max(repeats, last.repeats),
    });
  }

  #escape(): void {
    const length = this.#matched(unicodeName);
    if (length > 0) {
      this.#at += length;
      return this.#push({ instructions: unicodeClass, repeats: 1 });
    }
    if (this.#pattern[this.#at + 1] === 'Q') return this.#literal();
    this.#at += Math.max(this.#matched(codePoint), 2);
    return this.#push({ instructions: 1, repeats: 1 });
  }

  /** Takes what stands from `\Q` to `\E`, where each character stands for itself. */
  #literal(): void {
    const from = this.#at + 2;
    const end = this.#pattern.indexOf('\\E', from);
    const to = end < 0 ? this.#pattern.length : end;
    for (let at = from; at < to; at += 1) this.#push({ instructions: 1, repeats: 1 });
    this.#at = end < 0 ? to : end + 2;
  }

  #class(): void {
    let instructions = 1;
    this.#at += this.#pattern[this.#at + 1] === '^' ? 2 : 1;
    // A bracket that comes first stands for itself.
    if (this.#pattern[this.#at] === ']') this.#at += 1;
    while (this.#at < this.#pattern.length && this.#pattern[this.#at] !== ']') {
      instructions += this.#classMember();
    }
    this.#at += 1;
    this.#push({ instructions, repeats: 1 });
  }

  /** Goes over one member of a class. @returns what it adds to it */
  #classMember(): number {
    const named = this.#matched(namedClass);
    if (named > 0) {
      this.#at += named;
      return 0;
    }
    const unicode = this.#matched(unicodeName);
    if (unicode > 0) {
      this.#at += unicode;
      return unicodeClass;
    }
    const character = this.#pattern[this.#at];
    this.#at += character === '\\' ? 2 : 1;
    return character === '-' && this.#isWideEnd() ? wideRange : 0;
  }

  /** Reports whether what comes next may be a character beyond ASCII. */
  #isWideEnd(): boolean {
    const next = this.#pattern[this.#at] ?? '';
    return next === '\\' || next >= '\u0080';
  }

  /** The length of what `what` matches here; 0 where it does not. */
  #matched(what: RegExp): number {
    what.lastIndex = this.#at;
    return what.exec(this.#pattern)?.[0].length ?? 0;
  }

  #repeat(): void {
    repetition.lastIndex = this.#at;
    const found = repetition.exec(this.#pattern);
    if (found === null) {
      // What is behind a bar may be nothing, which takes an instruction too.
      const instructions = this.#pattern[this.#at] === '|' ? 2 : 1;
      this.#at += 1;
      return this.#push({ instructions, repeats: 1 });
    }
    const [text, least, comma, most = ''] = found;
    this.#at += text.length;
    const group = this.#group;
    if (least === undefined) group.last = unboundedly(group.last);
    else if (comma !== undefined && most === '') group.last = atLeast(Number(least), group.last);
    else group.last = between(Number(least), Number(most || least), group.last);
    if (group.last.repeats > mostRepeats) this.#overlongRepeat ??= text;
    return undefined;
  }
}

/** Returns the cost of `*`, `+` or `?`. */
function unboundedly({ instructions, repeats }: Cost): Cost {
  return { instructions: instructions + 2, repeats };
}

/** Returns the cost of `{n,}`: what is repeated `n` times, and may be once more. */
function atLeast(least: number, { instructions, repeats }: Cost): Cost {
  const times = Math.max(least, 1);
  return { instructions: times * instructions + 2, repeats: times * repeats };
}

/** Returns the cost of `{n,m}`: what is repeated `n` times, and may be, each within the one before, `m - n` times more. */
function between(least: number, most: number, { instructions, repeats }: Cost): Cost {
  const optional = Math.max(most - least, 0);
  return { instructions: Math.max(most, 1) * instructions + optional, repeats: most * repeats };
}
