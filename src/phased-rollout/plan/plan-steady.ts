import type { WantedCondition } from '#kubernetes/custom-resource/conditions.ts';
import { isOutdated, targetRevision } from '#statefulset/revision.ts';
import { isUnavailable, type Slot } from '#statefulset/slot.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import type { PhasedDecision } from './plan-decision.ts';
import {
  held,
  type Outcome,
  type Pass,
  setPartition,
  slotsIn,
  unlessHeld,
} from './plan-outcome.ts';
import { awaitingPods, awayText, planStuckPod } from './plan-stuck.ts';

const ready: WantedCondition = {
  status: 'True',
  because: { reason: 'Ready', message: 'It can be rolled out' },
};

/** Returns what is done while the set wants one revision only; pods on another one go back first. */
export function planSteady(pass: Pass): Outcome {
  const back = planReturn(pass);
  if (back === undefined) return { conditions: { Ready: ready }, ...planBlocked(pass) };
  const because = { reason: 'Rolling', message: 'Pods go back to the previous revision' };
  return { conditions: { Ready: ready, Updated: { status: 'False', because } }, ...back };
}

function planBlocked(pass: Pass): Outcome {
  const { snapshot, target, now } = pass;
  const { set } = target;
  const { partition, replicas } = set.spec;
  if (partition !== replicas) {
    const message = `The next update of ${set.name} is to wait for its checks`;
    return { decisions: [setPartition(pass, replicas, { reason: 'UpdatesBlocked', message })] };
  }
  if (set.status.observedGeneration < set.generation) return unobserved(set);
  const { status } = snapshot.resource;
  const isEnd = status.phase === 'Rolling';
  const wanted = slotsIn(pass).slice(0, replicas);
  const missing = wanted.filter(({ kind }) => kind === 'missing');
  const message = steadyText(pass, missing);
  return {
    status: {
      ...status,
      phase: 'Updated',
      step: undefined,
      ...(isEnd && { rolloutEnd: now }),
    },
    conditions: {
      Ready: ready,
      Updated: { status: 'True', because: { reason: 'Updated', message } },
    },
    decisions: isEnd
      ? [{ kind: 'tell', type: 'Normal', because: { reason: 'RolloutCompleted', message } }]
      : missingPods(pass, missing),
  };
}

/** Returns what is true of the pods: one that others took at rest, and that is not made again, runs nothing. */
function steadyText(pass: Pass, missing: readonly Slot[]): string {
  const { name } = pass.target.set;
  return missing.length === 0
    ? `Every pod of ${name} runs its revision`
    : `Every pod of ${name} that is there runs its revision; ${awayText(pass, missing)}`;
}

function missingPods(pass: Pass, missing: readonly Slot[]): readonly PhasedDecision[] {
  return missing.length === 0 ? [] : (awaitingPods(pass, missing).decisions ?? []);
}

function unobserved({ name }: StatefulSetView): Outcome {
  return held('RevisionUnknown', `The newest spec of ${name} is not observed yet`);
}

/**
 * Rolls back to a template that was taken back in the middle of a rollout: pods that already run the other revision roll
 * back, which needs no check, and until they have, nothing is updated.
 */
function planReturn(pass: Pass): Outcome | undefined {
  const { snapshot, target } = pass;
  const { set } = target;
  const revision = set.status.updateRevision;
  if (revision === '') return undefined;
  const slots = slotsIn(pass);
  const outdated = slots
    .slice(0, set.spec.replicas)
    .flatMap((slot, index) =>
      slot.kind !== 'missing' && isOutdated(slot.pod, revision) ? [index] : [],
    );
  const [lowest] = outdated;
  if (lowest === undefined) return undefined;
  // As after the partition was lowered for them: to block the set now would undo that.
  if (targetRevision(set) === undefined) return unobserved(set);
  const message = `Pods from ordinal ${set.spec.ordinalsStart + lowest} of ${set.name} go back to ${revision}`;
  // Each is asked for by itself where a budget governs it; otherwise the controller takes one after the other.
  const to = snapshot.isGoverned ? (outdated.at(-1) ?? lowest) : lowest;
  if (set.spec.partition > to) {
    const away = slots.filter((slot) => isUnavailable(slot) && !isGivenUp(slot, revision));
    if (away.length > 0) return planStuckPod(pass, slots) ?? awaitingPods(pass, away);
    return unlessHeld(snapshot, 'gated', () => ({
      decisions: [setPartition(pass, to, { reason: 'RevisionReverted', message })],
    }));
  }
  return planStuckPod(pass, slots) ?? held('RevisionReverted', message);
}

/** Reports whether the pod of `slot` runs another revision than all go back to: that it is not ready may be why they do. */
function isGivenUp(slot: Slot, revision: string): boolean {
  return slot.kind === 'not-ready' && isOutdated(slot.pod, revision);
}
