import type { JsonObject, JsonValue } from '#base/json.ts';
import { isJsonObject } from '#base/json.ts';
import type { Cause } from '../../errors/status-error.ts';
import { listAt, objectAt, textAt } from '../../json/members.ts';
import { isDnsLabel } from '../../schema/name-formats.ts';
import { quantityNanos } from '../../schema/quantity.ts';
import { duplicate, invalidValue, notFoundValue, notSupported, required } from './causes.ts';
import { labelName } from './validate-metadata.ts';

const pullPolicies = ['Always', 'IfNotPresent', 'Never'];
const protocols = ['SCTP', 'TCP', 'UDP'];
const restartPolicies = ['Always', 'Never', 'OnFailure'];
const dnsPolicies = ['ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None'];

/** A spec under validation: where it is, and the volumes that its containers may mount besides its own. */
interface SpecPlace {
  readonly path: string;
  readonly claimNames?: readonly string[];
}

/** Causes of a pod spec, or of one in a template, that may not be stored (OB-17). */
export function validatePodSpec(spec: JsonObject, place: SpecPlace): readonly Cause[] {
  const causes: Cause[] = [];
  const { path } = place;
  const volumes = collectVolumeCauses(spec, path, causes);
  for (const name of place.claimNames ?? []) volumes.add(name);
  if (listAt(spec, 'containers').length === 0) causes.push(required(`${path}.containers`));
  const names = new Set<string>();
  for (const member of ['initContainers', 'containers', 'ephemeralContainers']) {
    for (const [index, container] of listAt(spec, member).entries()) {
      const at = { list: `${path}.${member}`, index, volumes, names };
      if (isJsonObject(container)) collectContainerCauses(container, at, causes);
    }
  }
  collectUnsupported(spec, { path, member: 'restartPolicy', supported: restartPolicies }, causes);
  collectUnsupported(spec, { path, member: 'dnsPolicy', supported: dnsPolicies }, causes);
  return causes;
}

function collectUnsupported(
  object: JsonObject,
  rule: { readonly path: string; readonly member: string; readonly supported: readonly string[] },
  causes: Cause[],
): void {
  const value = object[rule.member];
  if (typeof value !== 'string' || rule.supported.includes(value)) return;
  causes.push(notSupported(`${rule.path}.${rule.member}`, value, rule.supported));
}

function collectVolumeCauses(spec: JsonObject, path: string, causes: Cause[]): Set<string> {
  const names = new Set<string>();
  for (const [index, volume] of listAt(spec, 'volumes').entries()) {
    if (!isJsonObject(volume)) continue;
    collectNameCauses(volume, { list: `${path}.volumes`, index, names }, causes);
  }
  return names;
}

interface ListPlace {
  readonly list: string;
  readonly index: number;
  readonly names: Set<string>;
}

function collectNameCauses(element: JsonObject, at: ListPlace, causes: Cause[]): void {
  const name = textAt(element, 'name');
  if (name !== '' && isDnsLabel(name) && !at.names.has(name)) {
    at.names.add(name);
    return;
  }
  const field = `${at.list}[${at.index}].name`;
  if (name === '') causes.push(required(field));
  else if (at.names.has(name)) causes.push(duplicate(field, name));
  else causes.push(invalidValue(field, name, labelName.rule));
}

interface ContainerPlace extends ListPlace {
  readonly volumes: ReadonlySet<string>;
}

function collectContainerCauses(container: JsonObject, at: ContainerPlace, causes: Cause[]): void {
  collectNameCauses(container, at, causes);
  const image = textAt(container, 'image');
  if (image === '' || image !== image.trim()) causes.push(imageCause(image, at));
  const pullPolicy = textAt(container, 'imagePullPolicy');
  if (pullPolicy !== '' && !pullPolicies.includes(pullPolicy)) {
    causes.push(notSupported(`${pathOf(at)}.imagePullPolicy`, pullPolicy, pullPolicies));
  }
  collectPortCauses(container, at, causes);
  collectNameless(container, at, causes);
  collectMountCauses(container, at, causes);
  collectResourceCauses(container, at, causes);
}

function pathOf(at: ListPlace): string {
  return `${at.list}[${at.index}]`;
}

function imageCause(image: string, at: ListPlace): Cause {
  const field = `${pathOf(at)}.image`;
  return image === ''
    ? required(field)
    : invalidValue(field, image, 'must not have leading or trailing whitespace');
}

function collectPortCauses(container: JsonObject, at: ListPlace, causes: Cause[]): void {
  for (const [index, port] of listAt(container, 'ports').entries()) {
    if (!isJsonObject(port)) continue;
    const { containerPort, protocol } = port;
    if (!isPort(containerPort))
      causes.push(portCause(containerPort, `${pathOf(at)}.ports[${index}]`));
    if (typeof protocol === 'string' && !protocols.includes(protocol)) {
      causes.push(notSupported(`${pathOf(at)}.ports[${index}].protocol`, protocol, protocols));
    }
  }
}

/** Reports whether `value` is a TCP or UDP port. */
export function isPort(value: JsonValue | undefined): boolean {
  return typeof value === 'number' && value >= 1 && value <= 65_535;
}

function portCause(value: JsonValue | undefined, path: string): Cause {
  const field = `${path}.containerPort`;
  return value === undefined
    ? required(field)
    : invalidValue(field, value, 'must be between 1 and 65535, inclusive');
}

function collectNameless(container: JsonObject, at: ListPlace, causes: Cause[]): void {
  for (const [index, variable] of listAt(container, 'env').entries()) {
    if (isJsonObject(variable) && textAt(variable, 'name') === '') {
      causes.push(required(`${pathOf(at)}.env[${index}].name`));
    }
  }
}

function collectMountCauses(container: JsonObject, at: ContainerPlace, causes: Cause[]): void {
  for (const [index, mount] of listAt(container, 'volumeMounts').entries()) {
    if (!isJsonObject(mount)) continue;
    const name = textAt(mount, 'name');
    const field = `${pathOf(at)}.volumeMounts[${index}]`;
    if (name === '') causes.push(required(`${field}.name`));
    else if (!at.volumes.has(name)) causes.push(notFoundValue(`${field}.name`, name));
    if (textAt(mount, 'mountPath') === '') causes.push(required(`${field}.mountPath`));
  }
}

function collectResourceCauses(container: JsonObject, at: ListPlace, causes: Cause[]): void {
  const resources = objectAt(container, 'resources');
  const requests = objectAt(resources, 'requests');
  const limits = objectAt(resources, 'limits');
  if (requests === undefined || limits === undefined) return;
  for (const name in requests) {
    const [request, limit] = [textAt(requests, name), textAt(limits, name)];
    if (limit === '' || request === limit || isAtMost(request, limit)) continue;
    const detail = `must be less than or equal to ${name} limit of ${limit}`;
    causes.push(invalidValue(`${pathOf(at)}.resources.requests`, request, detail));
  }
}

function isAtMost(request: string, limit: string): boolean {
  const [asked, allowed] = [quantityNanos(request), quantityNanos(limit)];
  return asked === undefined || allowed === undefined || asked <= allowed;
}
