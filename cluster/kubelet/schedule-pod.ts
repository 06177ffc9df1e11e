import type { JsonObject } from '#base/json.ts';
import { meets } from '../controllers/label-selector.ts';
import { objectsAt, textAt } from '../json/read-json.ts';
import type { KubeletPod, NodeView } from './views.ts';

/** How many pods each node has, and its place in the seeded order. */
export interface NodeLoad {
  podsOn(node: string): number;
  /** Returns a fixed number per node; ties of load go to the lowest. */
  rankOf(node: string): number;
}

function tolerates(toleration: JsonObject, taint: JsonObject): boolean {
  const effect = textAt(toleration, 'effect');
  const key = textAt(toleration, 'key');
  if (effect !== '' && effect !== textAt(taint, 'effect')) return false;
  if (key !== '' && key !== textAt(taint, 'key')) return false;
  if (textAt(toleration, 'operator') === 'Exists') return true;
  return key !== '' && textAt(toleration, 'value') === textAt(taint, 'value');
}

function isRepelled(pod: KubeletPod, node: NodeView): boolean {
  return node.taints.some((taint) => {
    if (textAt(taint, 'effect') === 'PreferNoSchedule') return false;
    return !pod.constraints.tolerations.some((toleration) => tolerates(toleration, taint));
  });
}

function isAttracted(pod: KubeletPod, node: NodeView): boolean {
  const { nodeSelector, affinityTerms } = pod.constraints;
  for (const [key, value] of Object.entries(nodeSelector)) {
    if (node.labels[key] !== value) return false;
  }
  if (affinityTerms.length === 0) return true;
  return affinityTerms.some((term) =>
    objectsAt(term, 'matchExpressions').every((expression) => meets(node.labels, expression)),
  );
}

/** Reports whether `pod` may run on `node`: selector, required affinity, taints, cordon, readiness, capacity (KU-2). */
function fits(pod: KubeletPod, node: NodeView, load: NodeLoad): boolean {
  return (
    !node.isUnschedulable &&
    node.isReady &&
    load.podsOn(node.name) < node.podCapacity &&
    isAttracted(pod, node) &&
    !isRepelled(pod, node)
  );
}

/** Returns the fitting node with the fewest pods, ties by the seeded order (KU-2); undefined when none fits. */
export function pickNode(
  pod: KubeletPod,
  nodes: Iterable<NodeView>,
  load: NodeLoad,
): string | undefined {
  let best: string | undefined;
  for (const node of nodes) {
    if (!fits(pod, node, load)) continue;
    if (best === undefined || isBetter(node.name, best, load)) best = node.name;
  }
  return best;
}

function isBetter(node: string, best: string, load: NodeLoad): boolean {
  const difference = load.podsOn(node) - load.podsOn(best);
  return difference < 0 || (difference === 0 && load.rankOf(node) < load.rankOf(best));
}
