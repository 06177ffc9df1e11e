import type { JsonObject } from '#base/json.ts';
import {
  emptyObject,
  mapListAt,
  mapObjectAt,
  objectAt,
  textAt,
  withMissing,
} from '../../json/members.ts';

const specDefaults: JsonObject = Object.freeze({ sessionAffinity: 'None', type: 'ClusterIP' });
const internal: JsonObject = Object.freeze({ internalTrafficPolicy: 'Cluster' });
const external: JsonObject = Object.freeze({ externalTrafficPolicy: 'Cluster' });
const families: JsonObject = Object.freeze({ ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' });

/** Returns a Service with the defaults of create and update. */
export function defaultService(service: JsonObject): JsonObject {
  return mapObjectAt(withMissing(service, { spec: emptyObject }), 'spec', (spec) => {
    let result = withMissing(spec, specDefaults);
    result = mapListAt(result, 'ports', defaultPort);
    result = withTrafficPolicies(result);
    return textAt(result, 'sessionAffinity') === 'ClientIP'
      ? withMissing(result, { sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } } })
      : result;
  });
}

function defaultPort(port: JsonObject): JsonObject {
  return withMissing(port, { protocol: 'TCP', targetPort: port['port'] ?? 0 });
}

function withTrafficPolicies(spec: JsonObject): JsonObject {
  const type = textAt(spec, 'type');
  if (type === 'ExternalName') return spec;
  const result = withMissing(spec, internal);
  if (type === 'LoadBalancer') {
    return withMissing(result, { ...external, allocateLoadBalancerNodePorts: true });
  }
  return type === 'NodePort' ? withMissing(result, external) : result;
}

/** Returns a new Service with its addresses; the cluster IP follows from namespace and name. */
export function prepareNewService(service: JsonObject): JsonObject {
  const addressed = mapObjectAt(service, 'spec', (spec) => {
    if (textAt(spec, 'type') === 'ExternalName') return spec;
    const clusterIP = textAt(spec, 'clusterIP') || clusterAddressOf(service);
    return withMissing({ ...spec, clusterIP, clusterIPs: [clusterIP] }, families);
  });
  return { ...addressed, status: { loadBalancer: emptyObject } };
}

/** Returns a Service with the addresses that the update does not name. */
export function prepareChangedService(service: JsonObject, old: JsonObject): JsonObject {
  const stored = addressesOf(objectAt(old, 'spec') ?? emptyObject);
  return mapObjectAt(service, 'spec', (spec) =>
    textAt(spec, 'type') === 'ExternalName' ? spec : withMissing(spec, stored),
  );
}

const addressMembers = ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy'];

function addressesOf(spec: JsonObject): JsonObject {
  return Object.fromEntries(
    addressMembers.flatMap((member) => {
      const value = spec[member];
      return value === undefined ? [] : [[member, value]];
    }),
  );
}

/** Returns an address in 10.96.0.0/12 that depends on namespace and name alone: no allocator, no repeat in practice. */
function clusterAddressOf(service: JsonObject): string {
  const metadata = objectAt(service, 'metadata');
  const text = `${textAt(metadata, 'namespace')}/${textAt(metadata, 'name')}`;
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
  }
  return `10.${96 + ((hash >>> 16) & 15)}.${(hash >>> 8) & 255}.${1 + (hash % 254)}`;
}
