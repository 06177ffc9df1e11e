import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis } from '#base/units.ts';
import type { PodState } from '../cluster/pod-state.ts';
import type { Fact } from '../observer/facts.ts';
import type { ZoneView } from '../observer/zone-view.ts';
import { type ScreenState, screenLines } from './screen.ts';
import { paint, widthOf } from './styled-line.ts';

const letters: Readonly<Record<string, { state: PodState; isUpdated: boolean }>> = {
  n: { state: 'ready', isUpdated: true },
  o: { state: 'ready', isUpdated: false },
  s: { state: 'starting', isUpdated: true },
  b: { state: 'broken', isUpdated: true },
  t: { state: 'terminating', isUpdated: false },
  g: { state: 'gone', isUpdated: false },
};

function zone(name: string, pods: string, current = 'r1'): ZoneView {
  const cells = pods.split('').flatMap((letter, index) => {
    const look = letters[letter];
    return look === undefined ? [] : [{ pod: `${name}-${index}`, trouble: '', ...look }];
  });
  return {
    set: name,
    zone: name,
    cells,
    current: `${name}-${current}`,
    target: `${name}-r2`,
    isObserved: true,
    limit: 2,
    unavailable: cells.filter(({ state }) => state !== 'ready').length,
    outdated: cells.filter(({ isUpdated }) => !isUpdated).length,
  };
}

function facts(count: number): readonly Fact[] {
  return Array.from({ length: count }, (_, index) => ({
    at: millis(index * 1_000),
    zone: 'a',
    kind: 'unready',
    pod: `a-${index}`,
  }));
}

function state(given: Partial<ScreenState> = {}): ScreenState {
  return {
    phase: 'rolling out db:2',
    clock: { elapsed: millis(2_500), limit: millis(9_000) },
    zones: [zone('a', 'nsbtgo'), zone('b', 'oooooo')],
    because: { reason: 'ZoneNotReady', message: 'a has unavailable pods' },
    summary: [],
    facts: facts(1),
    hints: ['q: quit'],
    ...given,
  };
}

function shown(given: ScreenState, size = { columns: 80, rows: 24 }): readonly string[] {
  return screenLines(given, size).map((line) => paint(line, false).trimEnd());
}

test('screenLines() shows zones, legend, reason, next step, facts and hints', () => {
  assert.deepEqual(shown(state()), [
    'rollout-operator  rolling out db:2',
    '  3 of 12 pods updated, 2.50 s (physical limit 9.00 s)',
    '',
    '  a    2/6  ● ◐ ✗ ◌ · ○  r1 → r2',
    '  b    6/6  ○ ○ ○ ○ ○ ○  r1 → r2',
    '',
    '  ● ready, new  ○ ready, old  ◌ terminating  · gone  ◐ starting  ✗ broken',
    '',
    '  now    a has unavailable pods (ZoneNotReady)',
    '',
    '  next   a-5, then b',
    '',
    '  0.00 s  a  a-0  no longer ready',
    '',
    '  q: quit',
  ]);
});

test('screenLines() shows one revision when the zone is done, and the summary instead of a reason', () => {
  const ended = state({
    zones: [zone('a', 'nn', 'r2')],
    summary: ['all is well'],
    clock: undefined,
  });
  const lines = shown(ended);
  assert.equal(lines[3], '  a    2/2  ● ●  r2');
  assert.equal(lines[7], '  all is well');
});

test('screenLines() shows the last six facts', () => {
  const lines = shown(state({ facts: facts(9) })).filter((line) => line.includes('no longer'));
  assert.equal(lines.length, 6);
  assert.equal(lines[0], '  3.00 s  a  a-3  no longer ready');
});

test('screenLines() drops the spaces between pods, then cuts, where the terminal is narrow', () => {
  const narrow = state({ zones: [zone('a', 'nnnnnnnnnn', 'r2')] });
  assert.equal(shown(narrow, { columns: 28, rows: 24 })[3], '  a  10/10  ●●●●●●●●●●  r2');
  assert.equal(shown(narrow, { columns: 16, rows: 24 })[3], '  a  10/10  ●●●…');
});

test('screenLines() never exceeds the terminal', () => {
  const full = state({ facts: facts(9), summary: [], hints: ['q: quit', 'b: a broken image'] });
  for (let columns = 1; columns <= 90; columns += 7) {
    for (let rows = 1; rows <= 30; rows += 1) {
      const lines = screenLines(full, { columns, rows });
      assert.ok(lines.length <= rows);
      assert.ok(lines.every((line) => widthOf(line) <= columns));
    }
  }
});

test('screenLines() gives up hints first, then facts, then the legend', () => {
  const has = (rows: number, text: string): boolean =>
    shown(state(), { columns: 80, rows }).some((line) => line.includes(text));
  assert.deepEqual([has(15, 'q: quit'), has(14, 'q: quit')], [true, false]);
  assert.deepEqual([has(13, 'no longer'), has(12, 'no longer')], [true, false]);
  assert.deepEqual([has(11, 'terminating'), has(10, 'terminating')], [true, false]);
  assert.deepEqual([has(9, 'next')], [true]);
});

test('screenLines() shows the lines of the scenario until it has ended, and gives them up last', () => {
  const panel = [
    'drainer-1 waits with a-0: a-1 is not ready, and a reader of this line reads it in two',
  ];
  const lines = shown(state({ panel }));
  const at = lines.findIndex((line) => line.startsWith('  drainer-1 waits with a-0: '));
  assert.equal(lines[at + 1], '      reads it in two');
  const has = (given: Partial<ScreenState>, rows: number): boolean =>
    shown(state({ panel, ...given }), { columns: 80, rows }).some((line) => /drainer-1/.test(line));
  assert.deepEqual([has({}, 12), has({}, 11)], [true, false]);
  assert.equal(has({ summary: ['all is well'] }, 24), false);
});

test('screenLines() keeps its height while the reason comes and goes', () => {
  const without = shown(state({ because: undefined }));
  assert.equal(without.length, shown(state()).length);
  assert.equal(without[8], '  now    nothing to do');
});
