import type { JsonObject } from '#base/json.ts';
import type { EndpointPod, ServiceView } from './views.ts';

/** An object to be written. */
export interface NamedBody extends JsonObject {
  readonly metadata: JsonObject & { readonly name: string };
}

/** The objects that show where the pods of a Service are reached. */
export interface EndpointBodies {
  readonly endpoints: NamedBody;
  readonly slice: NamedBody;
}

/** Returns where `pods` of the namespace of `service` are reached through it; undefined where it selects none itself. */
export function planEndpoints(
  service: ServiceView,
  pods: readonly EndpointPod[],
): EndpointBodies | undefined {
  if (Object.keys(service.selector).length === 0) return undefined;
  const reached = pods
    .filter((pod) => isSelected(service, pod) && pod.ip !== '' && !pod.isOver)
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return { endpoints: endpointsOf(service, reached), slice: sliceOf(service, reached) };
}

function isSelected({ selector }: ServiceView, { labels }: EndpointPod): boolean {
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
}

/** Returns the ports as seen on `pod`; one whose name no container has is left out. */
function portsOn(service: ServiceView, pod: EndpointPod): readonly JsonObject[] {
  return service.ports.flatMap(({ name, port, targetPort = port, protocol = 'TCP' }) => {
    const number =
      typeof targetPort === 'number'
        ? targetPort
        : pod.containerPorts.find((each) => each['name'] === targetPort)?.['containerPort'];
    if (typeof number !== 'number') return [];
    return [{ ...(name === undefined ? {} : { name }), port: number, protocol }];
  });
}

function targetOf({ namespace, name, uid }: EndpointPod): JsonObject {
  return { kind: 'Pod', namespace, name, uid };
}

function hostnameIn(service: ServiceView, pod: EndpointPod): JsonObject {
  const isNamed = pod.hostname !== '' && pod.subdomain === service.name;
  return isNamed ? { hostname: pod.hostname } : {};
}

function isServed({ publishesNotReady }: ServiceView, { isReady }: EndpointPod): boolean {
  return isReady || publishesNotReady;
}

function endpointsOf(service: ServiceView, pods: readonly EndpointPod[]): NamedBody {
  const shown = pods.filter((pod) => !pod.isTerminating || service.publishesNotReady);
  const groups = Map.groupBy(shown, (pod) => JSON.stringify(portsOn(service, pod)));
  const { namespace, name } = service;
  return {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { namespace, name, labels: labelsOf(service, {}) },
    subsets: [...groups.values()].map((group) => subsetOf(service, group)),
  };
}

function subsetOf(service: ServiceView, pods: readonly EndpointPod[]): JsonObject {
  const addresses = (isReady: boolean): readonly JsonObject[] =>
    pods
      .filter((pod) => isServed(service, pod) === isReady)
      .map((pod) => ({
        ip: pod.ip,
        ...hostnameIn(service, pod),
        nodeName: pod.nodeName,
        targetRef: targetOf(pod),
      }));
  const [first] = pods;
  return {
    addresses: addresses(true),
    notReadyAddresses: addresses(false),
    ports: first === undefined ? [] : portsOn(service, first),
  };
}

function sliceOf(service: ServiceView, pods: readonly EndpointPod[]): NamedBody {
  const { namespace, name, uid } = service;
  const [first] = pods;
  const owner = { apiVersion: 'v1', kind: 'Service', name, uid };
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      namespace,
      name: `${name}-${uid.slice(0, 5)}`,
      labels: labelsOf(service, { 'kubernetes.io/service-name': name }),
      ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
    },
    addressType: 'IPv4',
    endpoints: pods.map((pod) => ({
      addresses: [pod.ip],
      conditions: {
        ready: isServed(service, pod) && (!pod.isTerminating || service.publishesNotReady),
        serving: pod.isReady,
        terminating: pod.isTerminating,
      },
      ...hostnameIn(service, pod),
      nodeName: pod.nodeName,
      targetRef: targetOf(pod),
    })),
    ports: first === undefined ? [] : portsOn(service, first),
  };
}

function labelsOf(service: ServiceView, more: JsonObject): JsonObject {
  const headless = service.isHeadless ? { 'service.kubernetes.io/headless': '' } : {};
  return { ...service.labels, ...headless, ...more };
}
