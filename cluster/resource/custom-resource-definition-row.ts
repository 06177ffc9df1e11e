import type { JsonObject, JsonValue } from '#base/json.ts';
import { isJsonObject } from '#base/json.ts';
import type { Cause } from '../errors/status-error.ts';
import {
  emptyObject,
  listAt,
  mapObjectAt,
  objectAt,
  textAt,
  withMissing,
} from '../json/members.ts';
import type { ResourceRow } from '../resource-row.ts';
import { compilePattern } from '../schema/compile-pattern.ts';
import { customResourceDefinition } from '../schema/custom-resource-definition.ts';
import { createdAtColumn, nameColumn } from './columns/column.ts';
import { defineRow, statusSubresource } from './define-row.ts';
import { forbiddenField, invalidValue, notSupported, required } from './validation/causes.ts';
import { subdomainName, validateMetadata } from './validation/validate-metadata.ts';

function specOf(definition: JsonObject): JsonObject {
  return objectAt(definition, 'spec') ?? emptyObject;
}

function withNames(names: JsonObject): JsonObject {
  const kind = textAt(names, 'kind');
  return withMissing(names, { listKind: `${kind}List`, singular: kind.toLowerCase() });
}

function defaulted(definition: JsonObject): JsonObject {
  return mapObjectAt(definition, 'spec', (spec) =>
    mapObjectAt(withMissing(spec, { conversion: { strategy: 'None' } }), 'names', withNames),
  );
}

/** What holds a deleted definition until its instances are gone. */
export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';

function beginDeletion(definition: JsonObject, at: string): JsonObject {
  const condition = {
    type: 'Terminating',
    status: 'True',
    lastTransitionTime: at,
    reason: 'InstanceDeletionPending',
    message:
      'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
  };
  const finalizers = (metadata: JsonObject): readonly JsonValue[] => [
    ...new Set([...listAt(metadata, 'finalizers'), CLEANUP_FINALIZER]),
  ];
  const marked = mapObjectAt(definition, 'metadata', (metadata) => ({
    ...metadata,
    finalizers: finalizers(metadata),
  }));
  const status = objectAt(definition, 'status') ?? emptyObject;
  return {
    ...marked,
    status: { ...status, conditions: [...listAt(status, 'conditions'), condition] },
  };
}

function validate(definition: JsonObject, old: JsonObject | undefined): readonly Cause[] {
  const spec = specOf(definition);
  const names = objectAt(spec, 'names');
  const [group, plural] = [textAt(spec, 'group'), textAt(names, 'plural')];
  const name = textAt(objectAt(definition, 'metadata'), 'name');
  const wanted = `${plural}.${group}`;
  const detail = `must be spec.names.plural+"."+spec.group`;
  return [
    ...validateMetadata(definition, subdomainName),
    ...(name === wanted ? [] : [invalidValue('metadata.name', name, detail)]),
    ...(group === '' ? [required('spec.group')] : []),
    ...(plural === '' ? [required('spec.names.plural')] : []),
    ...(textAt(names, 'kind') === '' ? [required('spec.names.kind')] : []),
    ...scopeCauses(spec, old),
    ...conversionCauses(spec),
    ...versionCauses(spec),
  ];
}

const SCOPES = ['Cluster', 'Namespaced'];

function scopeCauses(spec: JsonObject, old: JsonObject | undefined): readonly Cause[] {
  const scope = textAt(spec, 'scope');
  if (!SCOPES.includes(scope)) return [notSupported('spec.scope', scope, SCOPES)];
  const before = old === undefined ? scope : textAt(specOf(old), 'scope');
  return before === scope ? [] : [invalidValue('spec.scope', scope, 'field is immutable')];
}

function conversionCauses(spec: JsonObject): readonly Cause[] {
  const strategy = textAt(objectAt(spec, 'conversion'), 'strategy');
  if (strategy === 'None') return [];
  // Refused rather than stored without effect: objects would be served wrongly (CR-5).
  const field = 'spec.conversion.strategy';
  return [
    forbiddenField(field, `the embedded cluster converts with "None" only: got "${strategy}"`),
  ];
}

function versionCauses(spec: JsonObject): readonly Cause[] {
  const versions = listAt(spec, 'versions').filter(isJsonObject);
  if (versions.length === 0) return [required('spec.versions')];
  const causes: Cause[] = [];
  const stored = versions.filter(({ storage }) => storage === true).length;
  if (stored !== 1) {
    const detail = 'must have exactly one version marked as storage version';
    causes.push(invalidValue('spec.versions', stored, detail));
  }
  for (const [index, version] of versions.entries()) {
    const path = `spec.versions[${index}].schema.openAPIV3Schema`;
    const schema = objectAt(objectAt(version, 'schema'), 'openAPIV3Schema');
    if (schema === undefined) causes.push(required(path, 'schemas are required'));
    else if (textAt(schema, 'type') !== 'object') {
      causes.push(invalidValue(`${path}.type`, schema['type'], 'must be object at the root'));
    } else causes.push(...patternCauses(schema, path));
  }
  return causes;
}

/** Returns the causes for patterns that cannot be read here: a schema that is not enforced must not be served. */
function patternCauses(schema: JsonObject, path: string): readonly Cause[] {
  const causes: Cause[] = [];
  for (const [name, value] of Object.entries(schema)) {
    const isPattern = name === 'pattern' && typeof value === 'string';
    if (isPattern && compilePattern(value) === undefined) {
      causes.push(invalidValue(`${path}.pattern`, value, 'must be a valid regular expression'));
    }
    if (isJsonObject(value)) causes.push(...patternCauses(value, `${path}.${name}`));
  }
  return causes;
}

/** Reports whether `value` has a rule in CEL anywhere: those are not evaluated (CR-4). */
function hasRules(value: unknown): boolean {
  return JSON.stringify(value ?? null).includes('"x-kubernetes-validations"');
}

/** CustomResourceDefinitions (SR-1). */
export const customResourceDefinitionRow: ResourceRow = defineRow({
  type: {
    group: 'apiextensions.k8s.io',
    version: 'v1',
    plural: 'customresourcedefinitions',
    kind: 'CustomResourceDefinition',
    isNamespaced: false,
  },
  singular: 'customresourcedefinition',
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  schema: customResourceDefinition,
  columns: [nameColumn, createdAtColumn],
  subresources: [statusSubresource('CustomResourceDefinition')],
  hasGeneration: true,
  withDefaults: defaulted,
  prepareForCreate: (definition) => ({ ...definition, status: { storedVersions: [] } }),
  beginDeletion,
  validate,
  ineffectiveFields: (definition) =>
    hasRules(specOf(definition)['versions']) ? ['x-kubernetes-validations'] : [],
});
