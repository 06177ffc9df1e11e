import type { JsonObject } from '#base/json.ts';
import { apiVersionOf } from '#kubernetes/resource-type.ts';
import type { ResourceRow } from '../resource-row.ts';
import type { RowIndex } from '../rest/request/row-index.ts';

/** Returns the other rows that show the same objects: other versions of a custom resource, and views (AD-3). */
export function equivalentRows(rows: RowIndex, row: ResourceRow): readonly ResourceRow[] {
  const stored = storedPlace(row);
  return rows
    .apiVersions()
    .filter((apiVersion) => apiVersion !== apiVersionOf(row.type))
    .flatMap((apiVersion) => rows.ofVersion(apiVersion))
    .filter((other) => storedPlace(other) === stored);
}

function storedPlace({ type, viewOf }: ResourceRow): string {
  if (viewOf === undefined) return `${type.group}/${type.plural}`;
  const [group = ''] = viewOf.apiVersion.includes('/') ? viewOf.apiVersion.split('/') : [];
  return `${group}/${viewOf.plural}`;
}

/** Returns a stored `object` as `row` shows it. */
export function shownAs(row: ResourceRow, object: JsonObject): JsonObject {
  if (row.viewOf !== undefined) return row.viewOf.fromStored(object);
  const apiVersion = apiVersionOf(row.type);
  return object['apiVersion'] === apiVersion ? object : { ...object, apiVersion };
}

/** Returns the reverse of {@link shownAs}; `stored` is the row of the store. */
export function storedAs(row: ResourceRow, stored: ResourceRow, object: JsonObject): JsonObject {
  const { viewOf } = row;
  const own = viewOf === undefined ? object : viewOf.toStored(object).object;
  return { ...own, kind: stored.type.kind, apiVersion: apiVersionOf(stored.type) };
}
