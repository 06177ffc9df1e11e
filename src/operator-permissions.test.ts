import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Permission } from '#kubernetes/permission.ts';
import { roleRules, webhookCertificatePermissions } from './operator-permissions.ts';

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

  test('keeps what is about named objects apart', () => {
    const secrets = { group: '', resource: 'secrets', because };
    const rules = roleRules([
      { ...secrets, verbs: ['create'] },
      { ...secrets, verbs: ['update', 'get'], resourceNames: ['a'] },
      { ...secrets, verbs: ['get'], resourceNames: ['a'] },
    ]);
    assert.deepEqual(rules, [
      { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
      { apiGroups: [''], resources: ['secrets'], resourceNames: ['a'], verbs: ['get', 'update'] },
    ]);
  });

  test('R4 R5 asks for the certificate what the Roles of an existing installation grant', () => {
    const isForCluster = ({ isClusterScoped = false }: Permission): boolean => isClusterScoped;
    assert.deepEqual(
      roleRules(webhookCertificatePermissions.filter((each) => !isForCluster(each))),
      [
        { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
        {
          apiGroups: [''],
          resources: ['secrets'],
          resourceNames: ['rollout-operator-self-signed-certificate'],
          verbs: ['get', 'update'],
        },
      ],
    );
    const group = 'admissionregistration.k8s.io';
    assert.deepEqual(roleRules(webhookCertificatePermissions.filter(isForCluster)), [
      {
        apiGroups: [group],
        resources: ['validatingwebhookconfigurations'],
        verbs: ['list', 'patch', 'watch'],
      },
      {
        apiGroups: [group],
        resources: ['mutatingwebhookconfigurations'],
        verbs: ['list', 'patch', 'watch'],
      },
    ]);
  });

  test('asks for nothing beyond what rolling groups, coordinating replicas and electing a leader take', () => {
    assert.deepEqual(roleRules(), [
      { apiGroups: [''], resources: ['pods'], verbs: ['delete', 'list', 'watch'] },
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
      {
        apiGroups: ['coordination.k8s.io'],
        resources: ['leases'],
        verbs: ['create', 'get', 'list', 'update'],
      },
    ]);
  });
});
