import type { User } from '../cluster.ts';
import { StatusError } from '../errors/status-error.ts';

/** What a request asks for, as RBAC sees it. */
export interface AccessAttributes {
  readonly user: User;
  readonly verb: string;
  readonly group: string;
  /** Plural. */
  readonly resource: string;
  /** Empty for the main resource. */
  readonly subresource: string;
  /** Empty: cluster scope or all namespaces. */
  readonly namespace: string;
  /** Empty where the request names no object. */
  readonly name: string;
}

/** One rule, as in a Role. */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  /** Such as `pods`, `statefulsets/scale`, `*`. */
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  /** Absent or empty: any. */
  readonly resourceNames?: readonly string[];
}

/** Rules of one user; what no rule grants is refused. */
export interface UserRules {
  readonly user: string;
  /** Where the rules hold; absent: everywhere, as with a ClusterRole. */
  readonly namespace?: string;
  readonly rules: readonly PolicyRule[];
}

function grants(rule: PolicyRule, access: AccessAttributes): boolean {
  const resource =
    access.subresource === '' ? access.resource : `${access.resource}/${access.subresource}`;
  const has = (list: readonly string[], value: string): boolean =>
    list.includes(value) || list.includes('*');
  const names = rule.resourceNames ?? [];
  return (
    has(rule.apiGroups, access.group) &&
    (has(rule.resources, resource) || rule.resources.includes(`*/${access.subresource}`)) &&
    has(rule.verbs, access.verb) &&
    (names.length === 0 || names.includes(access.name))
  );
}

/**
 * Records who used what, so that a test can compare it with a shipped Role (SR-5), and refuses what the rules of
 * a user do not grant. Users without rules may do everything.
 */
export class Authorizer {
  readonly #used = new Map<string, AccessAttributes>();
  #rules: readonly UserRules[] = [];

  /** Replaces all rules; a user that occurs in them may do only what they grant. */
  restrict(rules: readonly UserRules[]): void {
    this.#rules = rules;
  }

  /** Returns every distinct (user, verb, group, resource, subresource, namespace) seen; `name` is that of the first request. */
  get used(): readonly AccessAttributes[] {
    return [...this.#used.values()];
  }

  /** Reports whether the rules grant `access`. */
  isAllowed(access: AccessAttributes): boolean {
    // Every user may ask for its own permissions, as under the role system:basic-user.
    if (access.group === 'authorization.k8s.io' && access.verb === 'create') return true;
    const own = this.#rules.filter(({ user }) => user === access.user.name);
    if (own.length === 0) return true;
    return own.some(
      ({ namespace, rules }) =>
        (namespace === undefined || namespace === access.namespace) &&
        rules.some((rule) => grants(rule, access)),
    );
  }

  /** Records `access`. @throws {StatusError} 403 with the API server's sentence when the rules do not grant it */
  check(access: AccessAttributes): void {
    const { user, verb, group, resource, subresource, namespace } = access;
    const key = `${user.name}|${verb}|${group}|${resource}|${subresource}|${namespace}`;
    if (!this.#used.has(key)) this.#used.set(key, access);
    if (!this.isAllowed(access)) throw forbidden(access);
  }
}

function forbidden(access: AccessAttributes): StatusError {
  const { user, verb, group, resource, subresource, namespace, name } = access;
  const path = subresource === '' ? resource : `${resource}/${subresource}`;
  const what = group === '' ? resource : `${resource}.${group}`;
  const object = name === '' ? '' : ` "${name}"`;
  const scope = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  return new StatusError(
    {
      code: 403,
      reason: 'Forbidden',
      details: {
        ...(name === '' ? {} : { name }),
        ...(group === '' ? {} : { group }),
        kind: resource,
      },
    },
    `${what}${object} is forbidden: User "${user.name}" cannot ${verb} resource "${path}" in API group "${group}" ${scope}`,
  );
}
