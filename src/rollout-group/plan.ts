/**
 * The rollout of a group: zone after zone, never more pods away than its limit. The room says which pods are to go and
 * why; they are deleted by `control/`, and the sets' replicas are `replica-coordination/`.
 */
import type { Instant } from '#base/units.ts';
import type { Decision, Plan } from '#control/decision/decision.ts';
import { because } from '#control/decision/refs.ts';
import { nextStuckLook, planStuckPods } from './plan/plan-stuck.ts';
import { planTurn } from './plan/plan-turn.ts';
import { planWarnings } from './plan/plan-warning.ts';
import { type Group, groupOf, nextLook, progressOf, type Zone } from './plan/plan-zone.ts';
import type { GroupSnapshot } from './snapshot.ts';

/**
 * Returns what to do next about one group, and why not more: one zone at a time, never more than its limit, and stuck
 * outdated pods without waiting for the other zones (corrected as KW-1…KW-4, D-10, D-12 and D-48 say).
 *
 * Total and deterministic. Any of its deletions may be carried out: planned again with that pod leaving, the others are
 * what is left (D-49).
 */
export function planRolloutGroup(snapshot: GroupSnapshot, now: Instant): Plan {
  const group = groupOf(snapshot, now);
  const { zones } = group;
  const { decisions, failure } = planTurns(group);
  const looks = [nextLook(zones, now), nextStuckLook(group, now)].filter((at) => at !== undefined);
  const next = looks.toSorted((one, other) => one - other)[0];
  return {
    decisions: [
      ...planWarnings(snapshot.sets),
      ...zones.flatMap(conflictHold),
      ...planStuckPods(group),
      ...decisions,
    ],
    requeue: next === undefined ? { kind: 'await-change' } : { kind: 'at', at: next },
    failure,
    progress: zones.map(progressOf),
  };
}

/** Plans zone after zone, the unavailable one first (RC-26, RC-27), until one is not done. */
function planTurns(group: Group): {
  readonly decisions: readonly Decision[];
  readonly failure: string | undefined;
} {
  const order = inOrder(group.zones);
  const decisions: Decision[] = [];
  for (const [index, zone] of order.entries()) {
    const answer = planTurn(zone, group);
    decisions.push(...answer.decisions);
    if (answer.kind === 'stop') return { decisions, failure: answer.failure };
    if (answer.kind === 'wait') {
      decisions.push(...holdForOrder(order.slice(index + 1), zone));
      break;
    }
  }
  return { decisions, failure: undefined };
}

function inOrder(zones: readonly Zone[]): readonly Zone[] {
  const first = zones.find((zone) => zone.unavailable.length > 0);
  return first === undefined ? zones : [first, ...zones.filter((zone) => zone !== first)];
}

function holdForOrder(waiting: readonly Zone[], current: Zone): readonly Decision[] {
  return waiting
    .filter((zone) => zone.outdated.length > 0 && !zone.isPaused && zone.conflicts.length === 0)
    .map((zone) => ({
      kind: 'hold',
      set: zone.ref,
      because: because(
        'ZoneOrder',
        `${zone.outdated.length} pods of ${zone.set.name} are outdated; ${current.set.name} comes first`,
      ),
    }));
}

/** Returns what is said at once, whichever zone's turn it is. */
function conflictHold({ set, ref, conflicts }: Zone): readonly Decision[] {
  if (conflicts.length === 0) return [];
  const message = `${set.name} is left alone, as ${conflicts.join(', ')} would move it, too`;
  return [{ kind: 'hold', set: ref, because: because('ConflictingOwners', message) }];
}
