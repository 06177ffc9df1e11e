import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { type RuleTarget, ruleMatches } from './match-rule.ts';
import type { WebhookRule } from './webhook.ts';

const sets = resourceTypes.statefulSets;
const update: RuleTarget = { operation: 'UPDATE', type: sets, subresource: '', namespace: 'demo' };
const scale: RuleTarget = { ...update, subresource: 'scale' };

const cases: Record<
  string,
  { readonly rule: Partial<WebhookRule>; readonly of: RuleTarget; readonly want: boolean }
> = {
  'matches a resource by its name': { rule: {}, of: update, want: true },
  'does not match a subresource by the name of its resource': { rule: {}, of: scale, want: false },
  'matches a subresource by both names': {
    rule: { resources: ['statefulsets/scale'] },
    of: scale,
    want: true,
  },
  'does not match a resource by the name of its subresource': {
    rule: { resources: ['statefulsets/scale'] },
    of: update,
    want: false,
  },
  'matches a resource and what is below by /*': {
    rule: { resources: ['statefulsets/*'] },
    of: update,
    want: true,
  },
  'matches every scale by */scale': { rule: { resources: ['*/scale'] }, of: scale, want: true },
  'matches no subresource by *': { rule: { resources: ['*'] }, of: scale, want: false },
  'matches everything by */*': { rule: { resources: ['*/*'] }, of: scale, want: true },
  'matches every operation by *': { rule: { operations: ['*'] }, of: update, want: true },
  'does not match another operation': { rule: { operations: ['CREATE'] }, of: update, want: false },
  'does not match another group': { rule: { groups: ['policy'] }, of: update, want: false },
  'does not match another version': { rule: { versions: ['v2'] }, of: update, want: false },
  'does not match what is in a namespace by the scope Cluster': {
    rule: { scope: 'Cluster' },
    of: update,
    want: false,
  },
  'matches a namespace, which is in itself, by the scope Cluster': {
    rule: { scope: 'Cluster', groups: [''], resources: ['namespaces'] },
    of: { ...update, type: resourceTypes.namespaces },
    want: true,
  },
  'does not match a namespace by the scope Namespaced': {
    rule: { scope: 'Namespaced', groups: [''], resources: ['namespaces'] },
    of: { ...update, type: resourceTypes.namespaces },
    want: false,
  },
};
for (const [fact, { rule, of, want }] of Object.entries(cases)) {
  test(`ruleMatches() ${fact}`, () => {
    const whole: WebhookRule = {
      operations: ['UPDATE'],
      groups: ['apps'],
      versions: ['v1'],
      resources: ['statefulsets'],
      scope: '*',
      ...rule,
    };
    assert.equal(ruleMatches(whole, of), want);
  });
}
