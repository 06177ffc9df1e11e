/**
 * Reads YAML into plain JSON values that know the lines they are in. It takes less than YAML has: what two readers could
 * understand in two ways, or what grows when it is read, is refused.
 */
import {
  type Alias,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  parseAllDocuments,
} from 'yaml';
import { errorOf } from '#base/error-of.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { quoted } from '#base/text/quoted.ts';
import { type Finding, memberPath, seen } from './finding.ts';

/** An input, and where its parts are. */
export interface Source {
  readonly root: JsonObject;
  /** Lines from 1, by path. */
  readonly lines: ReadonlyMap<string, number>;
}

/** The outcome of reading a text. */
export type ParsedSource =
  | { readonly kind: 'valid'; readonly source: Source }
  | { readonly kind: 'invalid'; readonly findings: readonly Finding[] };

/** Levels of maps and lists in one another; a pod template has about ten. */
const mostLevels = 64;
/** Values after aliases were put in: a few lines of them can stand for billions. */
const mostValues = 50_000;
/** UTF-16 units of a text. */
const longestText = 1_048_576;
/** Of the text, counted before its tree is built, in which each takes hundreds of bytes. A file of a thousand lines has 10,000. */
const mostTokens = 60_000;
/** One is read; the refusal of a few names the second. */
const mostDocuments = 16;
/** Tags that say no more than what a value is anyway. */
const plainTags: ReadonlySet<string> = new Set(
  ['str', 'int', 'float', 'bool', 'null', 'map', 'seq'].map((name) => `tag:yaml.org,2002:${name}`),
);

/** Reads the one YAML document that `text` must be. Total: whatever is wrong comes back as findings. */
export function parseSource(text: string): ParsedSource {
  const counter = new LineCounter();
  const why = sizeProblem(text);
  if (why !== undefined) {
    return invalid([{ severity: 'error', line: undefined, path: '', message: unreadable(why) }]);
  }
  try {
    return sourceOf(text, counter);
  } catch (error) {
    if (error instanceof SourceError) return refusedAt(error, counter);
    // The parser calls itself for each level: of what is nested too deeply it runs out of stack.
    const why = error instanceof RangeError ? 'it is nested too deeply' : errorOf(error).message;
    return invalid([{ severity: 'error', line: undefined, path: '', message: unreadable(why) }]);
  }
}

/** By how much a token changes the level. */
const levelsOf: ReadonlyMap<string, number> = new Map([
  ['[', 1],
  ['{', 1],
  [']', -1],
  ['}', -1],
]);

/** Returns why `text` is too large to be read; undefined where it is not. */
function sizeProblem(text: string): string | undefined {
  if (text.length > longestText) return `it has more than ${longestText} characters`;
  const counts = { tokens: 0, documents: 0, levels: 0 };
  for (const token of new Lexer().lex(text)) {
    counts.tokens += 1;
    counts.documents += token === '---' ? 1 : 0;
    counts.levels += levelsOf.get(token) ?? 0;
    if (counts.tokens > mostTokens) return `it has more than ${mostTokens} tokens`;
    if (counts.documents > mostDocuments) return 'it must be one document: got very many';
    // Twice as many as are read, whose refusal names the place: before that the parser calls itself for each.
    if (counts.levels > mostLevels * 2) return `it is nested deeper than ${mostLevels} levels`;
  }
  return undefined;
}

/** What this reader does not take; `offset` is where it is in the text. */
class SourceError extends Error {
  override readonly name = 'SourceError';
  readonly path: string;
  readonly offset: number | undefined;

  constructor(message: string, at: { readonly path: string; readonly offset: number | undefined }) {
    super(message);
    this.path = at.path;
    this.offset = at.offset;
  }
}

function sourceOf(text: string, counter: LineCounter): ParsedSource {
  // Whether keys are unique is seen below: the parser compares each with each.
  const settings = { prettyErrors: false, stringKeys: true, uniqueKeys: false } as const;
  const documents = [...parseAllDocuments(text, { lineCounter: counter, ...settings })];
  const [document, second] = documents;
  const problems = documents.flatMap(({ errors, warnings }) => [...errors, ...warnings]);
  if (problems.length > 0) return invalid(problems.map((each) => problemAt(each, counter)));
  if (second !== undefined) {
    const offset = second.range[0];
    throw new SourceError('must be one YAML document: got a second one', { path: '', offset });
  }
  const walk = new Walk(counter);
  const root = walk.valueOf(document?.contents ?? null, '');
  if (walk.twice.size > 0) {
    const message = 'Map keys must be unique';
    return invalid([...walk.twice].map((at) => problemAt({ message, pos: [at] }, counter)));
  }
  if (isJsonObject(root)) return { kind: 'valid', source: { root, lines: walk.lines } };
  throw new SourceError(`must be a map with the keys images and services: got ${seen(root)}`, {
    path: '',
    offset: document?.contents?.range?.[0],
  });
}

function problemAt(
  {
    message,
    pos: [offset],
  }: { readonly message: string; readonly pos: readonly [number, ...unknown[]] },
  counter: LineCounter,
): Finding {
  const { line } = counter.linePos(offset);
  return { severity: 'error', line, path: '', message: unreadable(message) };
}

/** What aliases stand for, found in one pass: the parser's own way looks the whole document through for each of them. */
class Anchors {
  readonly #latest = new Map<string, Node>();
  readonly #resolved = new Map<Alias, Node>();
  /** Targets of aliases that are being read: what they hold is known, and what has followed them is not theirs. */
  #depth = 0;

  /** Notes that a node comes that may have an anchor. */
  note(node: Node): void {
    if (this.#depth > 0 || isAlias(node) || node.anchor === undefined) return;
    this.#latest.set(node.anchor, node);
  }

  /** Returns what `read` makes of the node that `alias` stands for; undefined where there is none. */
  within<Value>(alias: Alias, read: (target: Node) => Value): Value | undefined {
    const target = this.#resolved.get(alias) ?? this.#latest.get(alias.source);
    if (target === undefined) return undefined;
    this.#resolved.set(alias, target);
    this.#depth += 1;
    const value = read(target);
    this.#depth -= 1;
    return value;
  }
}

/** Makes JSON values of nodes, and notes their lines. */
class Walk {
  readonly lines = new Map<string, number>();
  /** Where keys are repeated in the same map. */
  readonly twice = new Set<number>();
  readonly #anchors = new Anchors();
  readonly #counter: LineCounter;
  /** Nodes that are being read: an alias of one of them has no end. */
  readonly #open = new Set<Node>();
  #values = 0;

  constructor(counter: LineCounter) {
    this.#counter = counter;
  }

  /** Returns the value of a node. @throws {SourceError} for what no JSON value is, and for what is too large */
  valueOf(node: Node | null, path: string): JsonValue {
    if (node === null) return null;
    this.#values += 1;
    if (this.#values > mostValues) {
      throw refusal(node, path, `makes more than ${mostValues} values of the file`);
    }
    if (this.#open.size >= mostLevels) {
      throw refusal(node, path, `is nested deeper than ${mostLevels} levels`);
    }
    this.#note(node, path);
    if (node.tag !== undefined && !plainTags.has(node.tag)) {
      throw refusal(node, path, `has the tag ${quoted(node.tag)}, which is not read here`);
    }
    if (this.#open.has(node)) throw refusal(node, path, 'is an alias of a node that contains it');
    this.#open.add(node);
    this.#anchors.note(node);
    const value = this.#contentOf(node, path);
    this.#open.delete(node);
    return value;
  }

  #contentOf(node: Node, path: string): JsonValue {
    if (isAlias(node)) {
      const value = this.#anchors.within(node, (target) => this.valueOf(target, path));
      if (value !== undefined) return value;
      throw refusal(node, path, `is an alias of ${quoted(node.source)}, which is not there`);
    }
    if (isScalar(node)) return scalarOf(node, node.value, path);
    if (isSeq(node)) {
      return node.items.map((each, at) => this.valueOf(nodeOf(each, path), `${path}[${at}]`));
    }
    if (isMap(node)) {
      const names = new Set<string>();
      // As entries: what is assigned to `__proto__` would be no member.
      return Object.fromEntries(
        node.items.map(({ key, value }) => {
          const member = this.#memberOf(path, key, value);
          this.#noteTwice(names, key);
          return member;
        }),
      );
    }
    throw refusal(node, path, 'is not supported here');
  }

  #memberOf(path: string, key: unknown, value: unknown): readonly [string, JsonValue] {
    if (!isScalar(key) || typeof key.value !== 'string') {
      throw new SourceError('must have keys that are texts', { path, offset: undefined });
    }
    const member = memberPath(path, key.value);
    if (key.value === '<<') {
      throw refusal(key, member, 'is not read here: write out its value');
    }
    if (key.value === '__proto__') throw refusal(key, member, 'is not a name of a field');
    this.#anchors.note(key);
    const read = this.valueOf(nodeOf(value, member), member);
    // The line of the key: a map or list begins in the one after it.
    this.#note(key, member);
    return [key.value, read];
  }

  #noteTwice(names: Set<string>, key: unknown): void {
    if (!isScalar(key) || typeof key.value !== 'string') return;
    const [offset] = key.range ?? [];
    if (names.has(key.value) && offset !== undefined) this.twice.add(offset);
    names.add(key.value);
  }

  #note(node: Node, path: string): void {
    const [offset] = node.range ?? [];
    if (offset !== undefined) this.lines.set(path, this.#counter.linePos(offset).line);
  }
}

function nodeOf(item: unknown, path: string): Node | null {
  if (item === null || isAlias(item) || isScalar(item) || isMap(item) || isSeq(item)) return item;
  throw new SourceError('is not supported here', { path, offset: undefined });
}

function scalarOf(node: Node, value: unknown, path: string): JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) {
    const isExact = !Number.isInteger(value) || Number.isSafeInteger(value);
    if (isExact) return value;
  }
  throw refusal(node, path, 'is a number that JSON cannot hold: put it in quotes if it is a text');
}

function refusal(node: Node, path: string, message: string): SourceError {
  return new SourceError(message, { path, offset: node.range?.[0] });
}

function refusedAt({ message, path, offset }: SourceError, counter: LineCounter): ParsedSource {
  const line = offset === undefined ? undefined : counter.linePos(offset).line;
  return invalid([{ severity: 'error', line, path, message }]);
}

function invalid(findings: readonly Finding[]): ParsedSource {
  return { kind: 'invalid', findings };
}

function unreadable(why: string): string {
  return `Cannot read as YAML: ${why}`;
}
