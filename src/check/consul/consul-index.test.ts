import assert from 'node:assert/strict';
import { test } from 'node:test';
import { indexAfter } from './consul-index.ts';

const cases: Record<string, { asked: bigint; told: string | undefined; want: bigint }> = {
  'is what the answer tells at first': { asked: 0n, told: '7', want: 7n },
  'stays where nothing has changed': { asked: 7n, told: '7', want: 7n },
  'goes on with the index of the answer': { asked: 7n, told: '12', want: 12n },
  'starts again where it goes backwards': { asked: 12n, told: '7', want: 0n },
  'starts again where none is reported': { asked: 12n, told: undefined, want: 0n },
  'starts again where it is 0': { asked: 12n, told: '0', want: 0n },
  'starts again where it is below 0': { asked: 12n, told: '-3', want: 0n },
  'starts again where it is no number': { asked: 12n, told: '12; 13', want: 0n },
  'starts again where it is empty': { asked: 12n, told: '', want: 0n },
  'starts again where it has a fraction': { asked: 12n, told: '12.5', want: 0n },
  'keeps every digit of a large one': {
    asked: 18_446_744_073_709_551_614n,
    told: '18446744073709551615',
    want: 18_446_744_073_709_551_615n,
  },
  'starts again where it is longer than any index is': {
    asked: 12n,
    told: '1'.repeat(10_000),
    want: 0n,
  },
};

for (const [fact, { asked, told, want }] of Object.entries(cases)) {
  test(`indexAfter() ${fact} [T-85]`, () => {
    assert.equal(indexAfter(asked, told), want);
  });
}
