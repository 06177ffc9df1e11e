import type { JsonObject } from '#base/json.ts';
import { emptyObject, mapListAt, mapObjectAt, textAt, withMissing } from '../../json/members.ts';

const alwaysPulled: JsonObject = Object.freeze({
  imagePullPolicy: 'Always',
  resources: emptyObject,
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
});
const pulledIfAbsent: JsonObject = Object.freeze({
  ...alwaysPulled,
  imagePullPolicy: 'IfNotPresent',
});
const probeDefaults: JsonObject = Object.freeze({
  timeoutSeconds: 1,
  periodSeconds: 10,
  successThreshold: 1,
  failureThreshold: 3,
});
const httpGetDefaults: JsonObject = Object.freeze({ path: '/', scheme: 'HTTP' });
const grpcDefaults: JsonObject = Object.freeze({ service: '' });
const portDefaults: JsonObject = Object.freeze({ protocol: 'TCP' });
const fieldRefDefaults: JsonObject = Object.freeze({ apiVersion: 'v1' });
const resourceFieldDefaults: JsonObject = Object.freeze({ divisor: '0' });

/** Returns a container with the defaults of the API server (OB-16), for pods and templates alike. */
export function defaultContainer(container: JsonObject): JsonObject {
  const defaults = isPulledAlways(textAt(container, 'image')) ? alwaysPulled : pulledIfAbsent;
  let result = withMissing(container, defaults);
  result = mapListAt(result, 'ports', (port) => withMissing(port, portDefaults));
  result = mapListAt(result, 'env', defaultEnvVar);
  result = mapObjectAt(result, 'livenessProbe', defaultProbe);
  result = mapObjectAt(result, 'readinessProbe', defaultProbe);
  result = mapObjectAt(result, 'startupProbe', defaultProbe);
  return mapObjectAt(result, 'lifecycle', defaultLifecycle);
}

/** Returns a reference to a field of the pod, as in env and downward volumes. */
export function defaultDownwardItem(item: JsonObject): JsonObject {
  const result = mapObjectAt(item, 'fieldRef', (ref) => withMissing(ref, fieldRefDefaults));
  return mapObjectAt(result, 'resourceFieldRef', (ref) => withMissing(ref, resourceFieldDefaults));
}

/** Reports whether an image is pulled at each start by default: its tag is `latest`, or it has neither tag nor digest. */
export function isPulledAlways(image: string): boolean {
  const at = image.indexOf('@');
  const named = at < 0 ? image : image.slice(0, at);
  const colon = named.indexOf(':', named.lastIndexOf('/') + 1);
  return colon < 0 ? at < 0 : named.slice(colon + 1) === 'latest';
}

function defaultEnvVar(variable: JsonObject): JsonObject {
  return mapObjectAt(variable, 'valueFrom', defaultDownwardItem);
}

function defaultProbe(probe: JsonObject): JsonObject {
  let result = withMissing(probe, probeDefaults);
  result = mapObjectAt(result, 'httpGet', defaultHttpGet);
  return mapObjectAt(result, 'grpc', (grpc) => withMissing(grpc, grpcDefaults));
}

function defaultHttpGet(httpGet: JsonObject): JsonObject {
  return withMissing(httpGet, httpGetDefaults);
}

function defaultLifecycle(lifecycle: JsonObject): JsonObject {
  const change = (handler: JsonObject): JsonObject =>
    mapObjectAt(handler, 'httpGet', defaultHttpGet);
  return mapObjectAt(mapObjectAt(lifecycle, 'postStart', change), 'preStop', change);
}
