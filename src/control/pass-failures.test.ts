import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instant, minutes, seconds } from '#base/units.ts';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import { RecordingLogger } from '#support/telemetry/recording.ts';
import { PassFailures } from './pass-failures.ts';

const KEY = 'test/ingester';

class Bench {
  readonly clock = new ManualClock(instant(0));
  readonly log = new RecordingLogger();
  readonly failures = new PassFailures({ log: this.log, clock: this.clock });

  /** Ends `count` passes, with an error of the text `failure` or well. */
  end(failure: string | undefined, count = 1): void {
    for (let pass = 0; pass < count; pass += 1) this.failures.ended(KEY, failure);
  }

  lines(): readonly unknown[] {
    return this.log.lines.map(({ level, message, fields }) => [level, message, fields]);
  }
}

function line(err: string, fields: object = {}): readonly unknown[] {
  return ['warn', 'reconcile ended with an error', { group: 'ingester', err, ...fields }];
}

test('PassFailures logs an error once while it stays the same, and again after 10 minutes with how many were counted [found X-9]', () => {
  const bench = new Bench();
  bench.end('refused', 500);
  bench.clock.advance(seconds(599));
  bench.end('refused');
  assert.deepEqual(bench.lines(), [line('refused')]);
  bench.clock.advance(seconds(1));
  bench.end('refused');
  assert.deepEqual(bench.lines(), [line('refused'), line('refused', { not_logged_before: 500 })]);
});

test('PassFailures logs an error in other words, once a minute at most [found X-9]', () => {
  const bench = new Bench();
  bench.end('refused');
  bench.end('gone');
  assert.deepEqual(bench.lines(), [line('refused')]);
  bench.clock.advance(minutes(1));
  bench.end('gone');
  assert.deepEqual(bench.lines(), [line('refused'), line('gone', { not_logged_before: 1 })]);
});

test('PassFailures logs an error that comes back after a pass that ended well, once a minute at most [found X-9]', () => {
  const bench = new Bench();
  for (let turn = 0; turn < 3; turn += 1) {
    bench.end('refused');
    bench.end(undefined);
  }
  assert.deepEqual(bench.lines(), [line('refused')]);
  bench.clock.advance(minutes(1));
  bench.end('refused');
  assert.deepEqual(bench.lines(), [line('refused'), line('refused', { not_logged_before: 2 })]);
});

test('PassFailures logs an error of a group that is new under an earlier name [found X-9]', () => {
  const bench = new Bench();
  bench.end('refused');
  bench.failures.forget(KEY);
  bench.end('refused');
  assert.deepEqual(bench.lines(), [line('refused'), line('refused')]);
});
