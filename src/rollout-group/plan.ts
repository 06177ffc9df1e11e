import type { Instant } from '#base/units.ts';
import type { Decision, Plan, PlanOutcome } from '#control/decision.ts';
import { because } from '#control/refs.ts';
import { planReplacements } from './plan-replacement.ts';
import { planTurn } from './plan-turn.ts';
import { planWarnings } from './plan-warning.ts';
import { describeUnavailable, nextSettled, progressOf, type Zone, zoneOf } from './plan-zone.ts';
import type { GroupSnapshot } from './snapshot.ts';

const succeeded: PlanOutcome = { kind: 'succeeded' };

/**
 * What to do next about one group, and why not more: one zone at a time, never more than its limit, broken outdated
 * pods first (spec §3 with KW-1…KW-4 and D-10…D-12).
 *
 * Total and deterministic; the decisions of one plan may be carried out together.
 */
export function planRolloutGroup(snapshot: GroupSnapshot, now: Instant): Plan {
  const zones = snapshot.sets.map((set) => zoneOf(set, snapshot.leaving, now));
  const { decisions, outcome } = planZones(snapshot, zones);
  const next = nextSettled(zones);
  return {
    decisions: [...planWarnings(snapshot.sets), ...decisions],
    requeue: next === undefined ? { kind: 'await-change' } : { kind: 'at', at: next },
    outcome,
    progress: zones.map(progressOf),
  };
}

/** Part of a plan: what one step adds to it. */
interface Steps {
  readonly decisions: readonly Decision[];
  readonly outcome: PlanOutcome;
}

function planZones(snapshot: GroupSnapshot, zones: readonly Zone[]): Steps {
  const obstacle = obstacleOf(snapshot, zones);
  if (obstacle !== undefined) return obstacle;
  const replacements = planReplacements(zones);
  const rest = planTurns(snapshot, zones);
  return { decisions: [...replacements, ...rest.decisions], outcome: rest.outcome };
}

/** What forbids any work on the group: a capability that is missing (D-13), a wrong strategy (RC-23). */
function obstacleOf(snapshot: GroupSnapshot, zones: readonly Zone[]): Steps | undefined {
  const [first] = zones;
  if (first === undefined) return { decisions: [], outcome: succeeded };
  if (snapshot.unbuilt !== undefined) {
    const hold = because('CapabilityNotBuilt', snapshot.unbuilt);
    return { decisions: [{ kind: 'hold', set: first.ref, because: hold }], outcome: succeeded };
  }
  const wrong = zones.find((zone) => zone.set.spec.updateStrategy !== 'OnDelete');
  if (wrong === undefined) return undefined;
  const message =
    `StatefulSet "${wrong.set.name}" has spec.updateStrategy.type "${wrong.set.spec.updateStrategy}", ` +
    'and every set of a rollout group must have "OnDelete"; no pod of the group is touched';
  return {
    decisions: [{ kind: 'hold', set: wrong.ref, because: because('WrongUpdateStrategy', message) }],
    outcome: { kind: 'failed', message },
  };
}

/** Zone after zone, the unavailable one first (RC-25…RC-27), until one is not done. */
function planTurns(snapshot: GroupSnapshot, zones: readonly Zone[]): Steps {
  const unavailable = zones.filter((zone) => zone.unavailable.length > 0);
  const [first, second] = unavailable;
  if (first !== undefined && second !== undefined) {
    return { decisions: [holdForTwo(unavailable, first)], outcome: succeeded };
  }
  const order = first === undefined ? zones : [first, ...zones.filter((zone) => zone !== first)];
  const decisions: Decision[] = [];
  for (const [index, zone] of order.entries()) {
    const turn = planTurn(zone, snapshot.budgets);
    decisions.push(...turn.decisions);
    if (turn.kind === 'failed') {
      return { decisions, outcome: { kind: 'failed', message: turn.message } };
    }
    if (turn.kind === 'ongoing') {
      decisions.push(...holdForOrder(order.slice(index + 1), zone));
      break;
    }
  }
  return { decisions, outcome: succeeded };
}

function holdForTwo(unavailable: readonly Zone[], first: Zone): Decision {
  const zones = unavailable.map((zone) => `${zone.set.name}: ${describeUnavailable(zone)}`);
  const message = `${unavailable.length} zones have unavailable pods, so none may lose another: ${zones.join('; ')}`;
  return { kind: 'hold', set: first.ref, because: because('MultipleZonesUnavailable', message) };
}

function holdForOrder(waiting: readonly Zone[], current: Zone): readonly Decision[] {
  return waiting
    .filter((zone) => zone.outdated.length > 0 && !zone.isPaused)
    .map((zone) => ({
      kind: 'hold',
      set: zone.ref,
      because: because(
        'ZoneOrder',
        `${zone.outdated.length} pods of ${zone.set.name} are outdated; ${current.set.name} comes first`,
      ),
    }));
}
