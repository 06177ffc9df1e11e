import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import { ApiError } from '#kubernetes/transport/api-error.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { startDeadline } from '../review/deadline.ts';
import { untilSwapped } from './compare-and-swap.ts';

function refused(status: number): ApiError {
  const call = { verb: 'replace', kind: 'ConfigMap', namespace: 'test', name: 'a' } as const;
  return new ApiError(call, { status, reason: '', message: 'refused', details: {} });
}

/** Work that is refused `count` times with `status`, and notes when it was tried. */
function contested(
  clock: FakeClock,
  count: number,
  status = 409,
): { readonly tries: number[]; readonly work: () => Promise<string> } {
  const tries: number[] = [];
  return {
    tries,
    work: async () => {
      tries.push(clock.monotonic());
      if (tries.length <= count) throw refused(status);
      return 'written';
    },
  };
}

test('untilSwapped() tries five times at once, then after 10 ms, doubling to 160 ms', async () => {
  const clock = new FakeClock();
  const { tries, work } = contested(clock, 11);
  const written = untilSwapped(work, clock, startDeadline(clock, clock.monotonic(), seconds(5)));
  await clock.advance(seconds(1));
  assert.equal(await written, 'written');
  assert.deepEqual(tries, [0, 0, 0, 0, 0, 10, 30, 70, 150, 310, 470, 630]);
});

test('untilSwapped() throws the last refusal when the deadline is over', async () => {
  const clock = new FakeClock();
  const { work } = contested(clock, Number.POSITIVE_INFINITY);
  const deadline = startDeadline(clock, clock.monotonic(), seconds(1));
  const failed = assert.rejects(untilSwapped(work, clock, deadline), /replace ConfigMap "test\/a"/);
  await clock.advance(seconds(1));
  await failed;
});

test('untilSwapped() tries nothing again that was refused for another reason', async () => {
  const clock = new FakeClock();
  const { tries, work } = contested(clock, 1, 500);
  const deadline = startDeadline(clock, clock.monotonic(), seconds(1));
  await assert.rejects(untilSwapped(work, clock, deadline), /refused \(500\)/);
  assert.deepEqual(tries, [0]);
  deadline.release();
});
