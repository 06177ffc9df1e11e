import type { JsonObject, JsonValue } from '#base/json.ts';
import type { Client } from '#kubernetes/client.ts';
import { type ResourceType, splitApiVersion } from '#kubernetes/resource-type.ts';
import { objectsAt, textAt, textsAt } from '../json/read-json.ts';

/** A resource type that the server serves, with the verbs that it knows for it. */
export interface ServedType {
  readonly type: ResourceType;
  readonly verbs: readonly string[];
}

function parseResource(groupVersion: string, resource: JsonObject): ServedType | undefined {
  const plural = textAt(resource, 'name');
  if (plural.includes('/')) return undefined;
  const [group, version] = splitApiVersion(groupVersion);
  const type = {
    group,
    version,
    plural,
    kind: textAt(resource, 'kind'),
    isNamespaced: resource['namespaced'] === true,
  };
  return { type: Object.freeze(type), verbs: textsAt(resource, 'verbs') };
}

function parseResourceList(list: JsonValue): readonly ServedType[] {
  const groupVersion = textAt(list, 'groupVersion');
  return objectsAt(list, 'resources')
    .map((resource) => parseResource(groupVersion, resource))
    .filter((served) => served !== undefined);
}

/** Returns every resource type of the server, each group in its preferred version; subresources left out. */
export async function discoverTypes(client: Client): Promise<readonly ServedType[]> {
  const groups = await client.raw({ method: 'GET', path: '/apis' });
  const versions = objectsAt(groups, 'groups').map((group) =>
    textAt(group, 'preferredVersion', 'groupVersion'),
  );
  const paths = ['/api/v1', ...versions.map((version) => `/apis/${version}`)];
  const lists = await Promise.all(paths.map((path) => client.raw({ method: 'GET', path })));
  return lists.flatMap((list) => parseResourceList(list));
}

/** Reports whether objects of a type can be listed, watched and deleted: those are collected and drained. */
export function isDeletable({ verbs }: ServedType): boolean {
  return ['list', 'watch', 'delete'].every((verb) => verbs.includes(verb));
}
