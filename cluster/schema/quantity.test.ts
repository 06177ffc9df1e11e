import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { canonicalQuantity, quantityNanos } from './quantity.ts';

const cases: readonly (readonly [given: string, canonical: string | undefined])[] = [
  ['0', '0'],
  ['1', '1'],
  ['100m', '100m'],
  ['0.5', '500m'],
  ['.5', '500m'],
  ['1000m', '1'],
  ['1500m', '1500m'],
  ['2000', '2k'],
  ['1024Mi', '1Gi'],
  ['1.5Gi', '1536Mi'],
  ['512Mi', '512Mi'],
  ['0.5Ki', '512'],
  ['1e3', '1e3'],
  ['-1', '-1'],
  ['+1', '1'],
  ['0.0000000001', '1n'],
  ['1M', '1M'],
  ['1000k', '1M'],
  ['', undefined],
  ['Gi', undefined],
  ['1 Gi', undefined],
  ['ten', undefined],
];
for (const [given, canonical] of cases) {
  test(`canonicalQuantity() of "${given}" is ${canonical ?? 'undefined'}`, () => {
    assert.equal(canonicalQuantity(given), canonical);
  });
}

test('canonicalQuantity() keeps the amount and is stable', () => {
  const suffix = fc.constantFrom('', 'm', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi', 'Ti');
  fc.assert(
    fc.property(fc.nat(), suffix, (amount, unit) => {
      const once = canonicalQuantity(`${amount}${unit}`) ?? '';
      assert.equal(canonicalQuantity(once), once);
      assert.equal(quantityNanos(once), quantityNanos(`${amount}${unit}`));
    }),
  );
});
