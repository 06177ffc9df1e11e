import type { JsonObject, JsonValue } from '#base/json.ts';
import { isJsonObject } from '#base/json.ts';
import {
  emptyObject,
  listAt,
  mapListAt,
  mapObjectAt,
  objectAt,
  textAt,
  withMember,
  withMissing,
} from '../../json/members.ts';
import { defaultPodSpec, withServiceAccount } from './default-pod-spec.ts';
import { qosClassOf } from './qos-class.ts';

const linked: JsonObject = Object.freeze({ enableServiceLinks: true });
const admitted: JsonObject = Object.freeze({
  preemptionPolicy: 'PreemptLowerPriority',
  priority: 0,
});
const namedAccount: JsonObject = Object.freeze({ serviceAccountName: 'default' });

/** Priorities of the classes that every cluster has; others do not exist here. */
const builtInPriorities: Readonly<Record<string, number>> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
};

/** Returns a pod with the defaults of create and update (OB-16). */
export function defaultPod(pod: JsonObject): JsonObject {
  return mapObjectAt(pod, 'spec', (spec) => {
    let result = withMissing(defaultPodSpec(spec), linked);
    result = mapListAt(result, 'initContainers', withRequests);
    result = mapListAt(result, 'containers', withRequests);
    if (isNegative(result['terminationGracePeriodSeconds'])) {
      result = { ...result, terminationGracePeriodSeconds: 1 };
    }
    return result['hostNetwork'] === true ? withHostPorts(result) : result;
  });
}

function isNegative(value: JsonValue | undefined): boolean {
  return typeof value === 'number' && value < 0;
}

/** Returns a new pod as admission completes it, with the status that it is born with (OB-2, OB-16). */
export function prepareNewPod(pod: JsonObject): JsonObject {
  const spec = admittedSpec(objectAt(pod, 'spec') ?? emptyObject);
  return { ...pod, spec, status: { phase: 'Pending', qosClass: qosClassOf(spec) } };
}

function admittedSpec(spec: JsonObject): JsonObject {
  const priority = builtInPriorities[textAt(spec, 'priorityClassName')];
  const defaults = priority === undefined ? admitted : { ...admitted, priority };
  const named = withMissing(withMissing(spec, namedAccount), defaults);
  return withTolerations(withServiceAccount(named));
}

const notReady = tolerationOf('node.kubernetes.io/not-ready');
const unreachable = tolerationOf('node.kubernetes.io/unreachable');

function tolerationOf(key: string): JsonObject {
  return Object.freeze({ effect: 'NoExecute', key, operator: 'Exists', tolerationSeconds: 300 });
}

/** Adds the 300 s tolerations that the pod does not have in some form. */
function withTolerations(spec: JsonObject): JsonObject {
  const given = listAt(spec, 'tolerations');
  const added = [notReady, unreachable].filter(
    (wanted) => !given.some((toleration) => tolerates(toleration, wanted)),
  );
  return added.length === 0 ? spec : { ...spec, tolerations: [...given, ...added] };
}

function tolerates(toleration: JsonValue, wanted: JsonObject): boolean {
  if (!isJsonObject(toleration)) return false;
  const [key, effect] = [textAt(toleration, 'key'), textAt(toleration, 'effect')];
  return (key === '' || key === wanted['key']) && (effect === '' || effect === wanted['effect']);
}

/** Limits without a request are requested too. */
function withRequests(container: JsonObject): JsonObject {
  return mapObjectAt(container, 'resources', (resources) => {
    const limits = objectAt(resources, 'limits');
    if (limits === undefined) return resources;
    const requests = objectAt(resources, 'requests') ?? emptyObject;
    return withMember(resources, 'requests', withMissing(requests, limits));
  });
}

function withHostPorts(spec: JsonObject): JsonObject {
  const change = (container: JsonObject): JsonObject =>
    mapListAt(container, 'ports', (port) =>
      withMissing(port, { hostPort: port['containerPort'] ?? 0 }),
    );
  return mapListAt(mapListAt(spec, 'initContainers', change), 'containers', change);
}
