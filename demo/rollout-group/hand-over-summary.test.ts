import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { millis } from '#base/units.ts';
import type { Succession } from './hand-over.ts';
import { handOverVerdicts } from './hand-over-summary.ts';

const stop: Succession = {
  from: 'operator-1',
  to: 'operator-2',
  isClean: true,
  ledAfter: millis(310),
  deletedAfter: millis(900),
  hasWaited: false,
};
const crash: Succession = {
  from: 'operator-2',
  to: 'operator-3',
  isClean: false,
  ledAfter: millis(3_100),
  deletedAfter: millis(8_000),
  hasWaited: true,
};

interface Seen {
  readonly stop?: Partial<Succession>;
  readonly crash?: Partial<Succession>;
  readonly deletions?: number;
}

function verdictsOf(seen: Seen): ReturnType<typeof handOverVerdicts> {
  const handOver = {
    stop: { ...stop, ...seen.stop },
    crash: { ...crash, ...seen.crash },
    pods: 18,
  };
  return handOverVerdicts({ handOver, proof: { deletions: seen.deletions ?? 18 } });
}

describe('handOverVerdicts()', () => {
  test('says who went on, when, and that nothing was done twice', () => {
    const verdicts = verdictsOf({});
    assert.deepEqual(
      verdicts.map(({ line }) => line),
      [
        'operator-1 was stopped in good order: operator-2 led 0.31 s later, deleted its first pod after 0.90 s, with no wait for it',
        'operator-2 was killed: operator-3 led 3.10 s later, deleted its first pod after 8.00 s, and gave AwaitingPredecessor as the reason',
        '18 pods were replaced with 18 deletions: nothing was done twice',
      ],
    );
    assert.ok(verdicts.every(({ isKept }) => isKept));
  });

  test('says that a crash cost no wait where nothing was under way', () => {
    assert.deepEqual(verdictsOf({ crash: { hasWaited: false, deletedAfter: millis(3_400) } })[1], {
      isKept: true,
      line: 'operator-2 was killed: operator-3 led 3.10 s later, deleted its first pod after 3.40 s, as no request that could still arrive was named in the Lease',
    });
  });

  test('says nothing where there was no predecessor', () => {
    assert.deepEqual(handOverVerdicts({ handOver: undefined, proof: { deletions: 3 } }), []);
  });

  const broken: Readonly<Record<string, readonly [Seen, number, string]>> = {
    'a stop that the Lease does not tell of': [
      { stop: { isClean: false } },
      0,
      'broken promise: operator-1 was stopped in good order, but the Lease did not say so',
    ],
    'a wait after a stop': [
      { stop: { hasWaited: true } },
      0,
      'broken promise: operator-1 was stopped in good order, but operator-2 waited for it',
    ],
    'a deletion too soon after a crash': [
      { crash: { deletedAfter: millis(1_990) } },
      1,
      'broken promise: operator-2 was killed, and operator-3 deleted a pod 1.99 s later',
    ],
    'a pod that was deleted twice': [
      { deletions: 19 },
      2,
      'broken promise: 18 pods were replaced with 19 deletions',
    ],
  };
  for (const [what, [seen, at, line]] of Object.entries(broken)) {
    test(`finds ${what}`, () => {
      assert.deepEqual(verdictsOf(seen)[at], { isKept: false, line });
    });
  }
});
