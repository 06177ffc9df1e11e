import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { instant, monotonic } from '#base/units.ts';
import type { Authority } from './api.ts';
import {
  type BundleView,
  graceOfUnnamed,
  isTolerated,
  planBundle,
  publishedSince,
  unnamedSince,
} from './plan-bundle.ts';

const T0 = instant(1_767_225_600_000);

function ca(id: string, notAfter = T0 + 1_000): Authority {
  return { id, pem: `${id}\n`, notAfter: instant(notAfter) };
}

/** A bundle with CAs that are tolerated, then with others. */
function bundle(tolerated: readonly Authority[], others: readonly string[] = []): BundleView {
  const ids = [...tolerated.map(({ id }) => id), ...others];
  return { tolerated, contested: [], ids, hasForeignText: false };
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
  'D-28 adds a CA in addition to those that are there': {
    given: bundle([a]),
    wanted: [b],
    want: ['b', 'a'],
  },
  'leaves a CA that another replica may serve by alone': {
    given: bundle([a, b]),
    wanted: [a],
    want: undefined,
  },
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
  'takes out a CA of our form that is not tolerated any more': {
    given: bundle([a], ['of our form']),
    wanted: [a],
    want: ['a'],
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
  '[found R-7] puts its own next to what another client puts back each time': {
    given: { ...bundle([], ['other']), contested: [ca('other')] },
    wanted: [a],
    want: ['a', 'other'],
  },
  '[found R-7] leaves what another client puts back each time, its comments too': {
    given: { ...bundle([a], ['other']), contested: [ca('other')], hasForeignText: true },
    wanted: [a],
    want: undefined,
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

describe('unnamedSince()', () => {
  const T1 = monotonic(60_000);

  test('dates what the Secret does not name from the first look at it', () => {
    const earlier = new Map([['b', monotonic(5)]]);
    const since = unnamedSince(
      [
        ['a', 'b'],
        ['b', 'c'],
      ],
      new Set(['a']),
      { earlier, now: T1 },
    );
    assert.deepEqual(
      [...since],
      [
        ['b', 5],
        ['c', 60_000],
      ],
    );
  });

  test('forgets what was named meanwhile, or has gone', () => {
    const earlier = new Map([
      ['a', monotonic(5)],
      ['gone', monotonic(5)],
    ]);
    assert.deepEqual([...unnamedSince([['a']], new Set(['a']), { earlier, now: T1 })], []);
    const again = unnamedSince([['gone']], new Set(), { earlier: new Map(), now: T1 });
    assert.deepEqual([...again], [['gone', T1]]);
  });
});

describe('isTolerated()', () => {
  const since = monotonic(1_000);

  test('gives other replicas three minutes to have a CA named by the Secret', () => {
    assert.equal(isTolerated(since, monotonic(since + graceOfUnnamed - 1)), true);
    assert.equal(isTolerated(since, monotonic(since + graceOfUnnamed)), false);
    assert.equal(graceOfUnnamed, 180_000);
  });

  test('counts no time in which the Secret was not read', () => {
    assert.equal(isTolerated(since, undefined), true);
    assert.equal(isTolerated(since, monotonic(0)), true);
  });

  test('holds for what the Secret names', () => {
    assert.equal(isTolerated(undefined, monotonic(1_000_000)), true);
  });
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
