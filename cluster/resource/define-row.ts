/**
 * One row for each served type: its names, defaults, checks and columns. What is done with a row is `rest/`.
 */
import type { JsonObject, JsonValue } from '#base/json.ts';
import { isJsonObject } from '#base/json.ts';
import type { ResourceType } from '#kubernetes/resource-type.ts';
import type { Cause } from '../errors/status-error.ts';
import { undecodable } from '../errors/status-errors.ts';
import type { Column, ResourceRow, SubresourceRow, Verb } from '../resource-row.ts';
import { compileDecoder } from '../schema/compile-decoder.ts';
import { compileListMerge } from '../schema/compile-list-merge.ts';
import type { ObjectSchema } from '../schema/field-schema.ts';
import { DecodeError, Trail } from '../schema/trail.ts';
import { ageColumn, nameColumn } from './columns/column.ts';
import { scaleColumns } from './columns/workload-columns.ts';

/** What a row is made of beyond the rules that all kinds share. */
export interface RowDefinition {
  readonly type: ResourceType;
  readonly singular: string;
  readonly schema: ObjectSchema;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** @default every verb */
  readonly verbs?: readonly Verb[];
  readonly subresources?: readonly SubresourceRow[];
  /** What the server warns of with each answer. @default nothing */
  readonly warning?: string;
  /** @default name and age */
  readonly columns?: readonly Column[];
  /** All of these are false unless given. */
  readonly hasGeneration?: boolean;
  readonly countsLabels?: boolean;
  readonly allowsCreateOnUpdate?: boolean;
  readonly allowsUnconditionalUpdate?: boolean;
  readonly isGraceful?: boolean;
  readonly answersDeleted?: boolean;
  /** Defaults of create and update alike. @default none */
  readonly withDefaults?: (object: JsonObject) => JsonObject;
  /** After the defaults, on create only. @default none */
  readonly prepareForCreate?: (object: JsonObject) => JsonObject;
  /** After the defaults, on update only. @default none */
  readonly prepareForUpdate?: (object: JsonObject, old: JsonObject) => JsonObject;
  /** @default no cause */
  readonly validate?: (object: JsonObject, old: JsonObject | undefined) => readonly Cause[];
  /** As in the row. @default nothing changes */
  readonly beginDeletion?: (object: JsonObject, at: string) => JsonObject;
  readonly ineffectiveFields?: (object: JsonObject) => readonly string[];
  readonly fieldLabels?: Readonly<Record<string, (object: JsonObject) => string>>;
}

/** The verbs of a resource that is stored. */
export const allVerbs: readonly Verb[] = Object.freeze([
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
]);

/** Returns the `status` subresource of `kind`. */
export function statusSubresource(kind: string): SubresourceRow {
  return Object.freeze({ name: 'status', kind, verbs: ['get', 'patch', 'update'] as const });
}

/** The `scale` subresource of kinds with replicas. */
export const scaleSubresource: SubresourceRow = Object.freeze({
  name: 'scale',
  kind: 'Scale',
  group: 'autoscaling',
  version: 'v1',
  verbs: ['get', 'patch', 'update'] as const,
  columns: scaleColumns,
});

const same = (object: JsonObject): JsonObject => object;

/** Returns the row of `definition`; decoders and merge tables are compiled here, once. */
export function defineRow(definition: RowDefinition): ResourceRow {
  const { type, schema, withDefaults = same } = definition;
  const { prepareForCreate = same, prepareForUpdate = same } = definition;
  return Object.freeze({
    schema,
    ...discoveryOf(definition),
    columns: definition.columns ?? [nameColumn, ageColumn],
    ...(definition.warning === undefined ? {} : { warning: definition.warning }),
    ...switchesOf(definition),
    decode: decoderOf(type, schema),
    prepareForCreate: (object: JsonObject) => prepareForCreate(withDefaults(object)),
    prepareForUpdate: (object: JsonObject, old: JsonObject) =>
      prepareForUpdate(withDefaults(object), old),
    ...(definition.beginDeletion === undefined ? {} : { beginDeletion: definition.beginDeletion }),
    validate: (object: JsonObject, old?: JsonObject) => definition.validate?.(object, old) ?? [],
    ineffectiveFields: definition.ineffectiveFields ?? (() => []),
    fieldLabels: definition.fieldLabels ?? {},
    listMerge: compileListMerge(schema),
  });
}

type Discovery = Pick<
  ResourceRow,
  'type' | 'singular' | 'shortNames' | 'categories' | 'verbs' | 'subresources'
>;

function discoveryOf(definition: RowDefinition): Discovery {
  return {
    type: definition.type,
    singular: definition.singular,
    shortNames: definition.shortNames ?? [],
    categories: definition.categories ?? [],
    verbs: definition.verbs ?? allVerbs,
    subresources: definition.subresources ?? [],
  };
}

type Switches = Pick<
  ResourceRow,
  | 'allowsCreateOnUpdate'
  | 'allowsUnconditionalUpdate'
  | 'answersDeleted'
  | 'countsLabels'
  | 'hasGeneration'
  | 'isGraceful'
>;

function switchesOf(definition: RowDefinition): Switches {
  return {
    hasGeneration: definition.hasGeneration === true,
    countsLabels: definition.countsLabels === true,
    allowsCreateOnUpdate: definition.allowsCreateOnUpdate === true,
    allowsUnconditionalUpdate: definition.allowsUnconditionalUpdate === true,
    isGraceful: definition.isGraceful === true,
    answersDeleted: definition.answersDeleted === true,
  };
}

function decoderOf(type: ResourceType, schema: ObjectSchema): ResourceRow['decode'] {
  const decode = compileDecoder(schema);
  return (object) => {
    const trail = new Trail();
    const decoded = decodedOrRefused(() => decode(object, trail), type);
    return { object: isJsonObject(decoded) ? decoded : object, unknown: trail.unknown };
  };
}

function decodedOrRefused(
  decode: () => JsonValue | undefined,
  type: ResourceType,
): JsonValue | undefined {
  try {
    return decode();
  } catch (error) {
    if (error instanceof DecodeError) throw undecodable({ type }, error.message);
    throw error;
  }
}
