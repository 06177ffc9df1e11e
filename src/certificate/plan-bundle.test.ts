import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { instant } from '#base/units.ts';
import type { Authority } from './api.ts';
import { type BundleView, planBundle, publishedSince } from './plan-bundle.ts';

const T0 = instant(1_767_225_600_000);

function ca(id: string, notAfter = T0 + 1_000): Authority {
  return { id, pem: `${id}\n`, notAfter: instant(notAfter) };
}

/** A bundle with CAs of ours, then with strangers'. */
function bundle(ours: readonly Authority[], strangers: readonly string[] = []): BundleView {
  return { ours, ids: [...ours.map(({ id }) => id), ...strangers], hasForeignText: false };
}

const [a, b, expired] = [ca('a'), ca('b'), ca('expired', T0)];

interface Case {
  readonly given: BundleView;
  readonly wanted: readonly Authority[];
  /** Ids of what is written; undefined: nothing is. */
  readonly want: readonly string[] | undefined;
}

const cases: Readonly<Record<string, Case>> = {
  '[admission 93] fills an empty bundle': { given: bundle([]), wanted: [a], want: ['a'] },
  '[admission 97] writes nothing to a bundle that is right': {
    given: bundle([a]),
    wanted: [a],
    want: undefined,
  },
  'writes nothing for another order': { given: bundle([b, a]), wanted: [a, b], want: undefined },
  'D-28 adds a CA beside those that are there': {
    given: bundle([a]),
    wanted: [b],
    want: ['b', 'a'],
  },
  'leaves a CA of another replica alone': { given: bundle([a, b]), wanted: [a], want: undefined },
  'writes nothing only for an expired CA, as clocks may differ': {
    given: bundle([a, expired]),
    wanted: [a],
    want: undefined,
  },
  'drops an expired CA when it writes anyway': {
    given: bundle([expired, a]),
    wanted: [b],
    want: ['b', 'a'],
  },
  '[admission 95] takes out what a stranger added': {
    given: bundle([a], ['stranger']),
    wanted: [a],
    want: ['a'],
  },
  '[admission 95] takes out text that is no certificate': {
    given: { ...bundle([a]), hasForeignText: true },
    wanted: [a],
    want: ['a'],
  },
  'keeps at most eight CAs, its own first': {
    given: bundle('0123456789'.split('').map((id) => ca(id))),
    wanted: [a],
    want: ['a', '0', '1', '2', '3', '4', '5', '6'],
  },
};

describe('planBundle()', () => {
  for (const [fact, { given, wanted, want }] of Object.entries(cases)) {
    test(fact, () => {
      assert.deepEqual(
        planBundle(given, wanted, T0)?.map(({ id }) => id),
        want,
      );
    });
  }
});

describe('publishedSince()', () => {
  const earlier = new Map([['a', instant(5)]]);

  test('keeps since when a CA has been everywhere', () => {
    const since = publishedSince([['a'], ['b', 'a']], [a], { earlier, now: T0 });
    assert.deepEqual([...since], [['a', 5]]);
  });

  test('dates a CA that is everywhere for the first time from now', () => {
    const since = publishedSince([['a', 'b']], [a, b], { earlier, now: T0 });
    assert.deepEqual(
      [...since],
      [
        ['a', 5],
        ['b', T0],
      ],
    );
  });

  test('forgets a CA that one bundle lacks', () => {
    assert.deepEqual([...publishedSince([['a'], []], [a], { earlier, now: T0 })], []);
  });

  test('counts no bundle at all as published', () => {
    assert.deepEqual([...publishedSince([], [b], { earlier, now: T0 })], [['b', T0]]);
  });
});
