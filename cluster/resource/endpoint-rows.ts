import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { Cause } from '../errors/status-error.ts';
import { listAt, mapListAt, textAt, withMissing } from '../json/members.ts';
import type { ResourceRow } from '../resource-row.ts';
import { endpointSlice, endpoints } from '../schema/endpoint-kinds.ts';
import { servedTypes } from '../served-types.ts';
import { endpointSliceColumns, endpointsColumns } from './columns/endpoint-columns.ts';
import { defineRow } from './define-row.ts';
import { invalidValue, required } from './validation/causes.ts';
import { subdomainName, validateMetadata } from './validation/validate-metadata.ts';
import { isPort } from './validation/validate-pod-spec.ts';

const overTcp: JsonObject = Object.freeze({ protocol: 'TCP' });

function withPortDefaults(part: JsonObject, defaults: JsonObject): JsonObject {
  return mapListAt(part, 'ports', (port) => withMissing(port, defaults));
}

function portCauses(part: JsonObject, path: string): readonly Cause[] {
  const detail = 'must be between 1 and 65535, inclusive';
  return listAt(part, 'ports').flatMap((port, index) =>
    !isJsonObject(port) || isPort(port['port'])
      ? []
      : [invalidValue(`${path}ports[${index}].port`, port['port'], detail)],
  );
}

function validateEndpoints(object: JsonObject): readonly Cause[] {
  const subsets = listAt(object, 'subsets').filter(isJsonObject);
  return [
    ...validateMetadata(object, subdomainName),
    ...subsets.flatMap((subset, index) => portCauses(subset, `subsets[${index}].`)),
  ];
}

function validateSlice(slice: JsonObject, old: JsonObject | undefined): readonly Cause[] {
  const type = textAt(slice, 'addressType');
  const isChanged = old !== undefined && textAt(old, 'addressType') !== type;
  return [
    ...validateMetadata(slice, subdomainName),
    ...(type === '' ? [required('addressType')] : []),
    ...(isChanged ? [invalidValue('addressType', type, 'field is immutable')] : []),
    ...portCauses(slice, ''),
  ];
}

/** Where the pods of a Service are reached: for people, as nothing is reached there. */
export const endpointRows: readonly ResourceRow[] = Object.freeze([
  defineRow({
    type: servedTypes.endpoints,
    singular: 'endpoints',
    shortNames: ['ep'],
    schema: endpoints,
    columns: endpointsColumns,
    warning: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
    withDefaults: (object) =>
      mapListAt(object, 'subsets', (subset) => withPortDefaults(subset, overTcp)),
    validate: validateEndpoints,
    allowsUnconditionalUpdate: true,
  }),
  defineRow({
    type: servedTypes.endpointSlices,
    singular: 'endpointslice',
    schema: endpointSlice,
    columns: endpointSliceColumns,
    hasGeneration: true,
    countsLabels: true,
    withDefaults: (object) => {
      const complete = withPortDefaults(object, { name: '', ...overTcp });
      return mapListAt(complete, 'endpoints', (each) => withMissing(each, { conditions: {} }));
    },
    validate: validateSlice,
    allowsUnconditionalUpdate: true,
  }),
]);
