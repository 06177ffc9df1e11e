import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes } from '#base/units.ts';
import { FakeClock } from '#testing/fake-clock.ts';
import { KeptLog } from '#testing/kept-log.ts';
import { RejectionLog } from './rejection-log.ts';

test('RejectionLog.note() writes one line a minute, with how many others there were', async () => {
  const clock = new FakeClock();
  const log = new KeptLog();
  const rejections = new RejectionLog(log, clock);
  const note = (route: string): void => rejections.note({ route, message: 'wrong' });
  for (let noted = 0; noted < 1_000; noted += 1) note('prepare');
  await clock.advance(minutes(1) - 1);
  note('prepare');
  await clock.advance(1);
  note('other');
  await clock.advance(minutes(1));
  note('last');
  assert.deepEqual(log.lines, [
    'warn cluster check refused a request route=prepare message=wrong',
    'warn cluster check refused a request route=other message=wrong not_logged_before=1000',
    'warn cluster check refused a request route=last message=wrong',
  ]);
});
