import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { isSameJson, type JsonObject, jsonIn } from './json.ts';

const cases: Record<string, { one: JsonObject; other: JsonObject; isSame: boolean }> = {
  'says yes to members in another order': {
    one: { a: 1, b: { c: [1, 2] } },
    other: { b: { c: [1, 2] }, a: 1 },
    isSame: true,
  },
  'says yes to a member that is undefined, where the other has none': {
    one: { a: 1, b: undefined },
    other: { a: 1 },
    isSame: true,
  },
  'says no to a member more': { one: { a: 1 }, other: { a: 1, b: 2 }, isSame: false },
  'says no to a member that is null, where the other has none': {
    one: { a: null },
    other: {},
    isSame: false,
  },
  'says no to items in another order': { one: { a: [1, 2] }, other: { a: [2, 1] }, isSame: false },
  'says no to an item more': { one: { a: [1] }, other: { a: [1, 2] }, isSame: false },
  'says no to a list in place of an object': { one: { a: [] }, other: { a: {} }, isSame: false },
  'says no to a number in place of its text': { one: { a: 1 }, other: { a: '1' }, isSame: false },
};

for (const [fact, { one, other, isSame }] of Object.entries(cases)) {
  test(`isSameJson() ${fact}`, () => {
    assert.deepEqual([isSameJson(one, other), isSameJson(other, one)], [isSame, isSame]);
  });
}

test('isSameJson() says of any two objects what comparing them says once both were stored', () => {
  const members = fc.constantFrom<JsonObject['a']>(undefined, null, 0, '', [], [1], {}, { a: 1 });
  const objects = fc.dictionary(fc.constantFrom('a', 'b', 'c'), members);
  const stored = (each: JsonObject): unknown => jsonIn(JSON.stringify(each));
  fc.assert(
    fc.property(objects, objects, (one, other) => {
      assert.equal(isSameJson(one, other), isDeepStrictEqual(stored(one), stored(other)));
    }),
  );
});
