import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis } from '#base/units.ts';
import { type Outcome, summarize } from './summary.ts';

interface Seen {
  readonly zonesDown?: number;
  readonly mostUnavailable?: number;
  readonly reach?: readonly number[];
  readonly brokenImage?: string;
  readonly hiccup?: Outcome['hiccup'];
}

function outcome(seen: Seen): Outcome {
  const { zonesDown = 1, mostUnavailable = 2, reach = [], brokenImage, hiccup } = seen;
  const zones = [
    { zone: 'zone-a', limit: 2, mostUnavailable },
    { zone: 'zone-b', limit: 2, mostUnavailable: 1 },
  ];
  const proof = { mostZonesDown: zonesDown, zones, deletions: 0, reach: () => reach };
  return {
    took: millis(9_450),
    limit: millis(9_000),
    proof,
    brokenImage,
    hiccup,
    handOver: undefined,
  };
}

const cases: Record<string, { seen: Seen; isKept: boolean; want: readonly string[] }> = {
  'measures a rollout against its limit': {
    seen: {},
    isKept: true,
    want: [
      'the rollout took 9.45 s: 5.0 % over the physical limit of 9.00 s',
      'never two zones were down: at most 1 zone had unavailable pods at any time',
      'most pods unavailable at once: zone-a 2 of 2 allowed, zone-b 1 of 2 allowed',
    ],
  },
  'says so when two zones were down': {
    seen: { zonesDown: 2 },
    isKept: false,
    want: [
      'the rollout took 9.45 s: 5.0 % over the physical limit of 9.00 s',
      'broken promise: 2 zones had unavailable pods at the same time',
      'most pods unavailable at once: zone-a 2 of 2 allowed, zone-b 1 of 2 allowed',
    ],
  },
  'says so when a zone lost too many pods': {
    seen: { mostUnavailable: 3 },
    isKept: false,
    want: [
      'the rollout took 9.45 s: 5.0 % over the physical limit of 9.00 s',
      'never two zones were down: at most 1 zone had unavailable pods at any time',
      'broken promise: pods unavailable at once: zone-a 3 of 2 allowed, zone-b 1 of 2 allowed',
    ],
  },
  'says that nothing was deleted while all probes failed': {
    seen: { hiccup: { lasted: millis(3_000), deleted: 0 } },
    isKept: true,
    want: [
      'the rollout took 9.45 s; for 3.00 s of them no pod was ready',
      'no pod was deleted while all readiness probes failed',
      'apart from that never two zones were down: at most 1 zone had unavailable pods at any time',
      'most pods unavailable at once: zone-a 2 of 2 allowed, zone-b 1 of 2 allowed',
    ],
  },
  'says so when pods were deleted while all probes failed': {
    seen: { hiccup: { lasted: millis(3_000), deleted: 8 } },
    isKept: false,
    want: [
      'the rollout took 9.45 s; for 3.00 s of them no pod was ready',
      'broken promise: 8 pods deleted while all readiness probes failed',
      'apart from that never two zones were down: at most 1 zone had unavailable pods at any time',
      'most pods unavailable at once: zone-a 2 of 2 allowed, zone-b 1 of 2 allowed',
    ],
  },
  'says how far a broken image came': {
    seen: { brokenImage: 'db:broken', reach: [2] },
    isKept: true,
    want: [
      'the rollout of the fix took 9.45 s: 5.0 % over the physical limit of 9.00 s',
      'never two zones were down: at most 1 zone had unavailable pods at any time',
      'most pods unavailable at once: zone-a 2 of 2 allowed, zone-b 1 of 2 allowed',
      'the broken image reached 2 pods of 1 zone, where 2 may be unavailable',
    ],
  },
  'says so when a broken image came too far': {
    seen: { brokenImage: 'db:broken', reach: [2, 1] },
    isKept: false,
    want: [
      'the rollout of the fix took 9.45 s: 5.0 % over the physical limit of 9.00 s',
      'never two zones were down: at most 1 zone had unavailable pods at any time',
      'most pods unavailable at once: zone-a 2 of 2 allowed, zone-b 1 of 2 allowed',
      'broken promise: the broken image reached 2 pods of a zone, and 2 zones',
    ],
  },
};

for (const [fact, { seen, isKept, want }] of Object.entries(cases)) {
  test(`summarize() ${fact}`, () => {
    assert.deepEqual(summarize(outcome(seen)), { isKept, lines: want });
  });
}
