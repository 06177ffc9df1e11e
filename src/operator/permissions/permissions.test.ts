import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readConfig } from '#config/read-config.ts';
import { budgetPermissions } from '#disruption-budget/permissions.ts';
import {
  operatorPermissions,
  permissionsOf,
  roleRules,
  webhookPermissions,
} from './permissions.ts';

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

  test('asks for the certificate less than the Roles of an existing installation grant', () => {
    const { certificate, cluster } = webhookPermissions('cells');
    assert.deepEqual(roleRules(certificate), [
      {
        apiGroups: [''],
        resources: ['secrets'],
        resourceNames: ['rollout-operator-self-signed-certificate'],
        verbs: ['get', 'update'],
      },
    ]);
    const apiGroups = ['admissionregistration.k8s.io'];
    const [validating, mutating] = [
      { apiGroups, resources: ['validatingwebhookconfigurations'] },
      { apiGroups, resources: ['mutatingwebhookconfigurations'] },
    ];
    assert.deepEqual(roleRules(cluster), [
      { ...validating, verbs: ['list', 'watch'] },
      {
        ...validating,
        resourceNames: ['no-downscale-cells', 'pod-eviction-cells', 'zpdb-validation-cells'],
        verbs: ['patch'],
      },
      { ...mutating, verbs: ['list', 'watch'] },
      { ...mutating, resourceNames: ['prepare-downscale-cells'], verbs: ['patch'] },
    ]);
  });

  test('asks for the webhooks what the shipped configurations have reviewed', () => {
    assert.deepEqual(roleRules(webhookPermissions('cells').webhooks), [
      { apiGroups: ['apps'], resources: ['statefulsets'], verbs: ['get', 'list'] },
      { apiGroups: [''], resources: ['pods'], verbs: ['list'] },
      {
        apiGroups: [''],
        resources: ['configmaps'],
        resourceNames: ['rollout-operator-claims'],
        verbs: ['get', 'update'],
      },
      {
        apiGroups: [''],
        resources: ['services'],
        resourceNames: ['rollout-operator'],
        verbs: ['get'],
      },
      {
        apiGroups: [''],
        resources: ['configmaps'],
        resourceNames: ['rollout-operator-zone-tracker'],
        verbs: ['get', 'update'],
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
      {
        apiGroups: ['coordination.k8s.io'],
        resources: ['leases'],
        resourceNames: ['rollout-operator'],
        verbs: ['get', 'update'],
      },
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create', 'list'] },
    ]);
  });
});

describe('permissionsOf()', () => {
  /** The rules that flags take, as one word each. */
  function rulesWith(...flags: readonly string[]): readonly string[] {
    return words(permissionsWith({ hasBudgets: false }, flags));
  }

  function permissionsWith(
    governed: Parameters<typeof permissionsOf>[1],
    flags: readonly string[] = [],
  ): ReturnType<typeof permissionsOf> {
    const outcome = readConfig(['-kubernetes.namespace=cells', ...flags]);
    assert.ok(outcome.kind === 'run');
    return permissionsOf(outcome.config, governed);
  }

  function words(permissions: Parameters<typeof roleRules>[0]): readonly string[] {
    return roleRules(permissions)
      .map((rule) => JSON.stringify(rule))
      .sort();
  }

  test('takes under the flags of the shipped set-ups what the shipped Roles grant, and nothing else', () => {
    assert.deepEqual(rulesWith(), words(operatorPermissions));
    const { webhooks, certificate, cluster } = webhookPermissions('cells');
    assert.deepEqual(
      rulesWith('-server-tls.enabled=true', '-use-zone-tracker=true'),
      words([...operatorPermissions, ...webhooks, ...certificate, ...cluster]),
    );
  });

  test('takes where there are budgets what the shipped Role for them grants, too', () => {
    assert.deepEqual(
      words(permissionsWith({ hasBudgets: true })),
      words([...operatorPermissions, ...budgetPermissions]),
    );
  });

  test('takes nothing for what flags switch off', () => {
    const rules = rulesWith(
      '-leader-election.enabled=false',
      '-server-tls.enabled=true',
      '-server-tls.self-signed-cert.enabled=false',
      '-server-tls.cert-file=tls.crt',
      '-server-tls.key-file=tls.key',
      '-webhooks.update-ca-bundle=false',
    ).join();
    for (const word of ['leases', 'secrets', 'zone-tracker']) {
      assert.ok(!rules.includes(word), word);
    }
    assert.ok(!/webhookconfigurations[^}]*patch/.test(rules), rules);
    assert.match(rules, /rollout-operator-claims/);
  });
});
