import type { JsonObject, JsonValue } from '#base/json.ts';
import type { ResourceType } from '#kubernetes/resource-type.ts';
import type { Cause } from './errors/status-error.ts';
import type { ObjectSchema } from './schema/field-schema.ts';

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
  /** The group of the kind that is exchanged, where it differs from the parent's. */
  readonly group?: string;
  readonly version?: string;
  readonly verbs: readonly Verb[];
  /** The columns of its Table, where what is exchanged is no object of the parent's kind. */
  readonly columns?: readonly Column[];
}

/** How strategic merge treats the list at one path; absent means atomic (PA-5). `replace` is for maps that do not merge. */
export type ListMerge =
  | { readonly kind: 'by-key'; readonly key: string }
  | { readonly kind: 'set' }
  | { readonly kind: 'replace' };

/** One column of the Table form (TB-2). */
export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  /** `name` for the column that names the object, else empty. */
  readonly format: string;
  /** 0: always shown; 1: in the wide form. */
  readonly priority: number;
  /** The value for `object`; `now` in ms, for ages. */
  readonly cell: (object: JsonObject, now: number) => JsonValue;
}

/** JSON paths such as `.spec.replicas`. */
export interface ScalePaths {
  readonly specReplicas: string;
  readonly statusReplicas: string;
  /** The path of the selector in its text form. */
  readonly selector?: string;
}

/** The resource that a row shows under another name and shape; pure. */
export interface ResourceView {
  /** The `apiVersion` of the row whose objects are shown. */
  readonly apiVersion: string;
  readonly plural: string;
  /** An object or a merge patch as stored; `unknown` are members that the shown version does not have. */
  readonly toStored: (object: JsonObject) => {
    readonly object: JsonObject;
    readonly unknown: readonly string[];
  };
  readonly fromStored: (object: JsonObject) => JsonObject;
  /** A path such as `regarding.name` in the names of the store. */
  readonly toStoredPath: (path: string) => string;
}

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
  /** The columns of the Table form. */
  readonly columns: readonly Column[];
  /** What the server warns of with each answer, such as that the kind is deprecated. */
  readonly warning?: string;
  /** The shape of a built-in kind; absent for custom resources. */
  readonly schema?: ObjectSchema;
  /** Where a custom resource keeps what its Scale shows; built-in kinds have it at the usual places (SU-2). */
  readonly scalePaths?: ScalePaths;
  /** Set where the objects are those of another row. */
  readonly viewOf?: ResourceView;
  /** The OpenAPI v3 schema that a CustomResourceDefinition gave. */
  readonly openApi?: JsonObject;
  /** Whether `metadata.generation` is kept (OB-5). */
  readonly hasGeneration: boolean;
  /** Whether the generation counts changes of labels too. @default false */
  readonly countsLabels?: boolean;
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
  /** Adds defaults (OB-16) and the status of a new object (OB-2); everything but generic metadata. */
  prepareForCreate(object: JsonObject): JsonObject;
  /** Adds defaults, and what an update of the main resource may not change silently (status is the server's). */
  prepareForUpdate(object: JsonObject, old: JsonObject): JsonObject;
  /**
   * What changes in an object whose deletion begins at `at`, beyond its generic metadata. Such an object waits for what
   * depends on it, without a grace period.
   */
  readonly beginDeletion?: (object: JsonObject, at: string) => JsonObject;
  /** Returns why `object` may not be stored; empty when it may. `old` is absent on create (OB-17). */
  validate(object: JsonObject, old?: JsonObject): readonly Cause[];
  /** Returns the fields that are stored but have no effect here, which a warning says. */
  ineffectiveFields(object: JsonObject): readonly string[];
  /** Field selector labels beyond metadata.name and metadata.namespace (OB-14). */
  readonly fieldLabels: Readonly<Record<string, (object: JsonObject) => string>>;
  /** How strategic merge treats a list; `path` has member names only, such as `spec.template.spec.containers`. Undefined: the kind has no strategic merge at all (415). */
  readonly listMerge: ((path: string) => ListMerge | undefined) | undefined;
}
