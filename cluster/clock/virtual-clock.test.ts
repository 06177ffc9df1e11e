import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis, minutes, seconds } from '#base/units.ts';
import { VirtualClock } from './virtual-clock.ts';

test('VirtualClock starts at 2026-01-01T00:00:00Z', () => {
  assert.equal(new VirtualClock().now(), Date.parse('2026-01-01T00:00:00Z'));
});

test('advance() fires timers in the order of due, then of setting', async () => {
  const clock = new VirtualClock();
  const fired: string[] = [];
  clock.timer(seconds(2), () => fired.push('late'));
  clock.timer(seconds(1), () => fired.push('first'));
  clock.timer(seconds(1), () => fired.push('second'));
  clock.timer(seconds(9), () => fired.push('never'));
  await clock.advance(seconds(5));
  assert.deepEqual(fired, ['first', 'second', 'late']);
  assert.equal(clock.monotonic(), 5_000);
});

test('advance() lets promise chains set new timers that fall due within the span', async () => {
  const clock = new VirtualClock();
  const times: number[] = [];
  const loop = async (): Promise<void> => {
    for (let i = 0; i < 3; i += 1) {
      await clock.sleep(seconds(1));
      times.push(clock.monotonic());
    }
  };
  const done = loop();
  await clock.advance(seconds(3));
  await done;
  assert.deepEqual(times, [1_000, 2_000, 3_000]);
});

test('a cancelled timer does not fire and does not keep the clock from being idle', async () => {
  const clock = new VirtualClock();
  let fired = 0;
  const timer = clock.timer(seconds(1), () => {
    fired += 1;
  });
  timer.cancel();
  timer.cancel();
  await clock.runUntilIdle();
  await clock.advance(seconds(2));
  assert.equal(fired, 0);
});

test('runUntilIdle() stops when only background timers are pending', async () => {
  const clock = new VirtualClock();
  const renew = (): void => {
    clock.timer(seconds(10), renew, { background: true, owner: 'lease' });
  };
  renew();
  clock.timer(seconds(25), () => undefined);
  await clock.runUntilIdle();
  assert.equal(clock.monotonic(), 25_000);
});

test('runUntilIdle() names the owners of a hot loop', async () => {
  const clock = new VirtualClock();
  const again = (): void => {
    clock.timer(millis(1), again, { owner: 'retry of web-0' });
  };
  again();
  await assert.rejects(
    clock.runUntilIdle({ maxSteps: 50 }),
    /within 50 steps; most fired: retry of web-0 50/,
  );
});

test('runUntil() fails when the predicate does not hold within the virtual time', async () => {
  const clock = new VirtualClock();
  const again = (): void => {
    clock.timer(seconds(30), again);
  };
  again();
  await assert.rejects(
    clock.runUntil(() => false, { maxVirtual: minutes(5) }),
    /within 300000 ms of virtual time/,
  );
});

test('runUntil() waits for counted activity before it looks at the next timer', async () => {
  const clock = new VirtualClock();
  let answeredAt = -1;
  clock.timer(seconds(1), () => {
    clock.activity.begin('request');
    setImmediate(() =>
      setImmediate(() => {
        answeredAt = clock.monotonic();
        clock.activity.end('request');
      }),
    );
  });
  clock.timer(seconds(2), () => undefined);
  await clock.runUntilIdle();
  assert.equal(answeredAt, 1_000);
});

test('advance() fails loudly for activity that never ends', async () => {
  const clock = new VirtualClock();
  clock.activity.begin('request of client-1');
  await assert.rejects(clock.advance(seconds(1)), /leaked await.*1 x request of client-1/);
});

test('sleep() rejects with the reason of the signal', async () => {
  const clock = new VirtualClock();
  const controller = new AbortController();
  const sleeping = clock.sleep(seconds(5), { signal: controller.signal });
  controller.abort(new Error('stopped'));
  await assert.rejects(sleeping, /stopped/);
  assert.equal(clock.pendingForeground, 0);
});
