import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import type { Cause } from '../../errors/status-error.ts';
import { listAt } from '../../json/members.ts';
import { invalidValue, notSupported, required } from './causes.ts';

const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const scopes = ['*', 'Cluster', 'Namespaced'];

/** Causes why a webhook's rule at `path` cannot be stored. */
export function ruleCauses(rule: JsonValue, path: string): readonly Cause[] {
  if (!isJsonObject(rule)) return [];
  const { scope } = rule;
  const isKnownScope = typeof scope !== 'string' || scopes.includes(scope);
  return [
    ...operationCauses(rule, `${path}.operations`),
    ...listCauses(rule, { member: 'apiGroups', path, others: 'API groups' }),
    ...listCauses(rule, { member: 'apiVersions', path, others: 'API versions' }),
    ...textsAt(rule, 'apiVersions').flatMap((version, index) =>
      version === '' ? [required(`${path}.apiVersions[${index}]`)] : [],
    ),
    ...resourceCauses(textsAt(rule, 'resources'), `${path}.resources`),
    ...(isKnownScope ? [] : [notSupported(`${path}.scope`, scope, scopes)]),
  ];
}

function textsAt(object: JsonObject, member: string): readonly string[] {
  return listAt(object, member).filter((value) => typeof value === 'string');
}

function operationCauses(rule: JsonObject, path: string): readonly Cause[] {
  const given = textsAt(rule, 'operations');
  if (given.length === 0) return [required(path)];
  const detail = "if '*' is present, must not specify other operations";
  return [
    ...(given.length > 1 && given.includes('*') ? [invalidValue(path, given, detail)] : []),
    ...given.flatMap((operation, index) =>
      operations.includes(operation)
        ? []
        : [notSupported(`${path}[${index}]`, operation, operations)],
    ),
  ];
}

function listCauses(
  rule: JsonObject,
  list: { readonly member: string; readonly path: string; readonly others: string },
): readonly Cause[] {
  const given = textsAt(rule, list.member);
  const field = `${list.path}.${list.member}`;
  if (given.length === 0) return [required(field)];
  const detail = `if '*' is present, must not specify other ${list.others}`;
  return given.length > 1 && given.includes('*') ? [invalidValue(field, given, detail)] : [];
}

function resourceCauses(given: readonly string[], path: string): readonly Cause[] {
  if (given.length === 0) return [required(path)];
  const causes: Cause[] = [];
  const wide = { resources: new Set<string>(), subresources: new Set<string>() };
  for (const [index, text] of given.entries()) {
    causes.push(...overlapCauses(text, wide, `${path}[${index}]`));
  }
  const isAlone = given.length === 1;
  if (!isAlone && given.includes('*/*')) {
    const detail = "if '*/*' is present, must not specify other resources";
    causes.push(invalidValue(path, given, detail));
  }
  // As upstream, it is the last resource without subresource that counts.
  const last = given.findLast((text) => text !== '' && !text.includes('/'));
  if (given.includes('*') && last !== '*') {
    const detail = "if '*' is present, must not specify other resources without subresources";
    causes.push(invalidValue(path, given, detail));
  }
  return causes;
}

function overlapCauses(
  text: string,
  wide: { readonly resources: Set<string>; readonly subresources: Set<string> },
  path: string,
): readonly Cause[] {
  if (text === '') return [required(path)];
  const slash = text.indexOf('/');
  if (slash < 0) return [];
  const [resource, subresource] = [text.slice(0, slash), text.slice(slash + 1)];
  const because = (present: string): Cause =>
    invalidValue(path, text, `if '${present}' is present, must not specify ${text}`);
  const causes = [
    ...(wide.resources.has(resource) ? [because(`${resource}/*`)] : []),
    ...(wide.subresources.has(subresource) ? [because(`*/${subresource}`)] : []),
  ];
  if (subresource === '*') wide.resources.add(resource);
  if (resource === '*') wide.subresources.add(subresource);
  return causes;
}
