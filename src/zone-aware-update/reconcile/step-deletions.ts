import type { DeletePod } from '#control/decision/decision.ts';
import type { EndedDeletion, PodDeletions } from '#control/write/pod-deletions.ts';
import type { PodView } from '#statefulset/view.ts';
import type { LastDeletions } from './last-deletions.ts';
import { approve, type UpdateApprovalPorts } from './update-approval.ts';

/** What deleting the pods of a step goes through. */
export interface StepPorts extends UpdateApprovalPorts {
  readonly deletions: PodDeletions;
  readonly lastDeletions: LastDeletions;
}

/** How many are sent at once. */
const mostAtOnce = 32;

/**
 * Deletes `pods`, one step of the ZoneAwareUpdate `key`: each is approved exactly when it leaves, and as soon as one
 * is not, none of those after it leaves either.
 *
 * @returns how each ended, in no order; those that were not begun are left out
 */
export async function deleteStep(
  pods: readonly DeletePod[],
  { key, ports }: { readonly key: string; readonly ports: StepPorts },
  signal: AbortSignal,
): Promise<readonly EndedDeletion[]> {
  const begun = new Map<string, PodView>();
  const ended: EndedDeletion[] = [];
  for (let at = 0; at < pods.length; at += mostAtOnce) {
    const batch = pods.slice(at, at + mostAtOnce);
    const done = Promise.withResolvers<void>();
    const isOver = (): boolean => ended.length >= at + batch.length;
    const owner = {
      key,
      approve: (deletion: DeletePod) => {
        const { basis, pod } = approve(deletion, { key, begun }, ports);
        begun.set(pod.name, pod);
        ports.lastDeletions.sent(key, ports.clock.monotonic());
        return basis;
      },
      ended: (each: EndedDeletion) => {
        ended.push(each);
        if (isOver()) done.resolve();
      },
    };
    ports.deletions.begin(batch, owner, signal);
    await done.promise;
    if (ended.some(({ end }) => end.kind !== 'deleted')) break;
  }
  return ended;
}
