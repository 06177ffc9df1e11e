import { isJsonObject, type JsonObject, type JsonValue, jsonIn } from '#base/json.ts';
import { type Parsed, type Problem, valid } from '#base/parsed.ts';
import { ListedObjects } from './listed-objects.ts';

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

/** A set has up to 1,000 pods: so many registrations are ten of each, those of other clusters and of former pods included. */
const mostInstances = 10_000;
/** In bytes; Consul cuts the output of a check at 4 KiB, of which this holds thirty. */
const longestInstance = 131_072;

/**
 * Reads the answer to `GET /v1/health/service/{name}` as it comes, of which little is kept. What cannot be read of an instance
 * counts as not there, so that it passes nothing.
 */
export class ServiceHealthReader {
  readonly #instances: ServiceInstance[] = [];
  readonly #list: ListedObjects;

  /** Starts without an instance. @param keys where a registration names its pod */
  constructor(keys: PodKeys) {
    const bounds = { mostObjects: mostInstances, longestObject: longestInstance };
    this.#list = new ListedObjects(bounds, (text) => this.#add(text, keys));
  }

  /** Reads on. @returns what is wrong with the answer, of which nothing more is to be read then */
  take(piece: Uint8Array): Problem | undefined {
    return this.#list.take(piece);
  }

  /** Returns the instances once the answer has ended. */
  end(): Parsed<readonly ServiceInstance[]> {
    const problem = this.#list.end();
    return problem === undefined ? valid(this.#instances) : { kind: 'invalid', problem };
  }

  #add(text: string, keys: PodKeys): Problem | undefined {
    const entry = jsonIn(text);
    if (!isJsonObject(entry))
      return { path: `instance ${this.#list.count}`, message: 'must be an object in JSON' };
    this.#instances.push(instanceOf(entry, keys));
    return undefined;
  }
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

/** Reports whether all checks pass: without any a service passes, as in Consul; without a list nothing is known. */
function arePassing(checks: JsonValue | undefined): boolean {
  return Array.isArray(checks) && checks.every(isPassing);
}

/** Reports whether a check passes, and is not one of maintenance, which Consul adds under these names. */
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
