import type { JsonObject } from '#base/json.ts';
import { splitApiVersion } from '#kubernetes/resource-type.ts';
import type { ResourceRow, SubresourceRow } from '../../resource-row.ts';
import { parseAccept } from '../request/negotiation.ts';
import type { RowIndex } from '../request/row-index.ts';
import { compareVersions } from './discovery.ts';

const GROUP = 'apidiscovery.k8s.io';
const LIST_KIND = 'APIGroupDiscoveryList';

/** Returns the version of aggregated discovery that `accept` asks for before plain JSON, or undefined (HT-2). */
export function aggregatedVersion(accept: string | undefined): string | undefined {
  for (const { type, parameters } of parseAccept(accept ?? '')) {
    const version = parameters.get('v') ?? '';
    const isAggregated = parameters.get('g') === GROUP && parameters.get('as') === LIST_KIND;
    if (type === 'application/json' && parameters.size === 0) return undefined;
    if (isAggregated && (version === 'v2' || version === 'v2beta1')) return version;
  }
  return undefined;
}

/** Returns the media type of an aggregated answer. */
export function aggregatedType(version: string): string {
  return `application/json;g=${GROUP};v=${version};as=${LIST_KIND}`;
}

/** Returns everything that is served below `root` in one document (HT-2). */
export function aggregatedDiscovery(
  rows: RowIndex,
  root: 'api' | 'apis',
  version: string,
): JsonObject {
  const groups = Map.groupBy(rows.apiVersions(), (apiVersion) => splitApiVersion(apiVersion)[0]);
  const items = [...groups]
    .filter(([group]) => (group === '') === (root === 'api'))
    .map(([group, apiVersions]) => groupItem(rows, group, apiVersions));
  return { kind: LIST_KIND, apiVersion: `${GROUP}/${version}`, metadata: {}, items };
}

function groupItem(rows: RowIndex, group: string, apiVersions: readonly string[]): JsonObject {
  const versions = apiVersions
    .map((apiVersion) => ({ apiVersion, version: splitApiVersion(apiVersion)[1] }))
    .sort((a, b) => compareVersions(a.version, b.version))
    .map(({ apiVersion, version }) => ({
      version,
      resources: rows.ofVersion(apiVersion).map(resourceItem),
      freshness: 'Current',
    }));
  const metadata = { ...(group === '' ? {} : { name: group }), creationTimestamp: null };
  return { metadata, versions };
}

function resourceItem(row: ResourceRow): JsonObject {
  const { type, shortNames, categories, subresources } = row;
  const { group, version, kind } = type;
  return {
    resource: type.plural,
    responseKind: { group, version, kind },
    scope: type.isNamespaced ? 'Namespaced' : 'Cluster',
    singularResource: row.singular,
    verbs: row.verbs.toSorted(),
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(subresources.length === 0
      ? {}
      : { subresources: subresources.map((part) => subresourceItem(row, part)) }),
  };
}

function subresourceItem({ type }: ResourceRow, part: SubresourceRow): JsonObject {
  const { group = type.group, version = type.version, kind } = part;
  return {
    subresource: part.name,
    responseKind: { group, version, kind },
    verbs: part.verbs.toSorted(),
  };
}
