/** The label that carries a pod's own name (SS-7). */
export const podNameLabel = 'statefulset.kubernetes.io/pod-name';
/** The label that carries a pod's ordinal (SS-7). */
export const podIndexLabel = 'apps.kubernetes.io/pod-index';
/** The label that carries the full name of a pod's revision (SS-7). */
export const revisionLabel = 'controller-revision-hash';

/** What a pod's name says about its place: the set's name and the ordinal. */
export interface PodPlace {
  readonly setName: string;
  /** -1 when the name is not `<set>-<ordinal>` (SS-3). */
  readonly ordinal: number;
}

const placePattern = /^(?<setName>.+)-(?<ordinal>0|[1-9]\d*)$/;

/** Returns the place that a pod's name stands for. */
export function placeOf(podName: string): PodPlace {
  const parts = placePattern.exec(podName)?.groups;
  if (parts === undefined) return { setName: '', ordinal: -1 };
  return { setName: parts['setName'] ?? '', ordinal: Number(parts['ordinal']) };
}
