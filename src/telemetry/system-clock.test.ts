import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import type { Clock } from '#base/clock.ts';
import { millis } from '#base/units.ts';
import type { ClockHost } from './system-clock.ts';
import { longestTimeout, systemClock } from './system-clock.ts';

interface Pending {
  readonly delay: number;
  readonly fire: () => void;
  isBackground: boolean;
  isCancelled: boolean;
}

/** A machine whose timeouts fire when the test says so. */
function setup(): { clock: Clock; timeouts: Pending[]; fireLast: () => void } {
  const timeouts: Pending[] = [];
  const host: ClockHost = {
    now: () => 1_767_323_045_120,
    monotonic: () => 12.5,
    setTimeout: (fire, delay) => {
      const pending: Pending = { delay, fire, isBackground: false, isCancelled: false };
      timeouts.push(pending);
      return {
        unref: () => {
          pending.isBackground = true;
        },
        cancel: () => {
          pending.isCancelled = true;
        },
      };
    },
    setImmediate: (fire) => fire(),
  };
  return { clock: systemClock(host), timeouts, fireLast: () => timeouts.at(-1)?.fire() };
}

test('systemClock() reads both clocks of the machine', () => {
  const { clock } = setup();
  assert.deepEqual([clock.now(), clock.monotonic()], [1_767_323_045_120, 12.5]);
});

test('systemClock().timer() fires once after its delay', () => {
  const { clock, timeouts, fireLast } = setup();
  let fired = 0;
  clock.timer(millis(5), () => {
    fired += 1;
  });
  assert.deepEqual([timeouts.map(({ delay }) => delay), fired], [[5], 0]);
  fireLast();
  assert.deepEqual([timeouts.length, fired], [1, 1]);
});

test('systemClock().timer() takes a negative delay for 0', () => {
  const { clock, timeouts } = setup();
  clock.timer(millis(-5), () => {});
  assert.equal(timeouts[0]?.delay, 0);
});

test('systemClock().timer() honours a delay that the timers of the machine cannot take', () => {
  const { clock, timeouts, fireLast } = setup();
  let fired = 0;
  clock.timer(millis(2 * longestTimeout + 7), () => {
    fired += 1;
  });
  fireLast();
  fireLast();
  assert.equal(fired, 0);
  fireLast();
  assert.equal(fired, 1);
  assert.deepEqual(
    timeouts.map(({ delay }) => delay),
    [2_147_483_647, 2_147_483_647, 7],
  );
});

test('systemClock().timer() fires at the end of the longest delay of the machine', () => {
  const { clock, timeouts, fireLast } = setup();
  let fired = 0;
  clock.timer(millis(longestTimeout), () => {
    fired += 1;
  });
  fireLast();
  assert.deepEqual([timeouts.length, fired], [1, 1]);
});

test('systemClock().timer() can be cancelled between the pieces of a long delay', () => {
  const { clock, timeouts, fireLast } = setup();
  const timer = clock.timer(millis(longestTimeout + 1), () => {});
  fireLast();
  timer.cancel();
  timer.cancel();
  assert.deepEqual(
    timeouts.map(({ isCancelled }) => isCancelled),
    [false, true],
  );
});

test('systemClock().timer() keeps the process alive only in the foreground', () => {
  const { clock, timeouts, fireLast } = setup();
  clock.timer(millis(1), () => {});
  clock.timer(millis(longestTimeout + 1), () => {}, { background: true });
  fireLast();
  assert.deepEqual(
    timeouts.map(({ isBackground }) => isBackground),
    [false, true, true],
  );
});

test('systemClock().sleep() resolves when its time is over', async () => {
  const { clock, fireLast } = setup();
  const slept = clock.sleep(millis(5));
  fireLast();
  await slept;
});

test('systemClock().sleep() rejects with the reason of the signal that ends it', async () => {
  const { clock, timeouts } = setup();
  const control = new AbortController();
  const slept = clock.sleep(millis(5), { signal: control.signal });
  const reason = new Error('lease lost');
  control.abort(reason);
  await assert.rejects(slept, reason);
  assert.equal(timeouts[0]?.isCancelled, true);
});

test('systemClock().sleep() rejects at once when the signal has aborted before', async () => {
  const { clock, timeouts } = setup();
  const reason = new Error('lease lost');
  await assert.rejects(clock.sleep(millis(5), { signal: AbortSignal.abort(reason) }), reason);
  assert.equal(timeouts.length, 0);
});

test('systemClock().sleep() keeps no listener on a signal once it is over', async () => {
  const { clock, fireLast } = setup();
  const { signal } = new AbortController();
  const slept = clock.sleep(millis(5), { signal });
  assert.equal(getEventListeners(signal, 'abort').length, 1);
  fireLast();
  await slept;
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});

test('systemClock().sleep() is a background timer where that is asked for', () => {
  const { clock, timeouts } = setup();
  void clock.sleep(millis(5), { background: true });
  assert.equal(timeouts[0]?.isBackground, true);
});

test('systemClock() fires timers, sleeps and yields on the machine itself', async () => {
  const clock = systemClock();
  const before = clock.monotonic();
  await clock.yield();
  await clock.sleep(millis(0));
  await new Promise<void>((resolve) => {
    clock.timer(millis(1), resolve, { background: false });
  });
  const cancelled = clock.timer(millis(0), () => assert.fail('fired although cancelled'));
  cancelled.cancel();
  await clock.yield();
  assert.ok(clock.monotonic() >= before);
  assert.ok(clock.now() > 1_700_000_000_000);
});
