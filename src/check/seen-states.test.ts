import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instant, seconds } from '#base/units.ts';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import { beginState } from './check-state.ts';
import { SeenStates } from './seen-states.ts';

const state = beginState('web/B/3', instant(1_000));

test('SeenStates tells since when it knows each time of a state', () => {
  const clock = new ManualClock();
  const seen = new SeenStates(clock);
  assert.deepEqual(seen.see('ns/web', state), { began: 0, lastAnswer: 0, lastError: 0 });
  clock.advance(seconds(3));
  const answered = { ...state, passes: 1, lastAnswer: instant(2_000) };
  const known = { began: 0, lastAnswer: 3_000, lastError: 0 };
  assert.deepEqual(seen.see('ns/web', answered), known);
  clock.advance(seconds(2));
  assert.deepEqual(seen.see('ns/web', answered), known);
  assert.deepEqual(seen.see('ns/web', { ...answered, lastError: instant(4_000) }), {
    ...known,
    lastError: 5_000,
  });
});

test('SeenStates knows nothing of a state of another revision, of another owner, or that it forgot', () => {
  const clock = new ManualClock();
  const seen = new SeenStates(clock);
  seen.see('ns/web', state);
  clock.advance(seconds(3));
  assert.equal(seen.see('ns/db', state).began, 3_000);
  assert.equal(seen.see('ns/web', { ...state, subject: 'web/C/3' }).began, 3_000);
  clock.advance(seconds(3));
  seen.forget('ns/web');
  assert.equal(seen.see('ns/web', { ...state, subject: 'web/C/3' }).began, 6_000);
});
