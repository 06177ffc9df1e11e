import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  commentFindings,
  countComments,
  describeCounts,
  functionComments,
} from './check-comments.ts';

/** Returns the first words of the comments that are found in `source`. */
function firstWords(source: string): readonly string[] {
  return functionComments('src/a.ts', source).map(({ firstWord }) => firstWord);
}

describe('functionComments()', () => {
  const found: Record<string, { readonly source: string; readonly want: string }> = {
    'a function': {
      source: '/** Returns one. */\nexport async function one() {}',
      want: 'Returns',
    },
    'a generator': { source: '/** Returns all. */\nfunction* all(): A {}', want: 'Returns' },
    'a generic function': { source: '/** The same. */\nfunction same<T>(a: T) {}', want: 'The' },
    'a method': { source: 'class A {\n  /** Ends it. */\n  end(): void {}\n}', want: 'Ends' },
    'a private method': {
      source:
        'class A {\n  /** Ends it. */\n  static async #end(a: (b: B) => C): Promise<void> {}\n}',
      want: 'Ends',
    },
    'a getter': { source: 'class A {\n  /** How many. */\n  get size(): B {}\n}', want: 'How' },
    'a method of an interface': {
      source: 'interface A {\n  /** Whether it is. */\n  is(b: B): boolean;\n}',
      want: 'Whether',
    },
    'an arrow function': { source: '/** Makes a. */\nconst a = (b: B): C => ({});', want: 'Makes' },
    'an arrow function without brackets': {
      source: '/** Makes a. */\nexport const a = async b => c;',
      want: 'Makes',
    },
    'a comment of many lines': {
      source: '/**\n * Returns one.\n *\n * @param a\n */\nfunction one(a: A) {}',
      want: 'Returns',
    },
    'a comment that is but a tag': {
      source: '/** @throws {B} always */\nfunction one(a: A): never {}',
      want: '@throws',
    },
  };
  for (const [what, { source, want }] of Object.entries(found)) {
    test(`finds that of ${what}`, () => assert.deepEqual(firstWords(source), [want]));
  }

  const others: Record<string, string> = {
    'a constant': '/** How long. */\nconst span = seconds(5);',
    'a type': '/** What is known. */\nexport interface A {}',
    'a field': 'interface A {\n  /** Called once. */\n  readonly a: (b: B) => C;\n}',
    'a call': '/** Why. */\nrun(a);',
    'a condition': 'function a() {\n  /** Why. */\n  if (b) {}\n}',
    'no doc comment': '// Why.\nfunction a() {}\n/* Why. */\nfunction b() {}',
  };
  for (const [what, source] of Object.entries(others)) {
    test(`leaves ${what} alone`, () => assert.deepEqual(firstWords(source), []));
  }

  test('says where it begins', () => {
    assert.deepEqual(functionComments('src/a.ts', '\n\n/**\n * Runs.\n */\nfunction a() {}\n'), [
      { path: 'src/a.ts', line: 3, firstWord: 'Runs' },
    ]);
  });
});

/** Returns the counts of functions whose comments begin by `words`. */
function countsOf(words: readonly string[]): ReturnType<typeof countComments> {
  const source = words.map((word) => `/** ${word} it. */\nfunction a() {}\n`).join('');
  return countComments(functionComments('src/a.ts', source));
}

const verbs = Array.from({ length: 12 }, () => 'Returns');

test('countComments() tells a verb from a plural and from a question word', () => {
  const words = ['Returns', 'Pods', 'Whether', 'What', 'The'];
  assert.deepEqual(countsOf(words), { all: 5, byVerb: 1, byQuestionWord: 2 });
});

describe('commentFindings()', () => {
  test('finds nothing at the very bounds: 60 % verbs, 5 % question words', () => {
    const others = ['Why', ...Array.from({ length: 7 }, () => 'The')];
    assert.deepEqual(commentFindings(countsOf([...verbs, ...others])), []);
  });

  test('finds too few verbs', () => {
    const others = Array.from({ length: 9 }, () => 'The');
    assert.deepEqual(commentFindings(countsOf([...verbs, ...others])), [
      'too few begin by a verb: at least 60.0 % must',
    ]);
  });

  test('finds too many question words', () => {
    assert.deepEqual(commentFindings(countsOf([...verbs, 'Why', 'How'])), [
      'too many begin by a question word: at most 5.0 % may',
    ]);
  });
});

test('describeCounts() says all in one line', () => {
  assert.equal(
    describeCounts('src', { all: 200, byVerb: 121, byQuestionWord: 7 }),
    'src: 200 doc comments of functions begin by a verb 60.5 %, by a question word 3.5 %',
  );
});
