import type { JsonObject, JsonValue } from '#base/json.ts';
import { isJsonObject } from '#base/json.ts';
import type { Cause } from '../../errors/status-error.ts';
import { isSameJson } from '../../json/json-fields.ts';
import { emptyObject, listAt, objectAt, textAt } from '../../json/members.ts';
import { quantityNanos } from '../../schema/quantity.ts';
import { forbiddenField, invalidValue, notSupported, required, tooLong } from './causes.ts';
import { serviceName, subdomainName, validateMetadata } from './validate-metadata.ts';
import { isPort } from './validate-pod-spec.ts';

const maxContentBytes = 1_048_576;
const configKeyRule =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/** Causes why a ConfigMap may not be stored. */
export function validateConfigMap(
  configMap: JsonObject,
  old: JsonObject | undefined,
): readonly Cause[] {
  return [
    ...validateMetadata(configMap, subdomainName),
    ...immutableCauses(configMap, old, ['data', 'binaryData']),
    ...contentCauses(configMap, ['data', 'binaryData']),
  ];
}

/** Causes why a Secret may not be stored; its type never changes. */
export function validateSecret(secret: JsonObject, old: JsonObject | undefined): readonly Cause[] {
  const isRetyped = old !== undefined && secret['type'] !== old['type'];
  return [
    ...validateMetadata(secret, subdomainName),
    ...(isRetyped ? [invalidValue('type', secret['type'], 'field is immutable')] : []),
    ...immutableCauses(secret, old, ['data']),
    ...contentCauses(secret, ['data']),
  ];
}

function immutableCauses(
  object: JsonObject,
  old: JsonObject | undefined,
  members: readonly string[],
): readonly Cause[] {
  if (old?.['immutable'] !== true) return [];
  const changed = members.filter((member) => !isSameJson(object[member], old[member]));
  if (object['immutable'] !== true) changed.unshift('immutable');
  return changed.map((member) =>
    forbiddenField(member, 'field is immutable when `immutable` is set'),
  );
}

function contentCauses(object: JsonObject, members: readonly string[]): readonly Cause[] {
  const causes: Cause[] = [];
  let size = 0;
  for (const member of members) {
    const content = objectAt(object, member) ?? emptyObject;
    for (const key of Object.keys(content)) {
      size += textAt(content, key).length;
      if (/^[-._a-zA-Z0-9]{1,253}$/.test(key)) continue;
      causes.push(invalidValue(`${member}[${key}]`, key, configKeyRule));
    }
  }
  return size > maxContentBytes ? [...causes, tooLong('', maxContentBytes)] : causes;
}

const serviceTypes = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];

/** Causes why a Service may not be stored; its cluster IP is set once. */
export function validateService(
  service: JsonObject,
  old: JsonObject | undefined,
): readonly Cause[] {
  const spec = objectAt(service, 'spec') ?? emptyObject;
  const type = textAt(spec, 'type');
  const needsPorts = type !== 'ExternalName' && textAt(spec, 'clusterIP') !== 'None';
  return [
    ...validateMetadata(service, serviceName),
    ...(serviceTypes.includes(type) ? [] : [notSupported('spec.type', type, serviceTypes)]),
    ...(needsPorts && listAt(spec, 'ports').length === 0 ? [required('spec.ports')] : []),
    ...listAt(spec, 'ports').flatMap(portCauses),
    ...addressCauses(spec, objectAt(old, 'spec')),
  ];
}

function portCauses(port: JsonValue, index: number): readonly Cause[] {
  if (!isJsonObject(port) || isPort(port['port'])) return [];
  const detail = 'must be between 1 and 65535, inclusive';
  return [invalidValue(`spec.ports[${index}].port`, port['port'], detail)];
}

function addressCauses(spec: JsonObject, old: JsonObject | undefined): readonly Cause[] {
  const [next, last] = [textAt(spec, 'clusterIP'), textAt(old, 'clusterIP')];
  const isExternal = [spec, old].some((each) => textAt(each, 'type') === 'ExternalName');
  if (last === '' || next === last || isExternal) return [];
  return [invalidValue('spec.clusterIPs[0]', [next], 'may not change once set')];
}

/** Causes why a PersistentVolumeClaim may not be stored; it may grow, and be bound once. */
export function validatePersistentVolumeClaim(
  claim: JsonObject,
  old: JsonObject | undefined,
): readonly Cause[] {
  const spec = objectAt(claim, 'spec') ?? emptyObject;
  const path = 'spec.resources[storage]';
  const oldSpec = objectAt(old, 'spec');
  return [
    ...validateMetadata(claim, subdomainName),
    ...(listAt(spec, 'accessModes').length === 0
      ? [required('spec.accessModes', 'at least 1 access mode is required')]
      : []),
    ...(storageOf(spec) === '' ? [required(path)] : []),
    ...(oldSpec === undefined ? [] : claimChangeCauses(spec, oldSpec)),
  ];
}

function storageOf(spec: JsonObject | undefined): string {
  return textAt(objectAt(objectAt(spec, 'resources'), 'requests'), 'storage');
}

function claimChangeCauses(spec: JsonObject, old: JsonObject): readonly Cause[] {
  const detail =
    'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
  if (!isSameJson(fixedPart(spec, old), fixedPart(old, old)))
    return [forbiddenField('spec', detail)];
  const [next, last] = [quantityNanos(storageOf(spec)), quantityNanos(storageOf(old))];
  if (next === undefined || last === undefined || next >= last) return [];
  const field = 'spec.resources.requests.storage';
  return [forbiddenField(field, 'field can not be less than status.capacity')];
}

/** Returns what may not change: members that are still unset in `old` may be set once by the binder. */
function fixedPart(spec: JsonObject, old: JsonObject): JsonObject {
  const { volumeAttributesClassName: _class, resources, ...rest } = spec;
  const limits = objectAt({ resources }, 'resources')?.['limits'];
  const settable = ['volumeName', 'storageClassName'].filter((member) => old[member] === undefined);
  return {
    ...Object.fromEntries(Object.entries(rest).filter(([member]) => !settable.includes(member))),
    limits,
  };
}
