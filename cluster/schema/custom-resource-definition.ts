import { bool, fields, int, json, kept, list, listBy, text, time } from './field-schema.ts';
import { kindOf } from './metadata.ts';

const names = {
  plural: kept(text),
  singular: text,
  shortNames: list(text),
  kind: kept(text),
  listKind: text,
  categories: list(text),
};

const version = fields({
  name: kept(text),
  served: kept(bool),
  storage: kept(bool),
  deprecated: bool,
  deprecationWarning: kept(text),
  // The keywords inside are read where the schema is compiled.
  schema: fields({ openAPIV3Schema: json }),
  subresources: fields({
    status: json,
    scale: fields({
      specReplicasPath: kept(text),
      statusReplicasPath: kept(text),
      labelSelectorPath: kept(text),
    }),
  }),
  additionalPrinterColumns: list(
    fields({
      name: kept(text),
      type: kept(text),
      format: text,
      description: text,
      priority: int,
      jsonPath: kept(text),
    }),
  ),
  selectableFields: list(fields({ jsonPath: kept(text) })),
});

/** CustomResourceDefinition. */
export const customResourceDefinition = kindOf({
  spec: fields({
    group: kept(text),
    names: fields(names),
    scope: kept(text),
    versions: list(version),
    conversion: fields({ strategy: kept(text), webhook: json }),
    preserveUnknownFields: bool,
  }),
  status: fields({
    conditions: listBy(
      'type',
      fields({
        type: kept(text),
        status: kept(text),
        lastTransitionTime: time,
        reason: text,
        message: text,
        observedGeneration: int,
      }),
    ),
    acceptedNames: fields(names),
    storedVersions: kept(list(text)),
    observedGeneration: int,
  }),
});
