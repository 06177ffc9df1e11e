import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isJsonTooDeep, yamlProblem } from './nesting.ts';

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
    assert.equal(isJsonTooDeep(text, Buffer.from(text)), want);
  });
}

const deepText = 'nests too deep for YAML';
const manyText = 'has more than the 1500 marks that YAML may have here';
const yaml: Record<string, readonly [text: string, want: string | undefined]> = {
  'takes a plain document': ['a:\n  - b\n  - c: [1, {d: e}]\n', undefined],
  'refuses sequences within sequences on one line': ['- '.repeat(65), deepText],
  'refuses keys that are no scalars': ['  ? a\n  : b', deepText],
  'takes a question mark within a line': ['a: why? because', undefined],
  'refuses deep indentation': [' '.repeat(257), deepText],
  'refuses brackets': ['['.repeat(65), deepText],
  'counts indicators line by line': ['- a\n'.repeat(750), undefined],
  'does not count dashes and colons within words': ['a-b:c '.repeat(10_000), undefined],
  'refuses many lines': ['a\n'.repeat(1_501), manyText],
  'refuses many anchors': ['&a '.repeat(1_501), manyText],
  'refuses many members': [`[${'1,'.repeat(1_501)}]`, manyText],
};
for (const [fact, [text, want]] of Object.entries(yaml)) {
  test(`yamlProblem() ${fact} (D-29, FUZZ-1)`, () => {
    assert.equal(yamlProblem(Buffer.from(text)), want);
  });
}
