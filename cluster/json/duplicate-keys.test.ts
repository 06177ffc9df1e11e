import assert from 'node:assert/strict';
import { test } from 'node:test';
import { duplicateKeys } from './duplicate-keys.ts';

const cases: Record<string, readonly [text: string, paths: readonly string[]]> = {
  'finds nothing where all keys differ': ['{"a":1,"b":{"a":2}}', []],
  'finds a repeated key': ['{"a":1,"a":2}', ['a']],
  'names the path of a nested one': ['{"spec":{"x":1,"y":[],"x":2}}', ['spec.x']],
  'takes objects of a list apart': ['{"l":[{"a":1},{"a":2}]}', []],
  'is not misled by values and escapes': ['{"a":"b\\"a\\":\\\\","b":"a"}', []],
};
for (const [fact, [text, paths]] of Object.entries(cases)) {
  test(`duplicateKeys() ${fact}`, () => {
    assert.deepEqual(duplicateKeys(text), paths);
  });
}
