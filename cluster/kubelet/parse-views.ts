import type { JsonObject } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import { parseIdentity } from '#kubernetes/informer/parse-identity.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { numberAt, objectAt, objectsAt, textAt, textMapAt } from '../json/read-json.ts';
import type { ClaimView, KubeletPod, NodeView } from './views.ts';

function trueConditions(object: KubernetesObject): readonly string[] {
  return objectsAt(object, 'status', 'conditions')
    .filter((condition) => condition['status'] === 'True')
    .map((condition) => textAt(condition, 'type'));
}

function graceSeconds(object: KubernetesObject, spec: JsonObject): number {
  return (
    numberAt(object, 'metadata', 'deletionGracePeriodSeconds') ??
    numberAt(spec, 'terminationGracePeriodSeconds') ??
    30
  );
}

/** Returns a Pod. */
export function parseKubeletPod(object: KubernetesObject): KubeletPod {
  const spec = objectAt(object, 'spec');
  const status = objectAt(object, 'status');
  const states = objectsAt(status, 'containerStatuses');
  const waiting = states.map((state) => textAt(state, 'state', 'waiting', 'reason'));
  const affinity = 'requiredDuringSchedulingIgnoredDuringExecution';
  return {
    ...parseIdentity(object),
    labels: object.metadata.labels ?? {},
    nodeName: textAt(spec, 'nodeName'),
    phase: textAt(status, 'phase'),
    isTerminating: object.metadata.deletionTimestamp !== undefined,
    grace: seconds(graceSeconds(object, spec)),
    containers: objectsAt(spec, 'containers').map((container) => ({
      name: textAt(container, 'name'),
      image: textAt(container, 'image'),
    })),
    constraints: {
      nodeSelector: textMapAt(spec, 'nodeSelector'),
      affinityTerms: objectsAt(spec, 'affinity', 'nodeAffinity', affinity, 'nodeSelectorTerms'),
      tolerations: objectsAt(spec, 'tolerations'),
    },
    readinessGates: objectsAt(spec, 'readinessGates').map((gate) => textAt(gate, 'conditionType')),
    trueConditions: trueConditions(object),
    waitingReason: waiting.find((reason) => reason !== '') ?? '',
    restarts: Math.max(0, ...states.map((state) => numberAt(state, 'restartCount') ?? 0)),
    podIP: textAt(status, 'podIP'),
  };
}

const scales: Readonly<Record<string, number>> = { '': 1, k: 1_000, M: 1_000_000 };

/** Returns a whole quantity of pods; the server shortens 10000 to `10k`. 0 when it cannot be read. */
function podQuantity(text: string): number {
  const parts = /^(?<count>\d+)(?<scale>[kM]?)$/.exec(text)?.groups;
  return Number(parts?.['count'] ?? 0) * (scales[parts?.['scale'] ?? ''] ?? 0);
}

/** Returns a Node. */
export function parseNode(object: KubernetesObject): NodeView {
  const capacity = podQuantity(textAt(object, 'status', 'allocatable', 'pods'));
  return {
    ...parseIdentity(object),
    labels: object.metadata.labels ?? {},
    isUnschedulable: objectAt(object, 'spec')['unschedulable'] === true,
    isReady: trueConditions(object).includes('Ready'),
    taints: objectsAt(object, 'spec', 'taints'),
    podCapacity: capacity > 0 ? capacity : 110,
  };
}

/** Returns a PersistentVolumeClaim. */
export function parseClaim(object: KubernetesObject): ClaimView {
  return {
    ...parseIdentity(object),
    isBound: textAt(object, 'status', 'phase') === 'Bound',
    spec: objectAt(object, 'spec'),
  };
}
