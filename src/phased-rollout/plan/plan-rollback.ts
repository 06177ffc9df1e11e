import { podRef, setRef } from '#control/decision/refs.ts';
import { successorRevision } from '#statefulset/revision.ts';
import { isUnavailable, type Slot } from '#statefulset/slot.ts';
import type { PodView } from '#statefulset/view.ts';
import type { Step } from '../status.ts';
import { podToGoBack } from './let-go.ts';
import {
  goesOn,
  held,
  type Outcome,
  type Pass,
  setPartition,
  slotsIn,
  unlessHeld,
} from './plan-outcome.ts';
import { awaitingPods, planStuckPod } from './plan-stuck.ts';

/** Reports whether pods go back where an update fails: the user wants it, and the set knows of a revision from before. */
export function isRollbackWanted({ spec, target }: Pass): boolean {
  const { currentRevision, updateRevision } = target.set.status;
  return spec.failureBudget?.onFailure === 'Rollback' && currentRevision !== updateRevision;
}

/** Begins to roll back an update that has failed, as `why` says: all its pods go back from now on. */
export function beginRollback(pass: Pass, step: Step, why: string): Outcome {
  const { currentRevision } = pass.target.set.status;
  const message = `${why}: pods that run it go back to ${currentRevision}`;
  return entered(pass, step, { status: 'RollingBack', message });
}

/**
 * Returns what is done once an update has failed for good: the partition keeps all pods off it, and those that run it are
 * replaced one at a time, those that are not ready first. The template stays as the user wrote it: who applies it again, as a
 * tool that keeps manifests in place does, changes nothing, and only another revision begins another rollout.
 */
export function planRollback(pass: Pass, step: Step): Outcome {
  const { set } = pass.target;
  const { partition, replicas } = set.spec;
  if (partition !== replicas) {
    const message = `No further pod may run ${set.status.updateRevision}, which has failed`;
    return { decisions: [setPartition(pass, replicas, { reason: 'RollingBack', message })] };
  }
  return planPods(pass, step);
}

function planPods(pass: Pass, step: Step): Outcome {
  const { set } = pass.target;
  const { currentRevision, updateRevision } = set.status;
  const pod = podToGoBack(pass.target);
  const done = `The update to ${updateRevision} has failed, and every pod of ${set.name} runs ${currentRevision}`;
  if (pod === undefined && step.status === 'RolledBack') return held('RolledBack', done);
  const slots = slotsIn(pass);
  const waiting = slots.filter((slot) => isUnavailable(slot) && !isPlain(slot, pod?.uid));
  if (waiting.length > 0) return planStuckPod(pass, slots) ?? awaitingPods(pass, waiting);
  if (pod === undefined) return entered(pass, step, { status: 'RolledBack', message: done });
  const message = `${pod.name} goes back to ${currentRevision}, as the update to ${updateRevision} has failed`;
  if (step.status !== 'RollingBack') return entered(pass, step, { status: 'RollingBack', message });
  const slot = slots.find((each) => isPlain(each, pod.uid));
  return slot === undefined ? awaitingPods(pass, slots) : replaced(pass, { slot, pod, message });
}

function replaced(
  { target: { set }, snapshot }: Pass,
  { slot, pod, message }: { readonly slot: Slot; readonly pod: PodView; readonly message: string },
): Outcome {
  // Also while the partition that was set is not observed yet.
  if (successorRevision(set, slot.ordinal) !== set.status.currentRevision) {
    return held('RevisionUnknown', `It is not known what would run in the place of ${pod.name}`);
  }
  return unlessHeld(snapshot, 'gated', () => ({
    decisions: [
      {
        kind: 'delete-pod',
        set: setRef(set),
        pod: podRef(pod),
        because: { reason: 'RollingBack', message },
      },
    ],
  }));
}

/** Reports whether `slot` holds the pod that goes back next, and that is not going already. */
function isPlain(slot: Slot, uid: string | undefined): boolean {
  const isGoing = slot.kind === 'missing' || slot.kind === 'terminating';
  return !isGoing && slot.pod.uid === uid;
}

function entered(
  pass: Pass,
  step: Step,
  { status, message }: { readonly status: 'RollingBack' | 'RolledBack'; readonly message: string },
): Outcome {
  const conditions = {
    Updated: { status: 'False', because: { reason: status, message } },
  } as const;
  const next = { ...step, status };
  return goesOn(pass, { ...pass.snapshot.resource.status, step: next }, { conditions });
}
