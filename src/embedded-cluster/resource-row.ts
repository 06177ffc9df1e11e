import type { JsonObject } from '#base/json.ts';
import type { ResourceType } from '#kubernetes/resource-type.ts';
import type { Cause } from './status-error.ts';

/** The API verbs of discovery. */
export type Verb =
  | 'create'
  | 'delete'
  | 'deletecollection'
  | 'get'
  | 'list'
  | 'patch'
  | 'update'
  | 'watch';

/** A subresource as discovery shows it. */
export interface SubresourceRow {
  readonly name: 'status' | 'scale' | 'binding' | 'eviction' | 'finalize';
  readonly kind: string;
  /** Of the kind that is exchanged, where it differs from the parent's. */
  readonly group?: string;
  readonly version?: string;
  readonly verbs: readonly Verb[];
}

/** How strategic merge treats the list at one path; absent means atomic (PA-5). `replace` is for maps that do not merge. */
export type ListMerge =
  | { readonly kind: 'by-key'; readonly key: string }
  | { readonly kind: 'set' }
  | { readonly kind: 'replace' };

/**
 * One served resource: router, discovery, OpenAPI, Table and field selectors are derived from these rows alone
 * (MS-2). All functions are pure; the generic metadata rules (OB-1, OB-3, OB-5…OB-10) are the server's, not the row's.
 */
export interface ResourceRow {
  readonly type: ResourceType;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly Verb[];
  readonly subresources: readonly SubresourceRow[];
  /** Whether `metadata.generation` is kept (OB-5). */
  readonly hasGeneration: boolean;
  /** Whether PUT and apply may create (OB-4). */
  readonly allowsCreateOnUpdate: boolean;
  /** Whether PUT without resourceVersion is allowed (OB-3). */
  readonly allowsUnconditionalUpdate: boolean;
  /** Whether deletion has a grace period (OB-8; pods). */
  readonly isGraceful: boolean;
  /** Whether DELETE of an object that is gone at once answers the object; else it is a Status (OB-9). */
  readonly answersDeleted: boolean;
  /** Drops fields the kind does not have (OB-13) and lists their paths, such as `spec.foo`. */
  decode(object: JsonObject): {
    readonly object: JsonObject;
    readonly unknown: readonly string[];
  };
  /** Defaults (OB-16) and the status of a new object (OB-2); everything but generic metadata. */
  prepareForCreate(object: JsonObject): JsonObject;
  /** Defaults, and what an update of the main resource may not change silently (status is the server's). */
  prepareForUpdate(object: JsonObject, old: JsonObject): JsonObject;
  /** Why `object` may not be stored; empty when it may. `old` is absent on create (OB-17). */
  validate(object: JsonObject, old?: JsonObject): readonly Cause[];
  /** Fields that are stored but have no effect here, for the R0 warning. */
  ineffectiveFields(object: JsonObject): readonly string[];
  /** Field selector labels beyond metadata.name and metadata.namespace (OB-14). */
  readonly fieldLabels: Readonly<Record<string, (object: JsonObject) => string>>;
  /** How strategic merge treats a list; `path` has member names only, such as `spec.template.spec.containers`. Undefined: the kind has no strategic merge at all (415). */
  readonly listMerge: ((path: string) => ListMerge | undefined) | undefined;
}
