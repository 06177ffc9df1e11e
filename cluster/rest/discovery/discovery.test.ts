import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareVersions } from './discovery.ts';

test('compareVersions() puts GA before beta before alpha, then the higher number first', () => {
  const versions = ['v1alpha1', 'v2beta1', 'v1', 'v1beta2', 'v10', 'v2', 'custom'];
  assert.deepEqual(versions.toSorted(compareVersions), [
    'v10',
    'v2',
    'v1',
    'v2beta1',
    'v1beta2',
    'v1alpha1',
    'custom',
  ]);
});
