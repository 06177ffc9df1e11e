import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { instant, type Monotonic, minutes, monotonic, seconds } from '#base/units.ts';
import type { Reservation } from '#disruption/reservation.ts';
import { EvictionTurns } from './eviction-turns.ts';

function at(time: number): Monotonic {
  return monotonic(1_000_000 + time);
}

function evicted(uid: string): Reservation {
  return {
    uid,
    slot: { pod: uid, set: 'web', zone: 'c' },
    claims: [{ by: 'eviction', at: instant(0) }],
  };
}

/** The turns after pods had been given to evictions from `begins` on, as seen at `now`. */
function turns(begins: Readonly<Record<string, number>>, now: number): EvictionTurns {
  const seen = new EvictionTurns();
  const times = [...new Set([...Object.values(begins), now])].toSorted((a, b) => a - b);
  for (const time of times) {
    const held = Object.keys(begins).filter((uid) => (begins[uid] ?? 0) <= time);
    seen.saw(held.map(evicted), at(time));
  }
  return seen;
}

describe('EvictionTurns', () => {
  test('keeps since when each pod has been given away', () => {
    const seen = turns({ one: 0, two: minutes(3) }, minutes(4));
    assert.deepEqual(
      [...(seen.sightings().evictedSince ?? [])],
      [
        ['one', at(0)],
        ['two', at(minutes(3))],
      ],
    );
  });

  test('ends the turn of a pod that was given away later together with the first that ends', () => {
    const seen = turns({ one: 0, two: minutes(3) }, minutes(5));
    assert.deepEqual(
      [...(seen.sightings().evictedSince ?? [])],
      [
        ['one', at(0)],
        ['two', at(0)],
      ],
    );
  });

  test('leaves a turn that began less than a minute ago', () => {
    const begun = minutes(5) - minutes(1) + seconds(1);
    const seen = turns({ one: 0, two: begun }, minutes(5));
    assert.equal(seen.sightings().evictedSince?.get('two'), at(begun));
  });

  test('rests each pod for a minute once it is no longer reserved', () => {
    const seen = turns({ one: 0, two: minutes(3) }, minutes(5));
    seen.saw([], at(minutes(6)));
    assert.deepEqual(
      [...(seen.sightings().resting ?? [])],
      [
        ['one', at(minutes(7))],
        ['two', at(minutes(7))],
      ],
    );
  });
});
