import type { JsonObject } from '#base/json.ts';
import { splitApiVersion } from '#kubernetes/resource-type.ts';
import type { ResourceRow } from '../../resource-row.ts';
import type { RowIndex } from '../request/row-index.ts';

/** Returns the legacy discovery document at `segments`, or undefined when there is nothing (HT-2). */
export function discover(rows: RowIndex, segments: readonly string[]): JsonObject | undefined {
  const [root, first, second] = segments;
  if (root === 'api') return first === undefined ? coreVersions() : resourceList(rows, first);
  if (first === undefined) return groupList(rows);
  if (second !== undefined) return resourceList(rows, `${first}/${second}`);
  const group = groupOf(rows, first);
  return group && { kind: 'APIGroup', apiVersion: 'v1', ...group };
}

function coreVersions(): JsonObject {
  return {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '127.0.0.1' }],
  };
}

function groupList(rows: RowIndex): JsonObject {
  const names = new Set(
    rows
      .apiVersions()
      .map((apiVersion) => splitApiVersion(apiVersion)[0])
      .filter((group) => group !== ''),
  );
  const groups = [...names].map((name) => groupOf(rows, name) ?? {});
  return { kind: 'APIGroupList', apiVersion: 'v1', groups };
}

function groupOf(rows: RowIndex, name: string): JsonObject | undefined {
  const versions = rows
    .apiVersions()
    .map((groupVersion) => ({ groupVersion, split: splitApiVersion(groupVersion) }))
    .filter(({ split }) => split[0] === name)
    .map(({ groupVersion, split }) => ({ groupVersion, version: split[1] }))
    .sort((a, b) => compareVersions(a.version, b.version));
  const [preferredVersion] = versions;
  return preferredVersion && { name, versions, preferredVersion };
}

/** Compares versions as Kubernetes does: GA before beta before alpha, then the higher number first (HT-3). */
export function compareVersions(a: string, b: string): number {
  const [x, y] = [rankOf(a), rankOf(b)];
  for (const [at, rank] of x.entries()) {
    const difference = (y[at] ?? 0) - rank;
    if (difference !== 0) return difference;
  }
  return a < b ? -1 : 1;
}

const STABILITY: Readonly<Record<string, number>> = { alpha: 1, beta: 2, '': 3 };

function rankOf(version: string): readonly number[] {
  const [, major, level = '', minor] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? [];
  if (major === undefined) return [0, 0, 0];
  return [STABILITY[level] ?? 0, Number(major), Number(minor ?? 0)];
}

function resourceList(rows: RowIndex, groupVersion: string): JsonObject | undefined {
  const served = rows.ofVersion(groupVersion);
  if (served.length === 0) return undefined;
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion,
    resources: served.flatMap(resourceEntries),
  };
}

function resourceEntries(row: ResourceRow): readonly JsonObject[] {
  const { plural, kind, isNamespaced } = row.type;
  const main = {
    name: plural,
    singularName: row.singular,
    namespaced: isNamespaced,
    kind,
    verbs: row.verbs.toSorted(),
    ...(row.shortNames.length === 0 ? {} : { shortNames: row.shortNames }),
    ...(row.categories.length === 0 ? {} : { categories: row.categories }),
  };
  const parts = row.subresources.map((part) => ({
    name: `${plural}/${part.name}`,
    singularName: '',
    namespaced: isNamespaced,
    ...(part.group === undefined ? {} : { group: part.group }),
    ...(part.version === undefined ? {} : { version: part.version }),
    kind: part.kind,
    verbs: part.verbs.toSorted(),
  }));
  return [main, ...parts];
}

/** Returns the answer of /version. */
export function versionDocument(version: string): JsonObject {
  const [major = '1', minor = ''] = version.replace(/^v/, '').split('.');
  return {
    major,
    minor,
    gitVersion: `v${major}.${minor}.0+embedded`,
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: '',
    compiler: '',
    platform: 'linux/amd64',
  };
}
