import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limitOf } from './max-unavailable.ts';

const cases: Record<string, { annotation: string | undefined; replicas?: number; want: number }> = {
  'is 1 without an annotation': { annotation: undefined, want: 1 },
  'reads an integer': { annotation: '2', want: 2 },
  'trims the whole value': { annotation: ' 3 ', want: 3 },
  'reads a leading plus': { annotation: '+3', want: 3 },
  'reads leading zeros': { annotation: '010', want: 10 },
  'has no upper bound': { annotation: '50', replicas: 3, want: 50 },
  'counts a word as 1': { annotation: 'xxx', want: 1 },
  'counts 0 as 1': { annotation: '0', want: 1 },
  'counts a negative as 1': { annotation: '-1', want: 1 },
  'counts a decimal as 1': { annotation: '2.5', want: 1 },
  'counts a space before the sign as 1': { annotation: '25 %', replicas: 100, want: 1 },
  'counts a lone sign as 1': { annotation: '%', replicas: 100, want: 1 },
  'counts 0% as 1': { annotation: '0%', replicas: 100, want: 1 },
  'counts 101% as 1': { annotation: '101%', replicas: 100, want: 1 },
  'counts 300% as 1': { annotation: '300%', replicas: 100, want: 1 },
  'takes 30% of 10': { annotation: '30%', replicas: 10, want: 3 },
  'rounds 25% of 10 down': { annotation: '25%', replicas: 10, want: 2 },
  'rounds 50% of 3 down': { annotation: '50%', replicas: 3, want: 1 },
  'takes 29% of 100 without a rounding error': { annotation: '29%', replicas: 100, want: 29 },
  'takes 100% of 4': { annotation: '100%', replicas: 4, want: 4 },
  'is 1 for a percentage of nothing': { annotation: '30%', want: 1 },
};

for (const [fact, { annotation, replicas, want }] of Object.entries(cases)) {
  test(`limitOf() ${fact} (IN-25)`, () => {
    assert.equal(limitOf(annotation, replicas), want);
  });
}
