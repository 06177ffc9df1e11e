import type { ResourceType } from '#kubernetes/resource-type.ts';
import type { WebhookRule } from './webhook.ts';

/** A write as rules see it. */
export interface RuleTarget {
  readonly operation: string;
  readonly type: ResourceType;
  /** Empty for the main resource. */
  readonly subresource: string;
  /** Empty for what is in none; a namespace is in itself. */
  readonly namespace: string;
}

function has(list: readonly string[], value: string): boolean {
  return list.includes('*') || list.includes(value);
}

function scopeMatches(scope: string, { type, namespace }: RuleTarget): boolean {
  const isNamespace = type.group === '' && type.plural === 'namespaces';
  const isCluster = isNamespace || namespace === '';
  switch (scope) {
    case 'Namespaced':
      return !isCluster;
    case 'Cluster':
      return isCluster;
    default:
      return scope === '*' || scope === '';
  }
}

/** Reports whether a rule names the resource: `pods` is it alone, `pods/*` it and all below it, as upstream (AD-3). */
function resourceMatches(pattern: string, { type, subresource }: RuleTarget): boolean {
  const slash = pattern.indexOf('/');
  const resource = slash < 0 ? pattern : pattern.slice(0, slash);
  const below = slash < 0 ? '' : pattern.slice(slash + 1);
  return (resource === '*' || resource === type.plural) && (below === '*' || below === subresource);
}

/** Reports whether `rule` is about `target` (AD-3). */
export function ruleMatches(rule: WebhookRule, target: RuleTarget): boolean {
  const { type } = target;
  return (
    scopeMatches(rule.scope, target) &&
    has(rule.operations, target.operation) &&
    has(rule.groups, type.group) &&
    has(rule.versions, type.version) &&
    rule.resources.some((pattern) => resourceMatches(pattern, target))
  );
}
