import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { RE2JS } from 're2js';
import { compilePattern, longestPattern } from './compile-pattern.ts';
import { patternCost } from './pattern-cost.ts';

/** The error that `pattern` is refused with, after what all begin with; undefined where it is compiled. */
function errorOf(pattern: string): string | undefined {
  const compiled = compilePattern(pattern);
  if (compiled.kind === 'compiled') return undefined;
  assert.match(compiled.text, /^error parsing regexp: /);
  return compiled.text.slice('error parsing regexp: '.length);
}

/** What Go 1.26 says of each, printed by a program of it, after `error parsing regexp: `. */
const said: Readonly<Record<string, string>> = {
  '^([bad$': 'missing closing ]: `[bad$`',
  '^($': 'missing closing ): `^($`',
  '^a)$': 'unexpected ): `^a)$`',
  '^a**$': 'invalid nested repetition operator: `**`',
  '^a*+$': 'invalid nested repetition operator: `*+`',
  '^a++$': 'invalid nested repetition operator: `++`',
  '^a?+$': 'invalid nested repetition operator: `?+`',
  '^a{2}{3}$': 'invalid nested repetition operator: `{2}{3}`',
  '^(*)$': 'missing argument to repetition operator: `*`',
  '^a|*$': 'missing argument to repetition operator: `*`',
  '^a{1001}$': 'invalid repeat count: `{1001}`',
  '^a{3,2}$': 'invalid repeat count: `{3,2}`',
  '^(a{1000}){1000}$': 'invalid repeat count: `{1000}`',
  '^((a{100}){100}){100}$': 'invalid repeat count: `{100}`',
  '^(a{1000}b{1000}){2}$': 'invalid repeat count: `{2}`',
  '^(a{0,1001})$': 'invalid repeat count: `{0,1001}`',
  '^[b-a]$': 'invalid character class range: `b-a`',
  '^[a$': 'missing closing ]: `[a$`',
  '^[[:foo:]]$': 'invalid character class range: `[:foo:]`',
  '^[a-\\d]$': 'invalid escape sequence: `\\d`',
  '^\\1$': 'invalid escape sequence: `\\1`',
  '^\\8$': 'invalid escape sequence: `\\8`',
  '^\\Z$': 'invalid escape sequence: `\\Z`',
  '^\\C$': 'invalid escape sequence: `\\C`',
  '^\\x$': 'invalid escape sequence: `\\x$`',
  '^\\x{110000}$': 'invalid escape sequence: `\\x{110000`',
  '^\\x{$': 'invalid escape sequence: `\\x{$`',
  '^\\u0041$': 'invalid escape sequence: `\\u`',
  '^\\e$': 'invalid escape sequence: `\\e`',
  '^\\é$': 'invalid escape sequence: `\\é`',
  '^\\p{Foo}$': 'invalid character class range: `\\p{Foo}`',
  '^\\p{$': 'invalid character class range: `\\p{$`',
  '^\\pX$': 'invalid character class range: `\\pX`',
  '^(?P<n$': 'invalid named capture: `(?P<n$`',
  '^(?P<>a)$': 'invalid named capture: `(?P<>`',
  '^(?P<a b>c)$': 'invalid named capture: `(?P<a b>`',
  '^(?<$': 'invalid named capture: `(?<$`',
  '^(?<=a)$': 'invalid named capture: `(?<=a)$`',
  '^(?<!a)$': 'invalid named capture: `(?<!a)$`',
  '^(?P=n)$': 'invalid or unsupported Perl syntax: `(?P`',
  '^(?P>n)$': 'invalid or unsupported Perl syntax: `(?P`',
  '^(?=a)$': 'invalid or unsupported Perl syntax: `(?=`',
  '^(?!a)$': 'invalid or unsupported Perl syntax: `(?!`',
  '^(?>a)$': 'invalid or unsupported Perl syntax: `(?>`',
  '^(?#c)$': 'invalid or unsupported Perl syntax: `(?#`',
  '^(?x)a$': 'invalid or unsupported Perl syntax: `(?x`',
  '^(?i-)a$': 'invalid or unsupported Perl syntax: `(?i-)`',
  '^(?$': 'invalid or unsupported Perl syntax: `(?$`',
  '^[[.a.]]x[$': 'missing closing ]: `[$`',
  '^漢[$': 'missing closing ]: `[$`',
  '^(?:a$': 'missing closing ): `^(?:a$`',
  '^a(?:b))$': 'unexpected ): `^a(?:b))$`',
  '^(?P<n>(?P<n>$': 'missing closing ): `^(?P<n>(?P<n>$`',
  '^(?P<n>a)(?P<n>?:b)$': 'missing argument to repetition operator: `?`',
};

for (const [pattern, error] of Object.entries(said)) {
  test(`compilePattern() says of ${pattern} what Go says`, () => {
    assert.equal(errorOf(pattern), error);
  });
}

/** Pattern, name of a pod, and what `FindStringSubmatch` of Go 1.26 finds. */
const found: readonly (readonly [string, string, readonly (string | undefined)[] | undefined])[] = [
  ['^[a-z\\-]+-zone-[a-z]-([0-9]+)$', 'ingester-zone-a-12', ['ingester-zone-a-12', '12']],
  ['^[a-z\\-]+-zone-[a-z]-([0-9]+)$', 'ingester-zone-a', undefined],
  ['^a|(b)$', 'a-0', ['a', undefined]],
  ['^a|(b)$', 'x-b', ['b', 'b']],
  ['^(?i)A(?P<n>[[:digit:]]+)\\z$', 'a10', ['a10', '10']],
  ['^(a)|b$', 'b', ['b', undefined]],
  ['^(?P<n>a)(?P<n>b)$', 'ab', ['ab', 'a', 'b']],
  ['^(?U)(a+)(a*)$', 'aaa', ['aaa', 'a', 'aa']],
  ['^\\pL+-(\\d{1,3})$', 'x-123', ['x-123', '123']],
  ['^*(a)$', 'a', ['a', 'a']],
];

for (const [source, text, groups] of found) {
  test(`compilePattern() finds with ${source} in ${text} what Go finds`, () => {
    const compiled = compilePattern(source);
    assert.ok(compiled.kind === 'compiled');
    const { pattern } = compiled;
    const count = groups === undefined ? pattern.groupCount + 1 : groups.length;
    const got = Array.from({ length: count }, (_, group) => pattern.groupIn(text, group));
    assert.deepEqual(got, groups ?? got.map(() => undefined));
    assert.equal(pattern.groupCount, count - 1);
  });
}

const tooLarge =
  /^expression too large: it must have at most 2048 characters and compile to at most 2000 instructions: got "/;

/** Each would take the memory of the container, or seconds. */
const hostile: Readonly<Record<string, string>> = {
  'many repetitions one after the other': `^(${'a{1000}'.repeat(290)})$`,
  'a long text': `^(${'a'.repeat(longestPattern)})$`,
  'many classes of Unicode': `^(?i)([${'\\pL'.repeat(600)}])$`,
  'many wide ranges': `^(?i)([${'B-\\x{1e942}'.repeat(180)}])$`,
  'many wide ranges in letters': `^(?i)([${'B-\u{1e942}'.repeat(180)}])$`,
  'a bracket in a class before many repetitions': `^([[:alpha:](]${'a{900}'.repeat(300)})$`,
  'a parenthesis in quotes before a repetition': `^(${'a{9}'.repeat(60)}\\Q)\\E){100}$`,
  'flags between two repetitions': `^(${'a{30}(?i){30}'.repeat(5)})$`,
  'an escaped parenthesis before a repetition': `^(${'a{9}'.repeat(60)}\\)){100}$`,
  'a parenthesis in a class before a repetition': `^(${'a{9}'.repeat(60)}[])]){100}$`,
};

for (const [what, pattern] of Object.entries(hostile)) {
  test(`compilePattern() refuses ${what} before it compiles it`, () => {
    assert.match(errorOf(pattern) ?? '', tooLarge);
  });
}

test('compilePattern() compiles the names that Kubernetes has, as they are defined', () => {
  const label = '[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?';
  assert.equal(errorOf(`^(${label})-zone-[a-z]-([0-9]+)$`), undefined);
  assert.equal(errorOf(`^([a-z0-9](?:[-a-z0-9]{0,251}[a-z0-9])?)-([0-9]{1,10})$`), undefined);
});

test('compilePattern() refuses what nests too deep', () => {
  const pattern = `^${'('.repeat(1_000)}${')'.repeat(1_000)}$`;
  assert.match(errorOf(pattern) ?? '', /^(?:expression nests too deeply|expression too large)/);
});

const atoms = [
  'a',
  '0',
  '-',
  '.',
  '|',
  '^',
  '$',
  '(',
  ')',
  '(?:',
  '(?i)',
  '(?P<n>',
  '[',
  ']',
  '[^',
  '\\',
  '*',
  '+',
  '?',
  '{2}',
  '{2,}',
  '{3,9}',
  '{0}',
  '{30}',
  '{1000}',
  '{',
  '}',
  ',',
  '9',
  'Q',
  'E',

  '[[:alpha:]]',
  '[:',
  ':]',
  '\\pL',
  '\\Q',
  '\\E',
  '\\x{',
  '\\x{10}',
  '\\d',
  'é',
  '😀',
  '\ud800',
];
const patterns = fc
  .array(fc.constantFrom(...atoms), { maxLength: 24 })
  .map((each) => each.join(''));

test('patternCost() is not below the size of the program, whatever the pattern', () => {
  fc.assert(
    fc.property(patterns, (pattern) => {
      const { instructions } = patternCost(pattern);
      if (instructions > 20_000) return;
      let size = 0;
      try {
        size = RE2JS.compile(pattern).programSize();
      } catch {
        return;
      }
      assert.ok(size <= instructions, `${size} > ${instructions}`);
    }),
    { numRuns: 3_000 },
  );
});

test('compilePattern() never throws, and what it compiles finds something or nothing', () => {
  fc.assert(
    fc.property(patterns, fc.string({ maxLength: 20 }), (pattern, text) => {
      const compiled = compilePattern(`^${pattern}$`);
      if (compiled.kind === 'compiled') compiled.pattern.groupIn(text, compiled.pattern.groupCount);
    }),
    { numRuns: 3_000 },
  );
});
