import type { Config } from '#config/config.ts';
import { canI } from '#kubernetes/authorization/access-review.ts';
import { byScope, type Permission } from '#kubernetes/authorization/permission.ts';
import type { Client } from '#kubernetes/client.ts';
import { longestValue } from '#telemetry/log/logfmt.ts';
import { type RoleRule, roleRules } from './permissions.ts';

/** Rules that are missing, as lists in YAML; more than one where a log would cut a longer one. */
export interface MissingRules {
  readonly inNamespace: readonly string[];
  /** Those that only a ClusterRole can grant. */
  readonly inCluster: readonly string[];
}

/** Asks the API server for each verb of `permissions` whether our Role permits it in the namespace of `config`. @throws never */
export async function missingRules(
  client: Client,
  { config, permissions }: { readonly config: Config; readonly permissions: readonly Permission[] },
  signal: AbortSignal,
): Promise<MissingRules> {
  const { namespace } = config.kubernetes;
  const { own, cluster } = byScope(permissions);
  const [inside, outside] = [roleRules(own), roleRules(cluster)];
  return {
    inNamespace: yamlLists(await deniedOf(inside, { client, place: { namespace }, signal })),
    inCluster: yamlLists(await deniedOf(outside, { client, place: {}, signal })),
  };
}

interface Asking {
  readonly client: Client;
  readonly place: { readonly namespace?: string };
  readonly signal: AbortSignal;
}

/** Returns what of `rules` is not granted; one request after the other, as nothing waits for it. */
async function deniedOf(rules: readonly RoleRule[], asking: Asking): Promise<readonly RoleRule[]> {
  const denied: RoleRule[] = [];
  for (const rule of rules) {
    const verbs: string[] = [];
    for (const verb of rule.verbs) if (await isDenied(rule, verb, asking)) verbs.push(verb);
    if (verbs.length > 0) denied.push({ ...rule, verbs });
  }
  return denied;
}

/** Reports whether `rule` is lacking for `verb`: nothing is asked to grant what cannot be found out. */
async function isDenied(
  { apiGroups: [group = ''], resources: [path = ''], resourceNames }: RoleRule,
  verb: string,
  { client, place, signal }: Asking,
): Promise<boolean> {
  const [resource = '', subresource] = path.split('/');
  const about = { ...place, verb, group, resource };
  const access = subresource === undefined ? about : { ...about, subresource };
  const each = resourceNames?.map((name) => ({ ...access, name })) ?? [access];
  for (const one of each) {
    if ((await canI(client, one, { signal })).kind === 'denied') return true;
  }
  return false;
}

/**
 * `rules` as lists in YAML on one line each. In flow style with single quotes alone, so that a line of the log shows them
 * as they are: logfmt and JSON would escape line breaks and double quotes.
 */
export function yamlLists(
  rules: readonly RoleRule[],
  longest: number = longestValue,
): readonly string[] {
  const lists: string[][] = [];
  for (const text of rules.map(flowRule)) {
    const last = lists.at(-1);
    if (last !== undefined && flowList([...last, text]).length <= longest) last.push(text);
    else lists.push([text]);
  }
  return lists.map(flowList);
}

function flowList(items: readonly string[]): string {
  return `[${items.join(', ')}]`;
}

function flowRule({ apiGroups, resources, resourceNames, verbs }: RoleRule): string {
  const members = [
    `apiGroups: ${flowList(apiGroups.map((group) => (group === '' ? "''" : group)))}`,
    `resources: ${flowList(resources)}`,
    // A flag may give a name that YAML would take for a number or a truth value.
    ...(resourceNames === undefined
      ? []
      : [`resourceNames: ${flowList(resourceNames.map(quote))}`]),
    `verbs: ${flowList(verbs)}`,
  ];
  return `{${members.join(', ')}}`;
}

function quote(name: string): string {
  return `'${name.replaceAll("'", "''")}'`;
}
