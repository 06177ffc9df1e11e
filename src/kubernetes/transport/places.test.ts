import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Places } from './places.ts';

test('Places let in as many as there are, and the others in their order', () => {
  const places = new Places(2);
  const seen: string[] = [];
  const enter = (name: string): (() => void) | undefined => places.take(() => seen.push(name));
  assert.equal(enter('a'), undefined);
  assert.equal(enter('b'), undefined);
  const waiting = ['c', 'd', 'e'].map(enter);
  assert.deepEqual(seen, ['a', 'b']);
  waiting[1]?.();
  places.leave();
  assert.deepEqual(seen, ['a', 'b', 'c']);
  places.leave();
  assert.deepEqual(seen, ['a', 'b', 'c', 'e']);
  places.leave();
  places.leave();
  assert.equal(enter('f'), undefined);
  assert.deepEqual(seen, ['a', 'b', 'c', 'e', 'f']);
});
