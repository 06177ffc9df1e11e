import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scaleTarget } from './scale-target.ts';

const cases: readonly (readonly [string, string, string | undefined])[] = [
  ['apps', 'statefulsets', 'StatefulSet'],
  ['apps', 'deployments', 'Deployment'],
  ['apps', 'replicasets', 'ReplicaSet'],
  // The API server always says the group; who leaves it out is taken at the name.
  ['', 'statefulsets', 'StatefulSet'],
  ['example.com', 'statefulsets', undefined],
  ['extensions', 'deployments', undefined],
  ['apps', 'daemonsets', undefined],
  ['', '', undefined],
];
for (const [resourceGroup, resource, kind] of cases) {
  test(`scaleTarget() of ${resource || 'nothing'} in group ${resourceGroup || '(none)'} is ${kind}`, () => {
    assert.equal(scaleTarget({ resource, resourceGroup })?.kind, kind);
  });
}
