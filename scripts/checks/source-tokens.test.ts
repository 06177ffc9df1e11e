import assert from 'node:assert/strict';
import { test } from 'node:test';
import { proseOf, tokenize } from './source-tokens.ts';

/** Each token as `kind text`, with the kind of names and punctuators left out. */
function tokens(source: string): readonly string[] {
  return tokenize(source).map(({ kind, text }) =>
    kind === 'name' || kind === 'punctuator' ? text : `${kind} ${text}`,
  );
}

const cases: Record<string, { readonly source: string; readonly expected: readonly string[] }> = {
  'drops comments, also such as look like code': {
    source: '#!/usr/bin/env node\na /* import "x" */ // b\n/** `c` */ d',
    expected: ['a', 'd'],
  },
  'keeps comment marks in strings': {
    source: `'/*' + "it's // x"`,
    expected: ['string /*', '+', "string it's // x"],
  },
  'tells a regular expression from a division': {
    source: 'a / b / c; x = /[/"`]/g; return /\'/',
    expected: [
      'a',
      '/',
      'b',
      '/',
      'c',
      ';',
      'x',
      '=',
      'regex /[/"`]/g',
      ';',
      'return',
      "regex /'/",
    ],
  },
  'reads the substitutions of a template, nested too': {
    source: '`a ${b + `c${{ d: 1 }.d}`} e` + f',
    expected: [
      'template a ${} e',
      'b',
      '+',
      'template c${}',
      '{',
      'd',
      ':',
      'number 1',
      '}',
      '.',
      'd',
      '+',
      'f',
    ],
  },
  'takes numbers, private names and optional chaining whole': {
    source: '1_000.5e-3 + this.#at?.b ?? c ? .5 : 1',
    expected: [
      'number 1_000.5e-3',
      '+',
      'this',
      '.',
      '#at',
      '?.',
      'b',
      '?',
      '?',
      'c',
      '?',
      'number .5',
      ':',
      'number 1',
    ],
  },
};

for (const [title, { source, expected }] of Object.entries(cases)) {
  test(`tokenize() ${title}`, () => {
    assert.deepEqual(tokens(source), expected);
  });
}

test('tokenize() counts lines through comments and templates', () => {
  assert.deepEqual(
    tokenize('/*\n*/ a\n`\n${b}\n` c').map(({ text, line }) => [text, line]),
    [
      ['a', 2],
      ['\n${}\n', 3],
      ['b', 4],
      ['c', 5],
    ],
  );
});

test('proseOf() tells comments and literals with their lines, also inside a template', () => {
  const source = [
    '// one',
    "const a = 'two'; /* three",
    ' four */ const b = `five ${f(/* six */ "seven")} eight`;',
  ].join('\n');
  assert.deepEqual(proseOf(source), [
    { kind: 'comment', text: '// one', line: 1 },
    { kind: 'comment', text: '/* three\n four */', line: 2 },
    { kind: 'literal', text: 'two', line: 2 },
    { kind: 'comment', text: '/* six */', line: 3 },
    { kind: 'literal', text: 'five ${} eight', line: 3 },
    { kind: 'literal', text: 'seven', line: 3 },
  ]);
});
