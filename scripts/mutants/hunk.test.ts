import assert from 'node:assert/strict';
import { test } from 'node:test';
import { enclosingName, parseHunks } from './hunk.ts';

const diff = `--- a/src/a.ts
+++ b/src/a.ts
@@ -10,3 +10,2 @@ Class.member
 before
-  gone();
 after
@@ -20,2 +19,3 @@
 only context
+  -- added
 end
--- a/src/b.ts
+++ b/src/b.ts
@@ -1,2 +1,2 @@ sum
-old
+new

`;

test('parseHunks() reads files, declarations and lines, an empty line of context too', () => {
  assert.deepEqual(
    parseHunks(diff).map(({ path, heading, before, after }) => ({ path, heading, before, after })),
    [
      {
        path: 'src/a.ts',
        heading: 'Class.member',
        before: ['before', '  gone();', 'after'],
        after: ['before', 'after'],
      },
      {
        path: 'src/a.ts',
        heading: '',
        before: ['only context', 'end'],
        after: ['only context', '  -- added', 'end'],
      },
      { path: 'src/b.ts', heading: 'sum', before: ['old'], after: ['new'] },
    ],
  );
});

test('parseHunks() refuses a hunk of no file', () => {
  assert.throws(() => parseHunks('@@ -1 +1 @@\n-a\n+b\n'), /^Error: Cannot read the hunk "@@ -1/);
});

const source = `import { a } from './a.ts';

/** Says so. */
export function outer(value: number): number {
  const inner = (each: number): number => {
    return each + 1;
  };
  return inner(value);
}

class Queue<T> {
  readonly #waiting = new Map<string, T>();

  async take(key: string): Promise<T | undefined> {
    if (key === '') {
      return undefined;
    }
    return this.#waiting.get(key);
  }
}

export const limits: readonly number[] = [
  1,
];
`.split('\n');

/** The declaration by the text of the line. */
const enclosing: Record<string, string> = {
  "import { a } from './a.ts';": '',
  'return each + 1;': 'outer',
  'return inner(value);': 'outer',
  'readonly #waiting = new Map<string, T>();': 'Queue.#waiting',
  'return undefined;': 'Queue.take',
  'return this.#waiting.get(key);': 'Queue.take',
  '1,': 'limits',
};

for (const [text, name] of Object.entries(enclosing)) {
  test(`enclosingName() of "${text}" is "${name}"`, () => {
    const at = source.findIndex((line) => line.trim() === text);
    assert.equal(enclosingName(source, at), name);
  });
}
