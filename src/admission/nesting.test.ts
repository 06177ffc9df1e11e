import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isJsonTooDeep, isYamlTooDeep } from './nesting.ts';

const json: Record<string, readonly [text: string, want: boolean]> = {
  'takes 1,000 levels': [`${'['.repeat(1_000)}${']'.repeat(1_000)}`, false],
  'refuses 1,001 levels': [`${'['.repeat(1_001)}${']'.repeat(1_001)}`, true],
  'counts objects and arrays alike': [`${'{"a":['.repeat(501)}${']}'.repeat(501)}`, true],
  'does not count brackets within strings': [`["${'['.repeat(3_000)}"]`, false],
  'reads an escaped quote as part of its string': [`["\\"${'['.repeat(3_000)}"]`, false],
  'ends a string after an escaped backslash': [`["\\\\",${'['.repeat(3_000)}`, true],
  'counts levels, not brackets': [`[${'[],'.repeat(3_000)}[]]`, false],
  'ends with a string that does not': [`["${'a'.repeat(3_000)}`, false],
};
for (const [fact, [text, want]] of Object.entries(json)) {
  test(`isJsonTooDeep() ${fact} (D-29)`, () => {
    assert.equal(isJsonTooDeep(Buffer.from(text)), want);
  });
}

const yaml: Record<string, readonly [text: string, want: boolean]> = {
  'takes a plain document': ['a:\n  - b\n  - c: [1, {d: e}]\n', false],
  'refuses sequences within sequences on one line': ['- '.repeat(1_001), true],
  'refuses keys within keys on one line': ['? '.repeat(1_001), true],
  'refuses brackets': ['['.repeat(1_001), true],
  'counts indicators line by line': ['- a\n'.repeat(3_000), false],
};
for (const [fact, [text, want]] of Object.entries(yaml)) {
  test(`isYamlTooDeep() ${fact} (D-29)`, () => {
    assert.equal(isYamlTooDeep(Buffer.from(text)), want);
  });
}
