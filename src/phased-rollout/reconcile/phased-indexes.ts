import type { StatefulSetView } from '#statefulset/view.ts';
import { ownerAnnotation, type RolloutView } from '../parse-resource.ts';

/** Names of the indexes by which PhasedRollouts and their sets find one another. */
export const indexes = Object.freeze({
  /** StatefulSets by namespace and name of the PhasedRollout that their annotation names. */
  owner: 'phased-rollout-owner',
  /** PhasedRollouts by namespace and name of the set that they target. */
  target: 'phased-rollout-target',
});

/** The indexer of StatefulSets behind {@link indexes}. */
export const phasedSetIndexers = Object.freeze({
  [indexes.owner]: ({ namespace, annotations }: StatefulSetView): readonly string[] => {
    const owner = annotations[ownerAnnotation];
    return owner === undefined ? [] : [`${namespace}/${owner}`];
  },
});

/** The indexer of PhasedRollouts behind {@link indexes}. */
export const rolloutIndexers = Object.freeze({
  [indexes.target]: ({ namespace, spec }: RolloutView): readonly string[] =>
    spec.kind === 'invalid' ? [] : [`${namespace}/${spec.value.targetRef}`],
});
