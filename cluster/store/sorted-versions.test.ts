import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { SortedVersions } from './sorted-versions.ts';
import { Version } from './version.ts';

const keys = (versions: readonly Version[]): readonly string[] => versions.map(({ key }) => key);

function filled(names: Iterable<string>): SortedVersions {
  const sorted = new SortedVersions();
  for (const name of names) sorted.set(new Version(name, {}, 1));
  return sorted;
}

test('range() answers the keys of a part in order', () => {
  const sorted = filled(['b/2', 'a/1', 'c/1', 'b/1']);
  assert.deepEqual(keys(sorted.range('')), ['a/1', 'b/1', 'b/2', 'c/1']);
  assert.deepEqual(keys(sorted.range('b/', 'b0')), ['b/1', 'b/2']);
  assert.deepEqual(keys(sorted.range('d/', 'd0')), []);
});

test('set() puts a newer version in the place of the older', () => {
  const sorted = filled(['a', 'b']);
  sorted.set(new Version('a', {}, 7));
  assert.deepEqual(
    sorted.range('').map(({ key, revision }) => [key, revision]),
    [
      ['a', 7],
      ['b', 1],
    ],
  );
});

test('delete() of a key that is not there changes nothing', () => {
  const sorted = filled(['a']);
  sorted.delete('b');
  sorted.delete('');
  assert.deepEqual(keys(sorted.range('')), ['a']);
});

test('any insertions and deletions leave what a sorted set would hold', () => {
  const step = fc.record({ isSet: fc.boolean(), number: fc.nat(40) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), fc.nat(40), fc.nat(40), (steps, from, to) => {
      const sorted = new SortedVersions();
      const expected = new Set<string>();
      for (const { isSet, number } of steps) {
        // Each number stands for many keys, so that runs are cut in two and emptied again.
        for (let part = 0; part < 40; part += 1) {
          const key = `${number}/${part}`;
          if (isSet) sorted.set(new Version(key, {}, 1));
          else sorted.delete(key);
          if (isSet) expected.add(key);
          else expected.delete(key);
        }
      }
      const [low, high] = [`${from}/`, `${to}0`];
      assert.deepEqual(
        keys(sorted.range(low, high)),
        [...expected].filter((key) => key >= low && key < high).toSorted(),
      );
      assert.deepEqual(keys(sorted.range('')), [...expected].toSorted());
    }),
    { numRuns: 60 },
  );
});
