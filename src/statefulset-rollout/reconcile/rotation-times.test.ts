import assert from 'node:assert/strict';
import { test } from 'node:test';
import { monotonic } from '#base/units.ts';
import { RolloutPlay } from '#support/rollouts/rollout-play.ts';
import { type Place, placesAfter } from '../plan/plan-places.ts';
import { RotationTimes } from './rotation-times.ts';

function placesIn(play: RolloutPlay): readonly Place[] {
  return placesAfter(play.snapshot(), play.progress, play.now);
}

test('RotationTimes tells once how long it took until the successor of a pod is healthy', () => {
  const play = RolloutPlay.settled();
  const times = new RotationTimes();
  const [place] = placesIn(play);
  const pod = { name: 'web-9', uid: place?.pod?.uid ?? '' };
  times.begin('u', pod, monotonic(1_000));
  assert.deepEqual(times.ended('u', placesIn(play), monotonic(2_000)), []);
  play.put(9, { uid: 'next', state: 'not-ready' });
  assert.deepEqual(times.ended('u', placesIn(play), monotonic(3_000)), []);
  play.put(9, { state: 'ready' });
  assert.deepEqual(times.ended('u', placesIn(play), monotonic(13_000)), [12_000]);
  assert.deepEqual(times.ended('u', placesIn(play), monotonic(14_000)), []);
});

test('RotationTimes tells nothing of pods that nothing awaits any more', () => {
  const play = RolloutPlay.settled();
  const times = new RotationTimes();
  times.begin('u', { name: 'web-9', uid: 'before' }, monotonic(0));
  times.forget('u');
  assert.deepEqual(times.ended('u', placesIn(play), monotonic(1)), []);
  times.begin('u', { name: 'web-99', uid: 'before' }, monotonic(0));
  assert.deepEqual(times.ended('u', placesIn(play), monotonic(1)), []);
  times.begin('u', { name: 'web-8', uid: 'before' }, monotonic(0));
  play.progress = { ...play.progress, rotated: new Set() };
  play.put(8, { state: 'not-ready' });
  assert.deepEqual(times.ended('u', placesIn(play), monotonic(1)), []);
  play.progress = { ...play.progress, rotated: new Set(['web-8']) };
  play.put(8, { state: 'ready' });
  assert.deepEqual(times.ended('u', placesIn(play), monotonic(2)), []);
});
