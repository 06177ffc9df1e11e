import type { Decision } from '#control/decision.ts';
import type { Reason } from '#control/reasons.ts';
import { because, podRef } from '#control/refs.ts';
import type { Budgets } from '#disruption/verdict.ts';
import { type Slot, settledAt } from '#statefulset/slot.ts';
import { describeUnavailable, type Zone } from './plan-zone.ts';

type AvailableSlot = Extract<Slot, { kind: 'available' }>;

/** What one zone's turn comes to: the next zone may go on, must wait, or the pass fails (RC-27). */
export type Turn =
  | { readonly kind: 'done'; readonly decisions: readonly Decision[] }
  | { readonly kind: 'ongoing'; readonly decisions: readonly Decision[] }
  | {
      readonly kind: 'failed';
      readonly decisions: readonly Decision[];
      readonly message: string;
    };

/**
 * The turn of `zone`, called only while no other zone has unavailable pods (RC-40…RC-62).
 */
export function planTurn(zone: Zone, budgets: Budgets): Turn {
  if (zone.isPaused) return pausedTurn(zone);
  if (zone.set.isDeleting) return deletingTurn(zone);
  const missing = missingRevision(zone);
  if (missing !== undefined) {
    const decision = hold(zone, 'RevisionMissing', missing);
    return { kind: 'failed', decisions: [decision], message: missing };
  }
  if (zone.target === undefined) {
    return ongoing(
      hold(
        zone,
        'RevisionUnknown',
        `${zone.set.name} is at generation ${zone.set.generation}, and its controller has observed ${zone.set.status.observedGeneration} only`,
      ),
    );
  }
  return zone.outdated.length === 0 ? finishTurn(zone) : disruptTurn(zone, budgets);
}

function hold(zone: Zone, reason: Reason, message: string): Decision {
  return { kind: 'hold', set: zone.ref, because: because(reason, message) };
}

function ongoing(...decisions: readonly Decision[]): Turn {
  return { kind: 'ongoing', decisions };
}

/** A paused zone is left alone; while it is unavailable, it holds the others back too (KW-3). */
function pausedTurn(zone: Zone): Turn {
  if (zone.unavailable.length > 0) {
    const message = `${zone.set.name} is paused and has unavailable pods: ${describeUnavailable(zone)}`;
    return ongoing(hold(zone, 'PausedZoneUnavailable', message));
  }
  if (zone.outdated.length === 0) return { kind: 'done', decisions: [] };
  const message = `${zone.set.name} is paused with ${zone.outdated.length} outdated pods`;
  return { kind: 'done', decisions: [hold(zone, 'Paused', message)] };
}

/** A set that is being deleted needs no new revision; its pods' going still counts (RC-E12). */
function deletingTurn(zone: Zone): Turn {
  return zone.unavailable.length > 0
    ? ongoing(holdUnavailable(zone))
    : { kind: 'done', decisions: [] };
}

function missingRevision(zone: Zone): string | undefined {
  const { currentRevision, updateRevision } = zone.set.status;
  if (currentRevision === '') return `StatefulSet "${zone.set.name}" has no status.currentRevision`;
  if (updateRevision === '') return `StatefulSet "${zone.set.name}" has no status.updateRevision`;
  return undefined;
}

/** No outdated pods: wait for the last of them, then let status say so (RC-60…RC-62). */
function finishTurn(zone: Zone): Turn {
  if (zone.unavailable.length > 0) return ongoing(holdUnavailable(zone));
  const { currentRevision: from, updateRevision: to } = zone.set.status;
  if (from === to) return { kind: 'done', decisions: [] };
  const message = `all ${zone.slots.length} pods of ${zone.set.name} run ${to} and are available`;
  return {
    kind: 'done',
    decisions: [
      {
        kind: 'set-current-revision',
        set: zone.ref,
        from,
        to,
        because: because('ZoneUpdated', message),
      },
    ],
  };
}

function holdUnavailable(zone: Zone): Decision {
  const settled = settledAt(zone.unavailable);
  const message = `${zone.set.name} has unavailable pods: ${describeUnavailable(zone)}`;
  return settled === undefined
    ? hold(zone, 'ZoneNotReady', message)
    : { ...hold(zone, 'ZoneSettling', message), kind: 'hold', set: zone.ref, until: settled };
}

/** Outdated pods: as many go as the limit leaves, lowest ordinal first (RC-43…RC-49, slots instead of status: KW-4). */
function disruptTurn(zone: Zone, budgets: Budgets): Turn {
  const candidates = zone.outdated.filter((slot) => slot.kind === 'available');
  const [first] = candidates;
  if (first === undefined) return ongoing(holdUnavailable(zone));
  const free = zone.limit - zone.unavailable.length;
  if (free <= 0) return ongoing(holdLimit(zone));

  const awareness = budgets.partitionAwareness(first.pod.name);
  if (typeof awareness !== 'string') {
    const decision = hold(zone, 'BudgetUnclear', awareness.message);
    return { kind: 'failed', decisions: [decision], message: awareness.message };
  }
  const override = awareness === 'aware' ? 1 : zone.limit;
  const asked = candidates.slice(0, free).map((slot) => ({
    slot,
    verdict: budgets.verdict({ podName: slot.pod.name, override }),
  }));
  const allowed = asked.filter(({ verdict }) => verdict.kind === 'allowed');
  if (allowed.length > 0) return ongoing(...allowed.map(({ slot }) => deletion(zone, slot)));
  const refusals = asked.map(({ verdict }) => (verdict.kind === 'allowed' ? '' : verdict.message));
  return ongoing(hold(zone, 'BudgetRefused', refusals.join('; ')));
}

function holdLimit(zone: Zone): Decision {
  const message =
    `${zone.unavailable.length} of at most ${zone.limit} pods of ${zone.set.name} are unavailable, ` +
    `${zone.outdated.length} are outdated; waiting for ${describeUnavailable(zone)}`;
  return hold(zone, 'MaxUnavailableReached', message);
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
