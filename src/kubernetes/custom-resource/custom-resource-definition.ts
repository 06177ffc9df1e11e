import type { JsonObject } from '#base/json.ts';
import type { ResourceType } from '../resource-type.ts';

/** What `kubectl get` shows of an object in addition to its name; with any column declared, its age is one of them or not shown. */
type PrinterColumn = {
  readonly name: string;
  readonly type: 'boolean' | 'date' | 'integer' | 'number' | 'string';
  readonly description?: string;
  /** Above 0: only with `-o wide`. @default 0 */
  readonly priority?: number;
  readonly jsonPath: string;
};

/** Where an autoscaler finds what it reads and writes of an object, as JSON paths. */
type ScalePaths = {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
};

/** A kind of our own, which the server serves in one version. */
export interface CustomResource {
  readonly type: ResourceType;
  /** What users may call it by in addition to its plural and singular. */
  readonly names?: {
    readonly shortNames?: readonly string[];
    readonly categories?: readonly string[];
  };
  /** @default none: the server shows name and age */
  readonly columns?: readonly PrinterColumn[];
  /** @default none: nothing can scale it */
  readonly scale?: ScalePaths;
  /** The `openAPIV3Schema`. */
  readonly schema: JsonObject;
}

/** Returns the schema of a resource with `parts` in addition to what every object has. */
export function schemaOf(parts: Readonly<Record<'spec' | 'status', JsonObject>>): JsonObject {
  return {
    type: 'object',
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      ...parts,
    },
  };
}

/** Returns the CustomResourceDefinition of `resource`, whose status is a subresource of its own. */
export function definitionOf(resource: CustomResource): JsonObject {
  const { type, names, columns, scale, schema } = resource;
  const { group, version, plural, kind, isNamespaced } = type;
  return Object.freeze({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: isNamespaced ? 'Namespaced' : 'Cluster',
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase(), ...names },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          ...(columns !== undefined && { additionalPrinterColumns: columns }),
          subresources: { status: {}, ...(scale !== undefined && { scale }) },
          schema: { openAPIV3Schema: schema },
        },
      ],
    },
  });
}
