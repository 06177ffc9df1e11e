import type { PodAddress } from '#statefulset/view.ts';
import type { ServiceInstance } from './parse-consul.ts';

/** A pod, as far as registrations name it. */
export interface RegisteredPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Undefined before it has one. */
  readonly address?: PodAddress;
}

/** The pods of one set, by what a registration may name. */
interface PodIndex {
  readonly byName: ReadonlyMap<string, RegisteredPod>;
  /** Undefined for an address that more than one has, or that is a node's. */
  readonly byAddress: ReadonlyMap<string, RegisteredPod | undefined>;
}

/**
 * Returns the uids of the pods that a service passes: those with an instance of theirs, all of which pass. Instances of no pod
 * of the set are of other clusters, or old, and count for nothing (CONSUL-7).
 *
 * @param pods of one set
 */
export function passingPods(
  instances: readonly ServiceInstance[],
  pods: readonly RegisteredPod[],
): ReadonlySet<string> {
  const index = indexOf(pods);
  const passing = new Map<string, boolean>();
  for (const instance of instances) {
    const pod = podOf(instance, index);
    if (pod === undefined) continue;
    passing.set(pod.uid, instance.isPassing && passing.get(pod.uid) !== false);
  }
  return new Set([...passing.keys()].filter((uid) => passing.get(uid) === true));
}

/** Returns the pods that pass in all of `services` (CONSUL-10). */
export function passingInAll(
  services: readonly (readonly ServiceInstance[])[],
  pods: readonly RegisteredPod[],
): ReadonlySet<string> {
  const sets = services.map((instances) => passingPods(instances, pods));
  const uids = pods.map(({ uid }) => uid);
  return new Set(uids.filter((uid) => sets.every((passing) => passing.has(uid))));
}

function indexOf(pods: readonly RegisteredPod[]): PodIndex {
  const byName = new Map(pods.map((pod) => [pod.name, pod]));
  const byAddress = new Map<string, RegisteredPod | undefined>();
  for (const pod of pods) {
    if (pod.address === undefined) continue;
    const { pod: ip, host } = pod.address;
    const isItsOwn = host !== undefined && host !== ip && !byAddress.has(ip);
    byAddress.set(ip, isItsOwn ? pod : undefined);
  }
  return { byName, byAddress };
}

/** Returns the pod that an instance belongs to now; undefined where it belongs to none, or to one in another namespace. */
function podOf(instance: ServiceInstance, index: PodIndex): RegisteredPod | undefined {
  const { namespace } = instance;
  const pod = namedBy(instance, index) ?? addressedBy(instance, index);
  const isElsewhere = namespace !== undefined && namespace !== pod?.namespace;
  return pod !== undefined && !isElsewhere && isCurrent(instance, pod) ? pod : undefined;
}

/** Finds the pod by the name in the metadata of the instance, else by its id. */
function namedBy({ id, podName }: ServiceInstance, index: PodIndex): RegisteredPod | undefined {
  return podName === undefined ? podInId(id, index) : index.byName.get(podName);
}

/** Finds the pod by its address, unless the instance names one: `web-1-0-http` with the name `web-1-0` is neither of `web-1` nor of another pod at its address. */
function addressedBy(
  { podName, address, nodeAddress }: ServiceInstance,
  { byAddress }: PodIndex,
): RegisteredPod | undefined {
  return podName === undefined ? byAddress.get(address === '' ? nodeAddress : address) : undefined;
}

/** Of a name in Kubernetes. */
const longestName = 253;

/** Finds the pod whose name is the id, or its beginning up to a `-`; the longest such name. */
function podInId(id: string, { byName }: PodIndex): RegisteredPod | undefined {
  const whole = id.length <= longestName ? id.length : id.lastIndexOf('-', longestName);
  for (let end = whole; end > 0; end = id.lastIndexOf('-', end - 1)) {
    const found = byName.get(id.slice(0, end));
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Reports whether an instance is of the pod as it is now, and not of one that had its name before (CONSUL-8). A service without an address
 * has that of its node, which may be the pod's own, or the one of the machine that the pod is on.
 */
function isCurrent({ address, nodeAddress }: ServiceInstance, pod: RegisteredPod): boolean {
  if (address !== '') return address === pod.address?.pod;
  return [pod.address?.pod, pod.address?.host, ''].includes(nodeAddress);
}
