import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { instant, type Monotonic, minutes, monotonic, seconds } from '#base/units.ts';
import type { Mode } from '#disruption/budget.ts';
import type { Reservation } from '#disruption/reservation.ts';
import { standingOf } from '#disruption/standing.ts';
import { budget, partitions, zones } from '#support/budgets/budgeted-zones.ts';
import { T0 } from '#support/objects/views.ts';
import { EvictionTurns } from './eviction-turns.ts';

function at(time: number): Monotonic {
  return monotonic(1_000_000 + time);
}

/** A pod such as `a-0`, given to an eviction. */
function evicted(slot: string): Reservation {
  const pod = `ingester-zone-${slot}`;
  const set = pod.slice(0, pod.lastIndexOf('-'));
  return {
    uid: `${pod}-uid`,
    slot: { pod, set, zone: set },
    claims: [{ by: 'eviction', at: instant(0) }],
  };
}

/** Turns under one budget. */
class Bed {
  readonly turns = new EvictionTurns();
  readonly #mode: Mode | undefined;
  snapshot = zones();

  constructor(mode?: Mode) {
    this.#mode = mode;
  }

  /** Has these pods given to evictions at `time`, and no others. */
  look(time: number, ...slots: readonly string[]): void {
    const judged = budget(this.#mode === undefined ? {} : { mode: this.#mode });
    const standing = standingOf(judged, this.snapshot, T0);
    this.turns.look(slots.map(evicted), standing, at(time));
  }

  /** Since when, and for how long, the evictions of a span may be allowed. */
  turn(key: string): readonly [since: number, allowed: number] | undefined {
    const turn = this.turns.turns().get(key);
    return turn && [turn.since - at(0), turn.allowed];
  }
}

const zoneA = 'zone ingester-zone-a';
const another = { a: { pods: { 0: { uid: 'another-uid' } } } } as const;

describe('[found X-1] EvictionTurns', () => {
  test('counts for a zone and for the budget from the first pod that is given away', () => {
    const bed = new Bed();
    bed.look(0, 'a-0');
    bed.look(minutes(3), 'a-0', 'a-1');
    bed.look(minutes(4), 'a-1', 'b-0');
    assert.deepEqual(bed.turn(zoneA), [0, minutes(5)]);
    assert.deepEqual(bed.turn('zone ingester-zone-b'), [minutes(4), minutes(5)]);
    assert.deepEqual(bed.turn('budget'), [0, minutes(10)]);
  });

  test('counts for a partition alone where partitions stand for one another', () => {
    const bed = new Bed(partitions());
    bed.look(0, 'a-0');
    bed.look(minutes(1), 'b-0', 'b-1');
    assert.deepEqual(bed.turn('partition 0'), [0, minutes(5)]);
    assert.deepEqual(bed.turn('partition 1'), [minutes(1), minutes(5)]);
    assert.equal(bed.turn('budget'), undefined);
  });

  test('goes on where a permission lapses and the next is given within a minute', () => {
    const bed = new Bed();
    bed.look(0, 'a-0');
    bed.look(minutes(2));
    bed.look(minutes(2) + seconds(59), 'a-1');
    assert.deepEqual(bed.turn(zoneA), [0, minutes(5)]);
  });

  test('begins anew for a pod that has gone, also while its place is still given away', () => {
    const bed = new Bed();
    bed.look(0, 'a-0', 'a-1');
    bed.snapshot = zones({ a: { pods: { 0: { isTerminating: true } } } });
    bed.look(minutes(4), 'a-0', 'a-1');
    bed.look(minutes(5), 'a-0', 'a-1');
    assert.deepEqual(bed.turn(zoneA), [minutes(4), minutes(5)]);
  });

  test('begins anew for a pod whose successor is there when its permission has been taken out', () => {
    const bed = new Bed();
    bed.look(0, 'a-0');
    bed.snapshot = zones(another);
    bed.look(minutes(1));
    assert.equal(bed.turn(zoneA), undefined);
    bed.look(minutes(9), 'a-1');
    assert.deepEqual(bed.turn(zoneA), [minutes(9), minutes(5)]);
  });

  test('does not count a pod that has gone and is not back yet', () => {
    const bed = new Bed();
    bed.look(0, 'a-0');
    bed.snapshot = zones({ a: { pods: { 0: 'missing' } } });
    bed.look(minutes(1), 'a-0');
    assert.equal(bed.turn(zoneA), undefined);
  });

  test('takes no pod for gone that was never seen, or while pods cannot be read', () => {
    const bed = new Bed();
    bed.snapshot = zones(another);
    bed.look(0, 'a-0', 'a-1');
    bed.snapshot = zones({ a: { arePodsUnreadable: true } });
    bed.look(minutes(1), 'a-0', 'a-1');
    bed.snapshot = zones();
    bed.look(minutes(2), 'a-0', 'a-1');
    assert.deepEqual(bed.turn(zoneA), [0, minutes(5)]);
  });

  test('allows a zone a minute, and a budget two, after permissions that came to nothing, for an hour or until a pod goes', () => {
    const bed = new Bed();
    bed.look(0, 'a-0');
    bed.look(minutes(2));
    bed.look(minutes(3));
    bed.look(minutes(4), 'a-0');
    assert.deepEqual(bed.turn(zoneA), [minutes(4), minutes(1)]);
    assert.deepEqual(bed.turn('budget'), [minutes(4), minutes(2)]);
    bed.snapshot = zones(another);
    bed.look(minutes(5), 'a-0');
    bed.look(minutes(6), 'a-1');
    assert.deepEqual(bed.turn(zoneA), [minutes(6), minutes(5)]);
    bed.look(minutes(7));
    bed.look(minutes(67));
    bed.look(minutes(68), 'a-1');
    assert.deepEqual(bed.turn(zoneA), [minutes(68), minutes(5)]);
  });
});
