import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { startDeadline } from '../review/deadline.ts';
import { Turns } from './turns.ts';

test('Turns lets one at a time through, in the order of asking', async () => {
  const clock = new FakeClock();
  const deadline = startDeadline(clock, clock.monotonic(), seconds(5));
  const turns = new Turns();
  const story: string[] = [];
  const work = async (name: string): Promise<void> => {
    const leave = await turns.take(deadline);
    story.push(`${name} begins`);
    await clock.yield();
    story.push(`${name} ends`);
    leave();
  };
  await Promise.all([work('a'), work('b')]);
  assert.deepEqual(story, ['a begins', 'a ends', 'b begins', 'b ends']);
  deadline.release();
});

test('Turns gives up a turn whose deadline is over before it comes, and not that of others', async () => {
  const clock = new FakeClock();
  const turns = new Turns();
  const patient = startDeadline(clock, clock.monotonic(), seconds(60));
  const leave = await turns.take(patient);
  const hasty = turns.take(startDeadline(clock, clock.monotonic(), seconds(1)));
  const refused = assert.rejects(hasty, /the review's deadline of 1000 ms has passed/);
  const next = turns.take(patient);
  await clock.advance(seconds(1));
  await refused;
  leave();
  (await next)();
  patient.release();
});
