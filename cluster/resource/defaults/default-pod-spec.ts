import type { JsonObject } from '#base/json.ts';
import {
  emptyObject,
  mapListAt,
  mapObjectAt,
  textAt,
  withMember,
  withMissing,
} from '../../json/members.ts';
import { defaultContainer } from './default-container.ts';
import { defaultVolume } from './default-volume.ts';

const podSpecDefaults: JsonObject = Object.freeze({
  dnsPolicy: 'ClusterFirst',
  restartPolicy: 'Always',
  schedulerName: 'default-scheduler',
  securityContext: emptyObject,
  terminationGracePeriodSeconds: 30,
});

/** Returns the spec of a pod or of a template with the defaults that both have (OB-16). */
export function defaultPodSpec(spec: JsonObject): JsonObject {
  let result = withMissing(spec, podSpecDefaults);
  result = mapListAt(result, 'initContainers', defaultContainer);
  result = mapListAt(result, 'containers', defaultContainer);
  result = mapListAt(result, 'ephemeralContainers', defaultContainer);
  result = mapListAt(result, 'volumes', defaultVolume);
  return withServiceAccount(result);
}

/** Returns a pod template with defaults; the metadata are there even when empty. */
export function defaultPodTemplate(template: JsonObject): JsonObject {
  return mapObjectAt(withMissing(template, { metadata: emptyObject }), 'spec', defaultPodSpec);
}

/**
 * Returns a spec with `serviceAccount`, the deprecated twin of `serviceAccountName`, and that; the server always answers
 * both.
 */
export function withServiceAccount(spec: JsonObject): JsonObject {
  const name = textAt(spec, 'serviceAccountName');
  if (name !== '') return withMember(spec, 'serviceAccount', name);
  const old = textAt(spec, 'serviceAccount');
  return old === '' ? spec : withMember(spec, 'serviceAccountName', old);
}
