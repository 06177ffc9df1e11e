import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, jsonIn } from '#base/json.ts';
import { invalid, type Parsed, valid } from '#base/parsed.ts';

/** Keys of `Service.Meta` under which a registration says of which pod it is (CONSUL-6). */
export interface PodKeys {
  /** @default `pod-name` */
  readonly podName: string;
  /** @default `k8s-namespace` */
  readonly namespace: string;
}

/** As Consul's own programs for Kubernetes write them. */
export const usualPodKeys: PodKeys = Object.freeze({
  podName: 'pod-name',
  namespace: 'k8s-namespace',
});

/** What is needed of one instance of a service. */
export interface ServiceInstance {
  /** Empty where it has none that can be read. */
  readonly id: string;
  /** The pod that it says it is of; undefined where it does not. */
  readonly podName: string | undefined;
  /** The namespace that it says that pod is in; undefined where it does not. */
  readonly namespace: string | undefined;
  /** Of the service itself; empty where it is that of its node. */
  readonly address: string;
  /** Empty where it cannot be read. */
  readonly nodeAddress: string;
  /** Whether all checks of the service and of its node pass (CONSUL-4). */
  readonly isPassing: boolean;
}

/**
 * Reads the answer to `GET /v1/health/service/{name}`, of which little is kept. What cannot be read of an instance counts as
 * not there, so that it passes nothing.
 *
 * @param keys where a registration says of which pod it is
 */
export function parseServiceHealth(
  text: string,
  keys: PodKeys,
): Parsed<readonly ServiceInstance[]> {
  const answer = jsonIn(text);
  if (!isJsonArray(answer)) return invalid('the answer', 'must be a list of instances in JSON');
  const strange = answer.findIndex((each) => !isJsonObject(each));
  if (strange >= 0) return invalid(`instance ${strange + 1}`, 'must be an object');
  return valid(answer.filter(isJsonObject).map((each) => instanceOf(each, keys)));
}

function instanceOf(entry: JsonObject, keys: PodKeys): ServiceInstance {
  const service = memberOf(entry, 'Service');
  const meta = memberOf(service, 'Meta');
  return {
    id: textOf(service['ID']),
    podName: textOf(meta[keys.podName]) || undefined,
    namespace: textOf(meta[keys.namespace]) || undefined,
    address: textOf(service['Address']),
    nodeAddress: textOf(memberOf(entry, 'Node')['Address']),
    isPassing: arePassing(entry['Checks']),
  };
}

/** Without any check a service passes, as Consul has it; without a list nothing is known. */
function arePassing(checks: JsonValue | undefined): boolean {
  return Array.isArray(checks) && checks.every(isPassing);
}

/** Somebody who sets a node or a service into maintenance gives it a check of that name. */
function isPassing(check: JsonValue): boolean {
  if (!isJsonObject(check) || check['Status'] !== 'passing') return false;
  const id = textOf(check['CheckID']);
  return id !== '_node_maintenance' && !id.startsWith('_service_maintenance');
}

function memberOf(parent: JsonObject, name: string): JsonObject {
  const value = parent[name];
  return isJsonObject(value) ? value : {};
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
