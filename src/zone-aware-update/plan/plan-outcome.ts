import type { Instant } from '#base/units.ts';
import type { ZoneAwareUpdateSpec } from '../api.ts';
import type { UpdatedSet, UpdateSnapshot } from '../snapshot.ts';
import type { UpdateStatus } from '../status.ts';
import type { UpdateDecision, UpdatePlan, UpdateReason } from './plan-decision.ts';

/** A snapshot of which it is known that there is a set, and what is wanted of it. */
export interface Pass {
  readonly snapshot: UpdateSnapshot;
  readonly target: UpdatedSet;
  readonly spec: ZoneAwareUpdateSpec;
  readonly now: Instant;
}

/** A plan that leaves the status as it is stored, where it says nothing else. */
export type Outcome = Omit<UpdatePlan, 'statusAfter'> & Partial<Pick<UpdatePlan, 'statusAfter'>>;

/** Returns that nothing is done; `until` when time alone ends it. */
export function held(reason: UpdateReason, message: string, until?: Instant): Outcome {
  const because = { reason, message };
  return {
    decisions: [{ kind: 'hold', because }],
    progressing: { status: isGoingOn(reason) ? 'True' : 'False', because },
    requeue: until === undefined ? { kind: 'await-change' } : { kind: 'at', at: until },
  };
}

const waits: ReadonlySet<UpdateReason> = new Set<UpdateReason>([
  'AwaitingPods',
  'AwaitingAlarm',
  'AwaitingQuery',
  'RevisionUnknown',
]);

/** Waits that are part of any rollout. */
function isGoingOn(reason: UpdateReason): boolean {
  return waits.has(reason);
}

/** Returns that something is done, and the next change awaited. */
export function acts(
  decisions: readonly UpdateDecision[],
  because: { readonly reason: UpdateReason; readonly message: string },
  statusAfter?: UpdatePlan['statusAfter'],
): Outcome {
  return {
    decisions,
    progressing: { status: 'True', because },
    requeue: { kind: 'await-change' },
    ...(statusAfter !== undefined && { statusAfter }),
  };
}

/** Returns the status that says what the set says now, and what was counted now. */
export function refreshed(
  { snapshot, target }: Pass,
  changes: Partial<UpdateStatus>,
): UpdateStatus {
  const { currentRevision, updateRevision } = target.set.status;
  return { ...snapshot.resource.status, currentRevision, updateRevision, ...changes };
}

/** Returns which step is next; a count that belongs to another revision counts for nothing (W-05). */
export function stepOf({ snapshot, target, spec }: Pass): number {
  const { updateStep, updateRevision } = snapshot.resource.status;
  const isOfNow = updateRevision === target.set.status.updateRevision;
  return isOfNow && !spec.isDryRun ? updateStep : 0;
}
