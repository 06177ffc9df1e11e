import assert from 'node:assert/strict';
import { test } from 'node:test';
import { monotonic, seconds } from '#base/units.ts';
import {
  afterReport,
  type Movement,
  movementSince,
  type ReferenceReading,
} from './reference-reading.ts';
import type { Shown } from './reference-watch.ts';
import { StatusReads } from './status-reads.ts';

const asked = { at: monotonic(0), shown: '9' };
const known = { kind: 'known', wanted: 3, reported: 1, revision: '10', ...asked } as const;
const unreadable = { kind: 'unreadable', message: '403', isAbsent: false, ...asked } as const;

function shown(revision: string, askedSince: string, generation: number | undefined = 2): Shown {
  return { revision, askedSince, generation };
}

const movements: Record<string, readonly [ReferenceReading, Shown | undefined, Movement]> = {
  'nothing while the watch shows what was read': [known, shown('10', '5'), 'none'],
  'nothing while the watch is behind what was read': [known, shown('9', '5'), 'none'],
  'only the status where it asks for the same since before': [known, shown('11', '10'), 'status'],
  'the spec where it asks for something else since': [known, shown('11', '11'), 'spec'],
  'the spec where the object is not shown any more': [known, undefined, 'spec'],
  'nothing that is known where the object was not shown before either': [
    { ...known, shown: undefined },
    undefined,
    'unknown',
  ],
  'nothing that is known of what cannot be read': [unreadable, shown('9', '5'), 'unknown'],
  'the spec of what cannot be read, once the object moves': [unreadable, shown('11', '5'), 'spec'],
};

for (const [fact, [reading, object, movement]] of Object.entries(movements)) {
  test(`movementSince() says that ${movement} has moved: ${fact}`, () => {
    assert.equal(movementSince(reading, object), movement);
  });
}

const reports: Record<
  string,
  readonly [revision: string, generation: number | undefined, Shown | undefined, after: string]
> = {
  'moves to the revision of the report where nothing else was asked for': [
    '12',
    2,
    shown('10', '5'),
    '12',
  ],
  'stays where another generation was stored': ['12', 3, shown('10', '5'), '10'],
  'stays where the generation is newer than what was read': ['12', 2, shown('11', '11'), '10'],
  'stays where the server counts no generation': ['12', undefined, shown('10', '5'), '10'],
  'stays where no watch shows it': ['12', 2, undefined, '10'],
  'never goes back': ['9', 2, shown('10', '5'), '10'],
};

for (const [fact, [revision, generation, object, after]] of Object.entries(reports)) {
  test(`afterReport() ${fact}, and has the count that was reported`, () => {
    const reading = afterReport(known, { reported: 3, revision, generation }, object);
    assert.deepEqual(reading, { ...known, reported: 3, revision: after });
  });
}

test('StatusReads lets five reads go at once, then one every 15 s, each resource by itself', () => {
  const reads = new StatusReads();
  const mayRead = (id: string, now: number): boolean => {
    const may = reads.nextAt(id) <= now;
    if (may) reads.read(id, monotonic(now));
    return may;
  };
  const atOnce = Array.from({ length: 7 }, () => mayRead('a', 1_000));
  assert.deepEqual(atOnce, [true, true, true, true, true, false, false]);
  assert.equal(mayRead('b', 1_000), true);
  assert.equal(mayRead('a', 1_000 + seconds(15) - 1), false);
  assert.equal(mayRead('a', 1_000 + seconds(15)), true);
  assert.equal(mayRead('a', 1_000 + seconds(15)), false);
});
