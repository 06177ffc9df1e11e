import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { millis } from '#base/units.ts';
import { type DrainOutcome, summarizeDrain } from './drain-summary.ts';

const zone = { zone: 'zone-a', limit: 2, mostUnavailable: 1 };
const drainer = { name: 'drainer-1', node: 'node-a-1', evicted: 1, denied: 7 };

const good: DrainOutcome = {
  rollout: millis(21_300),
  drain: millis(12_040),
  allowed: 1,
  proof: { mostZonesDown: 1, zones: [zone, { ...zone, zone: 'zone-b' }] },
  drainers: [drainer],
  departures: [
    { pod: 'db-0', isEvicted: false, isGiven: true },
    { pod: 'db-1', isEvicted: false, isGiven: true },
    { pod: 'db-0', isEvicted: true, isGiven: true },
  ],
  pods: 2,
};

describe('summarizeDrain()', () => {
  test('tells who took what, and that nothing was beyond the budget', () => {
    assert.deepEqual(summarizeDrain(good), {
      isKept: true,
      lines: [
        'the rollout took 21.30 s, the drain of node-a-1 in it 12.04 s',
        '0 pods beyond the budget: at most 1 of a zone was unavailable at any time, 1 allowed',
        'never two zones were down: at most 1 zone had unavailable pods at any time',
        'the rollout replaced 2 pods, the drainers moved 1',
        'each of them was in the ledger before it went, and at the end the ledger is empty',
        'drainer-1 evicted 1 pod, got 429 7 times',
      ],
    });
  });

  const broken: Readonly<Record<string, readonly [Partial<DrainOutcome>, number, string]>> = {
    'a second pod of a zone that was down': [
      { proof: { mostZonesDown: 1, zones: [{ ...zone, mostUnavailable: 2 }] } },
      1,
      'broken promise: 1 pod beyond the budget: 2 of a zone were unavailable, 1 allowed',
    ],
    'two zones that were down': [
      { proof: { mostZonesDown: 2, zones: [zone] } },
      2,
      'broken promise: 2 zones had unavailable pods at the same time',
    ],
    'a pod that was replaced for nothing': [
      { pods: 1 },
      3,
      'broken promise: the rollout replaced 2 pods, the drainers moved 1, of 1 to be replaced and 1 evictions that were permitted',
    ],
    'an eviction that was permitted, and did not come': [
      { drainers: [{ ...drainer, evicted: 2 }] },
      3,
      'broken promise: the rollout replaced 2 pods, the drainers moved 1, of 2 to be replaced and 2 evictions that were permitted',
    ],
    'a pod that went without a permission': [
      {
        departures: good.departures.map((each) => ({
          ...each,
          isGiven: each.pod !== 'db-1',
        })),
      },
      4,
      'broken promise: db-1 went without being in the ledger',
    ],
  };

  for (const [fact, [change, line, text]] of Object.entries(broken)) {
    test(`does not let pass ${fact}`, () => {
      const { isKept, lines } = summarizeDrain({ ...good, ...change });
      assert.equal(isKept, false);
      assert.equal(lines[line], text);
    });
  }
});
