import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { KeptLog } from '#support/telemetry/kept-log.ts';
import { SparseLog } from './sparse-log.ts';
import { minutes } from './units.ts';

test('SparseLog writes one line a minute, with how many others there were', async () => {
  const clock = new FakeClock();
  const log = new KeptLog();
  const sparse = new SparseLog(log, clock);
  const warn = (route: string): void => sparse.warn('refused', 'a refusal', { route });
  for (let noted = 0; noted < 1_000; noted += 1) warn('prepare');
  await clock.advance(minutes(1) - 1);
  warn('prepare');
  await clock.advance(1);
  warn('other');
  await clock.advance(minutes(1));
  warn('last');
  assert.deepEqual(log.lines, [
    'warn a refusal route=prepare',
    'warn a refusal route=other not_logged_before=1000',
    'warn a refusal route=last',
  ]);
});

test('SparseLog tells of each cause on its own', () => {
  const log = new KeptLog();
  const sparse = new SparseLog(log, new FakeClock());
  for (const status of ['403', '500', '403']) sparse.error(status, 'a failure', { status });
  assert.deepEqual(log.lines, ['error a failure status=403', 'error a failure status=500']);
});
