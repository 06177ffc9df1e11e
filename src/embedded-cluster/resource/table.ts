import type { ResourceRow } from '#embedded-cluster/resource-row.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';

/** The resources served before any CustomResourceDefinition (SR-1…SR-4). */
export const resourceTable: readonly ResourceRow[] = Object.freeze([
  {
    type: resourceTypes.configMaps,
    singular: 'configmap',
    shortNames: ['cm'],
    categories: [],
    verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
    subresources: [],
    hasGeneration: false,
    allowsCreateOnUpdate: false,
    allowsUnconditionalUpdate: true,
    isGraceful: false,
    decode: (object) => ({ object, unknown: [] }),
    prepareForCreate: (object) => object,
    prepareForUpdate: (object) => object,
    validate: () => [],
    ineffectiveFields: () => [],
    fieldLabels: {},
    listMerge: () => undefined,
  } satisfies ResourceRow,
]);
