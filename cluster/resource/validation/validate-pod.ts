import type { JsonArray, JsonObject } from '#base/json.ts';
import { isJsonObject } from '#base/json.ts';
import type { Cause } from '../../errors/status-error.ts';
import { isSameJson } from '../../json/json-fields.ts';
import { emptyObject, listAt, objectAt, textAt } from '../../json/members.ts';
import { forbiddenField } from './causes.ts';
import { subdomainName, validateMetadata } from './validate-metadata.ts';
import { validatePodSpec } from './validate-pod-spec.ts';

/** Causes why a pod may not be stored; on an update its spec may change in few fields only (OB-17). */
export function validatePod(pod: JsonObject, old: JsonObject | undefined): readonly Cause[] {
  const metadata = validateMetadata(pod, subdomainName);
  const spec = objectAt(pod, 'spec') ?? emptyObject;
  if (old !== undefined && spec === old['spec']) return metadata;
  const causes = validatePodSpec(spec, { path: 'spec' });
  const changes = old === undefined ? [] : changeCauses(spec, objectAt(old, 'spec') ?? emptyObject);
  if (causes.length === 0 && changes.length === 0) return metadata;
  return [...metadata, ...causes, ...changes];
}

const immutableSpec =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

function changeCauses(spec: JsonObject, old: JsonObject): readonly Cause[] {
  const isAllowed =
    isSameJson(withoutMutable(spec), withoutMutable(old)) &&
    onlyAdds(listAt(old, 'tolerations'), listAt(spec, 'tolerations')) &&
    onlyAdds(listAt(spec, 'schedulingGates'), listAt(old, 'schedulingGates')) &&
    isAllowedGrace(spec, old) &&
    isAllowedDeadline(spec, old);
  return isAllowed ? [] : [forbiddenField('spec', immutableSpec)];
}

/** Returns the spec without what may change; ephemeral containers have a subresource of their own upstream. */
function withoutMutable(spec: JsonObject): JsonObject {
  const {
    activeDeadlineSeconds: _deadline,
    tolerations: _tolerations,
    schedulingGates: _gates,
    terminationGracePeriodSeconds: _grace,
    ...rest
  } = spec;
  return {
    ...rest,
    containers: withoutImages(listAt(spec, 'containers')),
    initContainers: withoutImages(listAt(spec, 'initContainers')),
  };
}

function withoutImages(containers: JsonArray): JsonArray {
  return containers.map((container) =>
    isJsonObject(container) && textAt(container, 'image') !== ''
      ? { ...container, image: '' }
      : container,
  );
}

function onlyAdds(before: JsonArray, after: JsonArray): boolean {
  return before.every((element) => after.some((other) => isSameJson(element, other)));
}

function isAllowedGrace(spec: JsonObject, old: JsonObject): boolean {
  const [next, last] = [
    spec['terminationGracePeriodSeconds'],
    old['terminationGracePeriodSeconds'],
  ];
  return next === last || (typeof last === 'number' && last < 0 && next === 1);
}

/** Reports whether a deadline may follow another: it may be set once, and shortened. */
function isAllowedDeadline(spec: JsonObject, old: JsonObject): boolean {
  const [next, last] = [spec['activeDeadlineSeconds'], old['activeDeadlineSeconds']];
  if (last === undefined || next === last) return true;
  return typeof next === 'number' && typeof last === 'number' && next >= 0 && next < last;
}
