import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unusedGrants } from './role-usage.ts';

const call = { verb: 'get', resource: 'pods', subresource: '', name: 'a', outcome: 200 } as const;

test('unusedGrants() names a verb more than is used', () => {
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'delete'] }];
  assert.deepEqual(unusedGrants(rules, [call]), ['delete pods']);
});

test('unusedGrants() keeps groups, subresources and names apart', () => {
  const rules = [
    { apiGroups: ['apps'], resources: ['pods', 'statefulsets/status'], verbs: ['get'] },
    { apiGroups: [''], resources: ['pods'], verbs: ['get'], resourceNames: ['a', 'b'] },
  ];
  const status = { ...call, resource: 'statefulsets.apps', subresource: 'status' };
  assert.deepEqual(unusedGrants(rules, [call, status]), ['get pods.apps', 'get pods/b']);
});

test('unusedGrants() counts no call that was refused', () => {
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
  assert.deepEqual(unusedGrants(rules, [{ ...call, outcome: 403 }]), ['get pods']);
});
