import type { PodView } from './view.ts';

/** The labels of a pod; what follows from the pod itself is there as {@link derived}. */
export type PodLabels = Readonly<Record<string, string>>;

/** Stands for a value that the StatefulSet controller derives. No label can have it: values are letters, digits, `-`, `_`, `.`. */
const derived = '=';

/** How many different sets of labels are remembered; pods whose labels are all different are not shared. */
const most = 4_096;

const shared = new Map<string, PodLabels>();

type Named = Pick<PodView, 'name' | 'revision'>;

/** What the StatefulSet controller writes on a pod, by the key of the label. */
const derivations = new Map<string, (pod: Named) => string | undefined>([
  ['statefulset.kubernetes.io/pod-name', ({ name }) => name],
  ['apps.kubernetes.io/pod-index', ({ name }) => name.slice(name.lastIndexOf('-') + 1)],
  ['controller-revision-hash', ({ revision }) => revision],
]);

/**
 * Returns `labels` as a {@link PodView} keeps them: one object for all pods of a template, as thousands of pods have the
 * same but for what the StatefulSet controller derives of each.
 */
export function podLabels(labels: PodLabels, pod: Named): PodLabels {
  const kept: Record<string, string> = {};
  for (const [key, value] of Object.entries(labels)) {
    kept[key] = derivations.get(key)?.(pod) === value ? derived : value;
  }
  const text = JSON.stringify(kept);
  const known = shared.get(text);
  if (known !== undefined) return known;
  if (shared.size >= most) shared.clear();
  shared.set(text, Object.freeze(kept));
  return kept;
}

/** Reports whether pods of one template may differ in the value of the label `key`, though they share their {@link PodLabels}. */
export function isOwnLabel(key: string): boolean {
  return derivations.has(key);
}

/** Returns the labels of `pod` as it has them. */
export function labelsOf(pod: Pick<PodView, 'name' | 'revision' | 'labels'>): PodLabels {
  const labels: Record<string, string> = {};
  for (const [key, value] of Object.entries(pod.labels)) {
    labels[key] = value === derived ? (derivations.get(key)?.(pod) ?? value) : value;
  }
  return labels;
}
