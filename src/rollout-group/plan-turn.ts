import type { Decision } from '#control/decision.ts';
import { because, podRef } from '#control/refs.ts';
import type { Slot } from '#statefulset/slot.ts';
import { type Answer, answerOf, fail, hold, wait } from './plan-policy.ts';
import type { Group, Zone } from './plan-zone.ts';

type AvailableSlot = Extract<Slot, { kind: 'available' }>;

/** The turn of `zone`: what the first policy that holds it says, or else its next pods go (RC-40…RC-62). */
export function planTurn(zone: Zone, group: Group): Answer {
  return answerOf(zone, group) ?? disrupt(zone, group);
}

/** Outdated pods: as many go as the limit leaves and the budgets allow, lowest ordinal first (RC-43…RC-49, KW-4). */
function disrupt(zone: Zone, { snapshot: { budgets } }: Group): Answer {
  const free = zone.limit - zone.unavailable.length;
  const candidates = zone.outdated.filter((slot) => slot.kind === 'available').slice(0, free);
  const [first] = candidates;
  // The policies see to it that there is one.
  if (first === undefined) return wait();
  const awareness = budgets.partitionAwareness(first.pod.name);
  if (typeof awareness !== 'string') return fail(hold(zone, 'BudgetUnclear', awareness.message));
  const override = awareness === 'aware' ? 1 : zone.limit;
  const asked = candidates.map((slot) => ({
    slot,
    verdict: budgets.verdict({ podName: slot.pod.name, override }),
  }));
  const allowed = asked.filter(({ verdict }) => verdict.kind === 'allowed');
  if (allowed.length > 0) return wait(...allowed.map(({ slot }) => deletion(zone, slot)));
  const refusals = asked.map(({ verdict }) => (verdict.kind === 'allowed' ? '' : verdict.message));
  return wait(hold(zone, 'BudgetRefused', refusals.join('; ')));
}

function deletion(zone: Zone, slot: AvailableSlot): Decision {
  const runs = slot.pod.revision ?? 'no known revision';
  const message =
    `${slot.pod.name} runs ${runs} instead of ${zone.set.status.updateRevision}; ` +
    `at most ${zone.limit} pods of ${zone.set.name} may be unavailable, and every other zone is available`;
  return {
    kind: 'delete-pod',
    set: zone.ref,
    pod: podRef(slot.pod),
    costs: 'a-slot',
    because: because('PodOutdated', message),
  };
}
