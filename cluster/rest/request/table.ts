import type { JsonObject, JsonValue } from '#base/json.ts';
import { metadataOf } from '../../json/json-fields.ts';
import type { Column, ResourceRow } from '../../resource-row.ts';

/** What a row of a Table carries in addition to its cells (TB-1). */
export type IncludedObject = 'None' | 'Metadata' | 'Object';

/** How a Table is made. */
export interface TableOptions {
  /** `v1` or `v1beta1` of `meta.k8s.io`. */
  readonly version: string;
  readonly included: IncludedObject;
  /** Wall-clock time in ms, for ages. */
  readonly now: number;
  /** Whether the columns are described; on a watch only the first Table does. */
  readonly hasColumns: boolean;
}

/** Returns `object` reduced to its metadata. */
export function partialMetadata(object: JsonObject): JsonObject {
  return {
    kind: 'PartialObjectMetadata',
    apiVersion: 'meta.k8s.io/v1',
    metadata: metadataOf(object),
  };
}

function includedOf(object: JsonObject, options: TableOptions): JsonValue {
  switch (options.included) {
    case 'None':
      return null;
    case 'Object':
      return object;
    default:
      return { ...partialMetadata(object), apiVersion: `meta.k8s.io/${options.version}` };
  }
}

function definitionOf({ name, type, format, priority }: Column): JsonObject {
  return { name, type, format, description: '', priority };
}

/** Returns the Table of `objects` (TB-1); `metadata` is that of the list. */
export function tableOf(
  row: ResourceRow,
  page: { readonly objects: readonly JsonObject[]; readonly metadata: JsonObject },
  options: TableOptions,
): JsonObject {
  const { columns } = row;
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${options.version}`,
    metadata: page.metadata,
    columnDefinitions: options.hasColumns ? columns.map(definitionOf) : [],
    rows: page.objects.map((object) => ({
      cells: columns.map(({ cell }) => cell(object, options.now)),
      object: includedOf(object, options),
    })),
  };
}
