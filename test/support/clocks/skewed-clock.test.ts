import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instant, minutes, monotonic, seconds } from '#base/units.ts';
import { ManualClock } from './manual-clock.ts';
import { SkewedClock } from './skewed-clock.ts';

test('step() moves the wall clock, and neither the monotonic time nor a timer', () => {
  const inner = new ManualClock(instant(1_700_000_000_000));
  const clock = new SkewedClock(inner);
  const fired: number[] = [];
  clock.timer(seconds(10), () => fired.push(inner.monotonic()));
  clock.step(minutes(-60));
  assert.equal(clock.now(), 1_699_996_400_000);
  assert.equal(clock.monotonic(), monotonic(0));
  inner.advance(seconds(10));
  assert.deepEqual(fired, [10_000]);
  assert.equal(clock.now(), 1_699_996_410_000);
});
