/** The hunks of a unified diff, as text; where their lines stand is not believed, only what they say. */

/** One change of a planted bug: lines that stand together in one source file, and the lines in their place. */
export interface Hunk {
  /** The source file when the patch was made, from the root of the checkout. */
  readonly path: string;
  /** The declaration that the change is in (see `enclosingName`); empty where the patch names none. */
  readonly heading: string;
  /** What stands there, with its context. */
  readonly before: readonly string[];
  /** What is written in its place, with the same context. */
  readonly after: readonly string[];
  /** The changed lines of `before` alone; empty for an insertion. */
  readonly removed: readonly string[];
  /** The changed lines of `after` alone. */
  readonly added: readonly string[];
}

/**
 * Reads the hunks of `diff`, in its order.
 *
 * @throws {Error} when a hunk belongs to no file, which is how a cut patch looks
 */
export function parseHunks(diff: string): readonly Hunk[] {
  return diff.split(/^(?=--- )/m).flatMap((file) => {
    const path = /^--- (?:a\/)?(\S+)/.exec(file)?.[1];
    const hunks = file.split(/^(?=@@ )/m).filter((text) => text.startsWith('@@ '));
    return hunks.map((text) => {
      if (path !== undefined) return hunkOf(path, text);
      throw new Error(`Cannot read the hunk "${text.split('\n')[0]}" as no file is named`);
    });
  });
}

function hunkOf(path: string, text: string): Hunk {
  const [position = '', ...body] = text.split('\n');
  const heading = position.replace(/^@@ [^@]*@@ ?/, '').trim();
  // A line of the next file begins with neither a sign nor a blank; an editor that trims leaves empty lines of context.
  const foreign = body.findIndex((line) => !/^(?:[ +-]|$)/.test(line));
  const own = foreign === -1 ? body : body.slice(0, foreign);
  const lines = own.slice(0, own.findLastIndex((line) => line !== '') + 1);
  const of = (...signs: readonly string[]): readonly string[] =>
    lines.filter((line) => signs.includes(line[0] ?? ' ')).map((line) => line.slice(1));
  return {
    path,
    heading,
    before: of(' ', '-'),
    after: of(' ', '+'),
    removed: of('-'),
    added: of('+'),
  };
}

/** Words that begin a line with a parenthesis and declare nothing. */
const statement =
  /^(?:if|for|while|switch|catch|return|await|throw|super|void|new|typeof|else|do)\b/;
const modifiers =
  '(?:(?:export|default|async|static|readonly|override|get|set|private|public|protected|declare|abstract)\\s+)*';
const declarations: readonly RegExp[] = [
  new RegExp(`^${modifiers}(?:function\\*?|class|interface|type|const|let|enum)\\s+([\\w$]+)`),
  new RegExp(`^${modifiers}\\*?(#?[\\w$]+)(?:<[^>]*>)?\\(`),
  new RegExp(`^${modifiers}(#?[\\w$]+)\\s*(?::[^=]*)?=\\s`),
  /^'([^']+)':/,
];

/** An empty line, a comment, or a line that goes on with what one above it began. */
const continued = /^\s*(?:[/*)\]}>?:]|$)/;

/**
 * Names the declaration that line `at` of `lines` stands in, or is: `name`, or `Class.member`; empty at the top of a file.
 * Goes by the indentation of formatted source, two blanks a level.
 */
export function enclosingName(lines: readonly string[], at: number): string {
  let member = '';
  let above = Number.POSITIVE_INFINITY;
  for (let index = at; index >= 0; index -= 1) {
    const line = lines[index] ?? '';
    const indent = line.search(/\S|$/);
    if (indent >= above || continued.test(line)) continue;
    above = indent;
    const name = declaredBy(line.trim());
    if (name === undefined) continue;
    // What is declared inside of a function says less than the function.
    if (indent === 0) return member !== '' && isClass(line) ? `${name}.${member}` : name;
    member = indent === 2 ? name : '';
  }
  return member;
}

function isClass(line: string): boolean {
  return /^(?:export )?(?:abstract )?class\b/.test(line);
}

function declaredBy(line: string): string | undefined {
  if (statement.test(line)) return undefined;
  for (const declaration of declarations) {
    const name = declaration.exec(line)?.[1];
    if (name !== undefined) return name;
  }
  return undefined;
}
