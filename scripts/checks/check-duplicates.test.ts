import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findDuplicates } from './check-duplicates.ts';

/** Returns `count` lines of code, no two of them equal. */
function code(count: number, name = 'a'): string {
  return Array.from({ length: count }, (_, at) => `  ${name}.run(${at});\n`).join('');
}

/** Returns what is found in the files `a.ts` and `b.ts`, one text each. */
function found(a: string, b: string): readonly string[] {
  return findDuplicates(
    new Map([
      ['a.ts', a],
      ['b.ts', b],
    ]),
  ).map(
    ({ lines, one, other }) =>
      `${lines}: ${one.path}:${one.from}-${one.to} ${other.path}:${other.from}-${other.to}`,
  );
}

describe('findDuplicates()', () => {
  test('finds six equal lines in two files, but for the blanks around them', () => {
    const b = `const b = 1;\n${code(6).replaceAll('  ', '\t')}`;
    assert.deepEqual(found(code(6), b), ['6: a.ts:1-6 b.ts:2-7']);
  });

  test('leaves five alone, and six with a difference between them', () => {
    assert.deepEqual(found(code(5), code(5)), []);
    assert.deepEqual(found(code(6), code(6).replace('run(3)', 'run(4)')), []);
  });

  test('names a longer run once, as a whole', () => {
    assert.deepEqual(found(`x();\n${code(9)}y();\n`, `z();\n${code(9)}`), [
      '9: a.ts:2-10 b.ts:2-10',
    ]);
  });

  test('does not end a run at blank lines, comments, imports, brackets and data', () => {
    const between = [
      '',
      '// Why.',
      '/**',
      ' * Why.',
      ' */',
      "import { c } from './c.ts';",
      '});',
      "  'pods': { unit: 'MB', most: 2 },",
    ].join('\n');
    const b = `${code(3)}${between}\n${code(6).split('\n').slice(3).join('\n')}`;
    assert.deepEqual(found(code(6), b), ['6: a.ts:1-6 b.ts:1-14']);
  });

  test('counts no imports, and no data of tables', () => {
    const imports = "import {\n  a,\n  b,\n  c,\n  d,\n  e,\n  f,\n} from './all.ts';\n";
    const table = Array.from(
      { length: 9 },
      (_, at) => `  'row ${at}': { unit: 's', most: ${at} },\n`,
    );
    const same = `${imports}${table.join('')}`;
    assert.deepEqual(found(same, same), []);
  });

  test('names the longest first, and each pair of files by itself', () => {
    const files = new Map([
      ['a.ts', code(6, 'x')],
      ['b.ts', `${code(6, 'x')}${code(8, 'y')}`],
      ['c.ts', `${code(8, 'y')}${code(6, 'x')}`],
    ]);
    assert.deepEqual(
      findDuplicates(files).map(({ lines, one, other }) => `${lines} ${one.path} ${other.path}`),
      ['8 b.ts c.ts', '6 a.ts b.ts', '6 a.ts c.ts', '6 b.ts c.ts'],
    );
  });

  test('leaves alone what one file says twice', () => {
    assert.deepEqual(found(`${code(6)}${code(6)}`, ''), []);
  });
});
