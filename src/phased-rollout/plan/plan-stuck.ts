import { assertNever } from '#base/assert-never.ts';
import { podsAre } from '#base/text/pods-text.ts';
import { after, type Instant, millis } from '#base/units.ts';
import { podRef, setRef } from '#control/decision/refs.ts';
import { successorRevision } from '#statefulset/revision.ts';
import { type Slot, settledAt } from '#statefulset/slot.ts';
import { type Stuckness, stuckness } from '#statefulset/stuck.ts';
import { held, type Outcome, type Pass, unlessHeld } from './plan-outcome.ts';

interface StuckPod {
  readonly slot: Extract<Slot, { kind: 'not-ready' }>;
  readonly why: string;
}

/**
 * Returns what is done about pods that cannot become ready by themselves, while all pods are waited for (D-48): the lowest
 * is replaced where its successor runs another revision, one at a time. Below the partition that is the revision from before
 * the update, so that nothing gets past the gate by it. Undefined where no pod is stuck.
 */
export function planStuckPod(pass: Pass, slots: readonly Slot[]): Outcome | undefined {
  const { target, snapshot } = pass;
  const { set } = target;
  const stuck = slots.flatMap((slot) => stuckPodOf(pass, slot));
  const [first] = stuck;
  if (first === undefined) return undefined;
  const chosen = stuck.find(({ slot }) => isChanged(pass, slot));
  if (chosen === undefined) {
    const { pod } = first.slot;
    return held(
      'StuckPodKept',
      `${pod.name} is stuck (${first.why}), and would come back as it is`,
    );
  }
  const { pod, ordinal } = chosen.slot;
  const other = slots.find((slot) => slot !== chosen.slot && isUnderWay(pass, slot, first));
  if (other !== undefined) {
    return held('AwaitingAvailability', `${set.name}-${other.ordinal} is being replaced`);
  }
  const successor = successorRevision(set, ordinal) ?? '';
  const message = `${pod.name} is stuck (${chosen.why}); the pod in its place will run ${successor}`;
  return unlessHeld(snapshot, 'gated', () => ({
    decisions: [
      {
        kind: 'delete-pod',
        set: setRef(set),
        pod: podRef(pod),
        because: { reason: 'StuckPodReplaced', message },
      },
    ],
  }));
}

/** Names the lowest pod that runs the new revision and cannot become ready by itself, and says why; undefined where none is. */
export function stuckOnUpdate(pass: Pass, slots: readonly Slot[]): string | undefined {
  const { updateRevision } = pass.target.set.status;
  const stuck = slots
    .flatMap((slot) => stuckPodOf(pass, slot))
    .find(({ slot }) => slot.pod.revision === updateRevision);
  return stuck && `${stuck.slot.pod.name} runs ${updateRevision} and is stuck (${stuck.why})`;
}

function stuckPodOf(pass: Pass, slot: Slot): readonly StuckPod[] {
  if (slot.kind !== 'not-ready') return [];
  const found = stucknessOf(pass, slot);
  if (found.kind === 'stuck-by-cause') return [{ slot, why: found.cause }];
  return found.kind === 'stuck-by-time' ? [{ slot, why: 'not ready for too long' }] : [];
}

/** Awaits that `missing`, which are named, are available: nothing goes before. */
export function awaitingPods(pass: Pass, missing: readonly Slot[]): Outcome {
  return held('AwaitingAvailability', awayText(pass, missing), nextLook(pass, missing));
}

/** Says how many of the pods of `missing` are not available, and names the first of them. */
export function awayText({ target: { set } }: Pass, missing: readonly Slot[]): string {
  const names = missing.slice(0, 3).map(({ ordinal }) => `${set.name}-${ordinal}`);
  return `${podsAre(missing.length)} not available: ${names.join(', ')}`;
}

/**
 * Returns when `unavailable` is to be looked at again although nothing changes: when time makes one stuck, or all of them
 * available.
 */
export function nextLook(pass: Pass, unavailable: readonly Slot[]): Instant | undefined {
  const left = leftUntilStuck(pass, unavailable);
  return left === undefined ? settledAt(unavailable) : after(pass.now, millis(left));
}

/** Returns when time makes the first pod of `slots` stuck that is not yet; undefined where time does not. */
function leftUntilStuck(pass: Pass, slots: readonly Slot[]): number | undefined {
  const lefts = slots.flatMap((slot) => {
    const found = slot.kind === 'not-ready' ? stucknessOf(pass, slot) : undefined;
    return found?.kind === 'not-stuck' && found.left !== undefined ? [found.left] : [];
  });
  return lefts.length === 0 ? undefined : Math.min(...lefts);
}

function stucknessOf({ snapshot, now }: Pass, { pod }: StuckPod['slot']): Stuckness {
  const { watched, stuckAfter } = snapshot;
  return stuckness(pod, { now, watched, stuckAfter });
}

function isChanged({ target: { set } }: Pass, { ordinal, pod }: StuckPod['slot']): boolean {
  const successor = successorRevision(set, ordinal);
  return successor !== undefined && pod.revision !== undefined && pod.revision !== successor;
}

/** Reports whether the pod of `slot` is being replaced, as far as can be seen. */
function isUnderWay(pass: Pass, slot: Slot, lowestStuck: StuckPod): boolean {
  switch (slot.kind) {
    case 'terminating':
    case 'settling':
      return true;
    // An ordered controller makes no pod above one that is not ready.
    case 'missing':
      return !pass.target.set.spec.isOrdered || slot.ordinal < lowestStuck.slot.ordinal;
    case 'not-ready':
      return stuckPodOf(pass, slot).length === 0 && !isChanged(pass, slot);
    case 'available':
      return false;
    default:
      return assertNever(slot);
  }
}
