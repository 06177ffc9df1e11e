import { aborted } from '#base/async/aborted.ts';
import { atMost } from '#base/async/at-most.ts';
import { seconds } from '#base/units.ts';
import { askPermissions } from '#control/optional-permissions.ts';
import { PredecessorWait } from '#control/plan/predecessor-wait.ts';
import type { EventRecorder } from '#kubernetes/events/event-recorder.ts';
import { createEventRecorder, silentRecorder } from '#kubernetes/events/events.ts';
import type { LedTerm, ReconcileTerm } from '../manager/led-terms.ts';
import { reconcileZoneAwareUpdates, type ZoneUpdateSettings } from './updates.ts';

/** How long the end waits for Events that are not written yet. */
const flushPatience = seconds(2);

/**
 * Returns what a term is spent on under the name of the zone-aware-controllers-for-k8s: leading the ZoneDisruptionBudgets, and
 * carrying ZoneAwareUpdates out under them where `hasUpdates` says so.
 */
export function zoneTermOf(settings: ZoneUpdateSettings, hasUpdates: boolean): ReconcileTerm {
  return async (term, signal) => {
    const { canListBudgets, events } = await openEvents(settings, term, signal);
    const predecessor = predecessorOf(term, settings);
    const led = { term: nameOf(term, settings), predecessor, events };
    try {
      return await settings.zoneBudgets.lead(led, async () => {
        if (hasUpdates) {
          return reconcileZoneAwareUpdates(settings, { ...term, events, canListBudgets }, signal);
        }
        await aborted(signal);
        return true;
      });
    } finally {
      const { clock } = settings;
      await atMost(flushPatience, events.flush(), { clock, signal: new AbortController().signal });
    }
  };
}

/** Finds out what the Role lacks the rights for (D-1). */
async function openEvents(
  { clock, log, metrics, identity }: ZoneUpdateSettings,
  { client }: LedTerm,
  signal: AbortSignal,
): Promise<{ readonly canListBudgets: boolean; readonly events: EventRecorder }> {
  const proven = Promise.resolve();
  const permitted = await askPermissions({ client, log, metrics, namespace: '', proven }, signal);
  const events = permitted.canCreateEvents
    ? createEventRecorder({
        client,
        clock,
        logger: log,
        instance: identity,
        onRefused: (namespaces) => metrics.setPermissionRefused('create', 'events', namespaces > 0),
      })
    : silentRecorder;
  return { canListBudgets: permitted.canListBudgets, events };
}

function nameOf({ leading }: LedTerm, { identity }: ZoneUpdateSettings): string {
  return leading.kind === 'leading' ? leading.term : identity;
}

function predecessorOf(
  { leading }: LedTerm,
  { clock, config }: ZoneUpdateSettings,
): PredecessorWait {
  return new PredecessorWait({
    clock,
    predecessor: leading.predecessor,
    horizon: config.rollout.predecessorHorizon,
    startedAt: clock.monotonic(),
  });
}
