import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createReadiness } from './readiness.ts';

test('createReadiness() is not ready before it is announced', () => {
  assert.equal(createReadiness().isReady(), false);
});

test('createReadiness() is ready once it is announced', () => {
  const readiness = createReadiness();
  readiness.announce();
  assert.equal(readiness.isReady(), true);
});

test('createReadiness() is not ready once it is withdrawn, even when announced later (KW-19)', () => {
  const readiness = createReadiness();
  readiness.announce();
  readiness.withdraw();
  readiness.announce();
  assert.equal(readiness.isReady(), false);
});
