import type { Decision } from '#control/decision/decision.ts';
import { because, podRef } from '#control/decision/refs.ts';
import type { Slot } from '#statefulset/slot.ts';
import { wait, type ZoneOutcome, zoneOutcome } from './plan-policy.ts';
import type { Group, Zone } from './plan-zone.ts';

type AvailableSlot = Extract<Slot, { kind: 'available' }>;

/** Returns the turn of `zone`: what the first policy that holds it says, or else its next pods go (RC-40…RC-62). */
export function planTurn(zone: Zone, group: Group): ZoneOutcome {
  return zoneOutcome(zone, group) ?? disrupt(zone);
}

/**
 * Lets outdated pods go: as many as the limit leaves, lowest ordinal first (RC-43…RC-46, KW-4); budgets are asked for them
 * later.
 */
function disrupt(zone: Zone): ZoneOutcome {
  const free = zone.limit - zone.unavailable.length;
  const next = zone.outdated.filter((slot) => slot.kind === 'available').slice(0, free);
  return wait(...next.map((slot) => deletion(zone, slot)));
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
    maxUnavailable: zone.limit,
    because: because('PodOutdated', message),
  };
}
