/** Steps that an alarm or a query lets go, or not. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { SecuredQuery } from '#check/credentials/secured-query.ts';
import { UpdatePlay } from '#support/rollouts/update-play.ts';
import { parseUpdateStatus } from '../status.ts';

function alarmed(): UpdatePlay {
  const play = new UpdatePlay();
  play.spec = { ...play.spec, alarm: 'Pause' };
  return play;
}

describe('planGates() by an alarm', () => {
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

  test('[zau 27] lets nothing go, and says nothing of a pause, where that is unknown', () => {
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
    play.update = 'rev-3';
    assert.deepEqual(play.look(), ['ask']);
    play.ring('passes').look();
    assert.deepEqual(play.look(), ['ask']);
  });

  test('[zau 21] another revision that comes while it rings begins with one pod', () => {
    const play = alarmed();
    play.status = parseUpdateStatus({ status: { updateStep: 3, updateRevision: 'rev-1' } });
    play.look();
    play.ring('fails').look();
    assert.equal(play.status.updateRevision, 'rev-2');
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

const errors: SecuredQuery = {
  name: 'query',
  candidate: { url: 'http://prometheus:9090', expr: 'errors' },
  rule: { bounds: { max: 5 } },
  secretRef: undefined,
};

function queried(alarm?: string): UpdatePlay {
  const play = new UpdatePlay();
  play.spec = { ...play.spec, alarm, query: errors };
  return play;
}

describe('planGates() by a query', () => {
  test('asks before each step, and lets it go where the query passes', () => {
    const play = queried();
    assert.deepEqual(play.look(), ['ask Prometheus']);
    assert.deepEqual(play.look(), ['hold AwaitingQuery']);
    assert.deepEqual(play.ring('passes', 'query').look(), ['delete web-6']);
    assert.deepEqual(play.look(), ['ask Prometheus']);
  });

  test('pauses while it fails, and asks again after 10 s', () => {
    const play = queried();
    play.look();
    assert.deepEqual(play.ring('fails', 'query').look(), ['hold QueryFails']);
    assert.equal(play.status.isPaused, true);
    assert.deepEqual(play.plan().requeue, { kind: 'at', at: play.now + 10_000 });
    play.time += 10_000;
    assert.deepEqual(play.look(), ['ask Prometheus']);
    assert.deepEqual(play.ring('passes', 'query').look(), ['delete web-6']);
    assert.equal(play.status.isPaused, false);
  });

  test('holds where that is unknown, and says nothing of a pause', () => {
    const play = queried();
    play.look();
    assert.deepEqual(play.ring('unknown', 'query').look(), ['hold QueryUnknown']);
    assert.equal(play.status.isPaused, false);
  });
});

describe('planGates() by an alarm and a query', () => {
  test('asks both at once, and both must let the step go', () => {
    for (const [first, second] of [
      ['alarm', 'query'],
      ['query', 'alarm'],
    ] as const) {
      const play = queried('Pause');
      assert.deepEqual(play.look(), ['ask', 'ask Prometheus']);
      const waited = first === 'alarm' ? 'hold AwaitingQuery' : 'hold AwaitingAlarm';
      assert.deepEqual(play.ring('passes', first).look(), [waited]);
      assert.deepEqual(play.ring('passes', second).look(), ['delete web-6']);
    }
  });

  for (const [alarm, query, held] of [
    ['fails', 'passes', 'AlarmRings'],
    ['passes', 'fails', 'QueryFails'],
    ['unknown', 'passes', 'AlarmUnknown'],
    ['passes', 'unknown', 'QueryUnknown'],
    ['unknown', 'fails', 'QueryFails'],
    ['fails', 'unknown', 'AlarmRings'],
    ['fails', 'fails', 'AlarmRings'],
  ] as const) {
    test(`holds by ${held} where the alarm ${alarm} and the query ${query}`, () => {
      const play = queried('Pause');
      play.look();
      play.ring(alarm, 'alarm').ring(query, 'query');
      assert.deepEqual(play.look(), [`hold ${held}`]);
      assert.equal(play.status.isPaused, alarm === 'fails' || query === 'fails');
    });
  }

  test('tells of the one that rings while the other is being asked, and looks again when the first is due', () => {
    const play = queried('Pause');
    play.look();
    play.ring('passes', 'query');
    play.time += 4_000;
    assert.deepEqual(play.ring('fails', 'alarm').look(), ['hold AlarmRings']);
    play.time += 6_000;
    assert.deepEqual(play.look(), ['ask Prometheus', 'hold AlarmRings']);
    assert.deepEqual(play.plan().requeue, { kind: 'at', at: play.now + 4_000 });
  });

  test('looks again when the answer that is the first to grow old does, whichever is reported', () => {
    const play = queried('Pause');
    play.look();
    play.ring('unknown', 'query');
    play.time += 4_000;
    assert.deepEqual(play.ring('fails', 'alarm').look(), ['hold AlarmRings']);
    assert.deepEqual(play.plan().requeue, { kind: 'at', at: play.now + 6_000 });
  });
});
