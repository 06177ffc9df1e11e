import type { Instant, Millis } from '#base/units.ts';
import { claim, type OwnershipAction } from './ownership.ts';
import {
  type ActionGroup,
  layOut,
  type PassInput,
  planCondemned,
  planOutdated,
  planPlaces,
  type Roll,
} from './passes.ts';
import {
  expiredRevisions,
  planRevisions,
  type RevisionAction,
  sortRevisions,
} from './revisions.ts';
import { countPods, isStatusStale, promote } from './set-status.ts';
import type { SetPod, SetSnapshot, SetStatus } from './views.ts';

/** Everything that one pass over a StatefulSet writes, in the order of the members. */
export interface StatefulSetPlan {
  readonly ownership: readonly OwnershipAction[];
  /** Written before any pod; a collision of names asks for a new plan with a higher collision count. */
  readonly revision: RevisionAction | undefined;
  /** One after the other; a failure in one stops those behind it. */
  readonly groups: readonly ActionGroup[];
  readonly status: SetStatus;
  /** Whether the status is worth a write. */
  readonly isStatusStale: boolean;
  /** Names of revisions to delete, oldest first. */
  readonly expiredRevisions: readonly string[];
  /** When to look again although nothing changes (SS-20). */
  readonly requeueAfter: Millis | undefined;
}

function planPods(input: PassInput): readonly ActionGroup[] {
  if (input.snapshot.set.isDeleting) return [];
  const groups: ActionGroup[] = [];
  for (const pass of [planPlaces, planCondemned, planOutdated]) {
    const outcome = pass(input);
    groups.push(...outcome.groups);
    if (outcome.isLast) break;
  }
  return groups;
}

function* podsOf(roll: Roll): Generator<SetPod> {
  for (const { pod } of roll.slots) if (pod !== undefined) yield pod;
  yield* roll.condemned;
}

/** Returns the counts, less the pods that this pass deletes for an update or a scale-down (SS-14, SS-16). */
function lessDeleted(
  status: SetStatus,
  input: PassInput,
  groups: readonly ActionGroup[],
): SetStatus {
  const actions = groups.flat(2);
  const updated = actions.filter((a) => a.kind === 'delete-pod' && a.why === 'update').length;
  const names = new Set(
    actions.filter((a) => a.kind === 'delete-pod' && a.why === 'scale-down').map((a) => a.name),
  );
  if (updated === 0 && names.size === 0) return status;
  const gone = input.roll.condemned.filter((pod) => names.has(pod.name) && pod.phase !== '');
  const at = (revision: string): number => gone.filter((pod) => pod.revision === revision).length;
  return {
    ...status,
    currentReplicas: Math.max(0, status.currentReplicas - updated - at(status.currentRevision)),
    updatedReplicas: Math.max(0, status.updatedReplicas - at(status.updateRevision)),
  };
}

/**
 * Returns what the StatefulSet controller does next (SS-3…SS-20).
 *
 * Total and deterministic: the same snapshot and instant give the same writes in the same order.
 */
export function planStatefulSet(snapshot: SetSnapshot, now: Instant): StatefulSetPlan {
  const { set } = snapshot;
  const claimed = claim(snapshot);
  const sorted = sortRevisions(claimed.revisions);
  const revisions = planRevisions(set, sorted, snapshot.collisionCount);
  const roll = layOut(set, claimed.pods);
  const input: PassInput = { snapshot, revisions, roll, now };
  const groups = planPods(input);
  const counted = countPods(snapshot, podsOf(roll), {
    current: revisions.current.name,
    update: revisions.update.name,
    now,
  });
  const status = promote(set, lessDeleted(counted, input, groups));
  const waits = set.minReady > 0 && status.availableReplicas !== set.replicas;
  return {
    ownership: claimed.actions,
    revision: revisions.action,
    groups,
    status,
    isStatusStale: isStatusStale(set.status, status),
    expiredRevisions: expiredRevisions(snapshot, sorted, { plan: revisions, pods: claimed.pods }),
    requeueAfter: waits ? set.minReady : undefined,
  };
}
