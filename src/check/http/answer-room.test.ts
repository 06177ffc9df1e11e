import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AnswerRoom } from './answer-room.ts';

test('AnswerRoom gives the longest answer up when all together are too long', () => {
  const room = new AnswerRoom(100);
  const [short, long, other] = [room.enter(), room.enter(), room.enter()] as const;
  short.take(20);
  long.take(50);
  other.take(30);
  assert.deepEqual([room.taken, long.signal.aborted], [100, false]);
  other.take(1);
  const given = [short, long, other].map(({ signal }) => signal.aborted);
  assert.deepEqual([room.taken, given], [51, [false, true, false]]);
});

test('AnswerRoom gives up the answer itself that is too long alone', () => {
  const room = new AnswerRoom(100);
  const place = room.enter();
  place.take(101);
  assert.deepEqual([room.taken, place.signal.aborted], [0, true]);
  // What came before the connection ended counts for nothing.
  place.take(50);
  place.leave();
  assert.equal(room.taken, 0);
});

test('AnswerRoom gives up as many as it takes', () => {
  const room = new AnswerRoom(100);
  const places = [room.enter(), room.enter(), room.enter()] as const;
  for (const [index, place] of places.entries()) place.take(30 + index);
  places[0].take(70);
  assert.deepEqual(
    places.map(({ signal }) => signal.aborted),
    [true, false, false],
  );
  places[1].take(100);
  assert.equal(room.taken, 32);
});

test('AnswerRoom has the room again that an answer leaves, once', () => {
  const room = new AnswerRoom(100);
  const [first, second] = [room.enter(), room.enter()] as const;
  first.take(80);
  first.leave();
  first.leave();
  second.take(90);
  assert.deepEqual([room.taken, second.signal.aborted], [90, false]);
});
