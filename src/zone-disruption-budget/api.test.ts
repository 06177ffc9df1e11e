import assert from 'node:assert/strict';
import { test } from 'node:test';
import { zoneLedgerName } from './api.ts';

test('zoneLedgerName() tells budgets of one name in two namespaces apart', () => {
  assert.equal(
    zoneLedgerName({ namespace: 'one', name: 'a.b' }),
    'rollout-operator-zone-ledger-one.a.b',
  );
  assert.equal(
    zoneLedgerName({ namespace: 'two', name: 'a.b' }),
    'rollout-operator-zone-ledger-two.a.b',
  );
});

test('zoneLedgerName() keeps to the longest name that an object may have, and tells long names apart', () => {
  const names = ['a', 'b'].map((last) =>
    zoneLedgerName({ namespace: 'n'.repeat(63), name: `${'.x'.repeat(126)}${last}`.slice(1) }),
  );
  assert.ok(
    names.every((name) => name.length <= 253 && /^[a-z0-9][-a-z0-9.]*-[0-9a-f]{8}$/.test(name)),
  );
  assert.notEqual(names[0], names[1]);
});
