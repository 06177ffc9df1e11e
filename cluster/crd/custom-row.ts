import { isJsonArray, isJsonObject, type JsonObject } from '#base/json.ts';
import type { ResourceType } from '#kubernetes/resource-type.ts';
import { undecodable } from '../errors/status-errors.ts';
import { objectField, textField, textsField } from '../json/json-fields.ts';
import { allVerbs, scaleSubresource, statusSubresource } from '../resource/define-row.ts';
import { invalidValue } from '../resource/validation/causes.ts';
import { subdomainName, validateMetadata } from '../resource/validation/validate-metadata.ts';
import type { ResourceRow, SubresourceRow } from '../resource-row.ts';
import { compileDecoder } from '../schema/compile-decoder.ts';
import { objectMeta } from '../schema/metadata.ts';
import { DecodeError, Trail } from '../schema/trail.ts';
import { objectWithDefaults } from './default-values.ts';
import { compileJsonPath } from './json-path.ts';
import { printerColumns } from './printer-columns.ts';
import { pruneObject } from './prune.ts';
import { validateValue } from './validate-value.ts';

/** Returns the rows that an established `definition` serves, one per served version (CR-2, CR-5). */
export function customRows(definition: JsonObject): readonly ResourceRow[] {
  const { versions } = objectField(definition, 'spec');
  if (!isJsonArray(versions)) return [];
  return versions
    .filter(isJsonObject)
    .filter(({ served }) => served === true)
    .map((version) => customRow(definition, version));
}

function customRow(definition: JsonObject, version: JsonObject): ResourceRow {
  const spec = objectField(definition, 'spec');
  const names = objectField(spec, 'names');
  const type: ResourceType = Object.freeze({
    group: textField(spec, 'group'),
    version: textField(version, 'name'),
    plural: textField(names, 'plural'),
    kind: textField(names, 'kind'),
    isNamespaced: textField(spec, 'scope') === 'Namespaced',
  });
  const schema = objectField(objectField(version, 'schema'), 'openAPIV3Schema');
  const hasRules = JSON.stringify(schema).includes('"x-kubernetes-validations"');
  const isLeaving = objectField(definition, 'metadata')['deletionTimestamp'] !== undefined;
  return Object.freeze({
    type,
    singular: textField(names, 'singular'),
    shortNames: textsField(names, 'shortNames'),
    categories: textsField(names, 'categories'),
    // Nothing may be added while the definition goes.
    verbs: isLeaving ? allVerbs.filter((verb) => verb !== 'create') : allVerbs,
    ...subresourcesOf(version, type.kind),
    columns: printerColumns(version),
    openApi: schema,
    hasGeneration: true,
    allowsCreateOnUpdate: false,
    allowsUnconditionalUpdate: false,
    isGraceful: false,
    answersDeleted: false,
    decode: decoderOf(type, schema),
    prepareForCreate: (object: JsonObject) => objectWithDefaults(object, schema),
    prepareForUpdate: (object: JsonObject) => objectWithDefaults(object, schema),
    validate: (object: JsonObject) => {
      const causes = [
        ...validateMetadata(object, subdomainName),
        ...validateValue(object, schema, ''),
      ];
      return hasRules && causes.some(({ reason }) => blocking.has(reason))
        ? [...causes, unchecked]
        : causes;
    },
    ineffectiveFields: () => [],
    fieldLabels: selectableFields(version),
    listMerge: undefined,
  });
}

/** Causes that keep the rules of a schema from being looked at. */
const blocking: ReadonlySet<string> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

/** Rules that were not looked at are reported; that there is no engine for them here makes no difference. */
const unchecked = invalidValue(
  '<nil>',
  null,
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
);

function subresourcesOf(
  version: JsonObject,
  kind: string,
): Pick<ResourceRow, 'scalePaths' | 'subresources'> {
  const declared = objectField(version, 'subresources');
  const subresources: SubresourceRow[] = [];
  const scale = objectField(declared, 'scale');
  const specReplicas = textField(scale, 'specReplicasPath');
  if (specReplicas !== '') subresources.push(scaleSubresource);
  if (isJsonObject(declared['status'])) subresources.push(statusSubresource(kind));
  if (specReplicas === '') return { subresources };
  const selector = textField(scale, 'labelSelectorPath');
  const scalePaths = {
    specReplicas,
    statusReplicas: textField(scale, 'statusReplicasPath'),
    ...(selector === '' ? {} : { selector }),
  };
  return { subresources, scalePaths };
}

const decodeMetadata = compileDecoder(objectMeta);

function decoderOf(type: ResourceType, schema: JsonObject): ResourceRow['decode'] {
  return (object) => {
    const trail = new Trail();
    trail.enter('metadata');
    const pruned = pruneObject(object, schema);
    try {
      const metadata = decodeMetadata(objectField(object, 'metadata'), trail) ?? {};
      const unknown = [...trail.unknown, ...pruned.unknown];
      return { object: { ...pruned.object, metadata }, unknown };
    } catch (error) {
      if (error instanceof DecodeError) throw undecodable({ type }, error.message);
      throw error;
    }
  };
}

function selectableFields(version: JsonObject): ResourceRow['fieldLabels'] {
  const given = version['selectableFields'];
  if (!isJsonArray(given)) return {};
  const labels = given.filter(isJsonObject).map((field) => {
    const path = textField(field, 'jsonPath');
    const read = compileJsonPath(path);
    const label = (object: JsonObject): string => {
      const value = read?.(object) ?? '';
      return typeof value === 'string' ? value : JSON.stringify(value);
    };
    return [path.replace(/^\./, ''), label] as const;
  });
  return Object.fromEntries(labels);
}
