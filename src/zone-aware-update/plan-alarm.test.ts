/** Steps that an alarm lets go, or not. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { UpdatePlay } from '#testing/update-play.ts';
import { parseUpdateStatus } from './status.ts';

function alarmed(): UpdatePlay {
  const play = new UpdatePlay();
  play.spec = { ...play.spec, alarm: 'Pause' };
  return play;
}

describe('planAlarm()', () => {
  test('[zau 22, 23] asks before each step, and lets it go where the alarm does not ring', () => {
    const play = alarmed();
    assert.deepEqual(play.look(), ['ask']);
    assert.deepEqual(play.look(), ['hold AwaitingAlarm']);
    assert.deepEqual(play.ring('passes').look(), ['delete web-6']);
    assert.deepEqual(play.look(), ['ask']);
    assert.deepEqual(play.ring('passes').look(), ['delete web-3', 'delete web-0']);
  });

  test('[zau 24, 25] pauses while it rings, asks every 10 s, and goes on', () => {
    const play = alarmed();
    play.look();
    assert.deepEqual(play.ring('fails').look(), ['hold AlarmRings']);
    assert.equal(play.stored, '0 / 0 / a3 b3 c3');
    assert.equal(play.status.isPaused, true);
    assert.deepEqual(play.plan().requeue, { kind: 'at', at: play.now + 10_000 });
    play.time += 9_999;
    assert.deepEqual(play.look(), ['hold AlarmRings']);
    play.time += 1;
    assert.deepEqual(play.look(), ['ask']);
    assert.equal(play.status.isPaused, true);
    assert.deepEqual(play.ring('passes').look(), ['delete web-6']);
    assert.equal(play.status.isPaused, false);
  });

  test('[zau 27] lets nothing go, and says nothing of a pause, where nobody knows', () => {
    const play = alarmed();
    play.look();
    assert.deepEqual(play.ring('unknown').look(), ['hold AlarmUnknown']);
    assert.equal(play.stored, '0 / 0 / ');
    assert.equal(play.status.isPaused, false);
    assert.deepEqual(play.plan().requeue, { kind: 'at', at: play.now + 10_000 });
    play.time += 10_000;
    assert.deepEqual(play.look(), ['ask']);
  });

  test('counts no answer of the step before, of another revision, or that is older than 10 s', () => {
    const play = alarmed();
    play.look();
    play.ring('passes');
    play.time += 10_000;
    assert.deepEqual(play.look(), ['ask']);
    play.ring('passes');
    play.update = 'R3';
    assert.deepEqual(play.look(), ['ask']);
    play.ring('passes').look();
    assert.deepEqual(play.look(), ['ask']);
  });

  test('[zau 21] another revision that comes while it rings begins with one pod', () => {
    const play = alarmed();
    play.status = parseUpdateStatus({ status: { updateStep: 3, updateRevision: 'R1' } });
    play.look();
    play.ring('fails').look();
    assert.equal(play.status.updateRevision, 'R2');
    assert.equal(play.status.updateStep, 0);
    play.time += 10_000;
    play.look();
    assert.deepEqual(play.ring('passes').look(), ['delete web-6']);
  });

  test('[zau 26] is not asked where it is to be ignored', () => {
    const play = alarmed();
    play.spec = { ...play.spec, alarm: undefined };
    assert.deepEqual(play.look(), ['delete web-6']);
  });
});
