import { compileSelector, selects } from '../label-selector.ts';
import type { RevisionView, SetPod, SetSnapshot, SetView } from './views.ts';

/** A change of who owns an object. */
export interface OwnershipAction {
  readonly kind: 'adopt-pod' | 'release-pod' | 'adopt-revision';
  readonly name: string;
  readonly uid: string;
}

/** What a set owns after its claims, and the writes that make it so (SS-3). */
export interface Claimed {
  readonly pods: readonly SetPod[];
  readonly revisions: readonly RevisionView[];
  readonly actions: readonly OwnershipAction[];
}

/** Reports whether a set would claim an orphan of this name and these labels (SS-3). */
export function canAdopt(set: SetView, pod: SetPod): boolean {
  return (
    pod.ownerUid === '' &&
    !pod.isTerminating &&
    pod.setName === set.name &&
    selects(set.selector, pod.labels)
  );
}

function claimPods(set: SetView, pods: readonly SetPod[], actions: OwnershipAction[]): SetPod[] {
  const owned: SetPod[] = [];
  const matches = compileSelector(set.selector);
  for (const pod of pods) {
    const { name, uid } = pod;
    if (pod.ownerUid === set.uid) {
      if (matches(pod.labels)) owned.push(pod);
      else if (!set.isDeleting) actions.push({ kind: 'release-pod', name, uid });
    } else if (!set.isDeleting && canAdopt(set, pod)) {
      actions.push({ kind: 'adopt-pod', name, uid });
      owned.push(pod);
    }
  }
  return owned;
}

/** Adopts orphans that match selector and name, unless the set is being deleted; releases pods that no longer match (SS-3). */
export function claim({ set, pods, revisions }: SetSnapshot): Claimed {
  const actions: OwnershipAction[] = [];
  const owned: RevisionView[] = [];
  for (const revision of revisions) {
    if (!selects(set.selector, revision.labels)) continue;
    if (revision.ownerUid === set.uid) owned.push(revision);
    else if (revision.ownerUid === '' && !set.isDeleting) {
      actions.push({ kind: 'adopt-revision', name: revision.name, uid: revision.uid });
      owned.push(revision);
    }
  }
  return { pods: claimPods(set, pods, actions), revisions: owned, actions };
}
