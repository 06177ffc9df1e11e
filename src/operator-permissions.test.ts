import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { roleRules } from './operator-permissions.ts';

const because = 'a test asks for it';

describe('roleRules()', () => {
  test('gathers the verbs of one resource in one rule, sorted', () => {
    const rules = roleRules([
      { group: '', resource: 'pods', verbs: ['watch', 'list'], because },
      { group: 'apps', resource: 'statefulsets', verbs: ['get'], because },
      { group: '', resource: 'pods', verbs: ['delete', 'list'], because },
    ]);
    assert.deepEqual(rules, [
      { apiGroups: [''], resources: ['pods'], verbs: ['delete', 'list', 'watch'] },
      { apiGroups: ['apps'], resources: ['statefulsets'], verbs: ['get'] },
    ]);
  });

  test('keeps a subresource apart from its resource', () => {
    const rules = roleRules([
      { group: 'apps', resource: 'statefulsets', verbs: ['get'], because },
      { group: 'apps', resource: 'statefulsets/status', verbs: ['update'], because },
    ]);
    assert.deepEqual(
      rules.map(({ resources }) => resources),
      [['statefulsets'], ['statefulsets/status']],
    );
  });

  test('asks for nothing beyond what rolling groups and coordinating replicas take', () => {
    assert.deepEqual(roleRules(), [
      { apiGroups: [''], resources: ['pods'], verbs: ['delete', 'list', 'patch', 'watch'] },
      {
        apiGroups: ['apps'],
        resources: ['statefulsets'],
        verbs: ['get', 'list', 'patch', 'watch'],
      },
      { apiGroups: ['apps'], resources: ['statefulsets/status'], verbs: ['update'] },
      {
        apiGroups: ['rollout-operator.grafana.com'],
        resources: ['zoneawarepoddisruptionbudgets'],
        verbs: ['list', 'watch'],
      },
      { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
      {
        apiGroups: ['rollout-operator.grafana.com'],
        resources: ['replicatemplates/scale'],
        verbs: ['get'],
      },
      {
        apiGroups: ['rollout-operator.grafana.com'],
        resources: ['replicatemplates/status'],
        verbs: ['patch'],
      },
      {
        apiGroups: ['rollout-operator.grafana.com'],
        resources: ['replicatemplates'],
        verbs: ['list', 'watch'],
      },
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] },
    ]);
  });
});
