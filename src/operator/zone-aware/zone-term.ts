import { aborted } from '#base/async/aborted.ts';
import { askPermissions } from '#control/optional-permissions.ts';
import type { EventRecorder } from '#kubernetes/events/event-recorder.ts';
import { silentRecorder } from '#kubernetes/events/events.ts';
import type { LedTerm, ReconcileTerm } from '../manager/led-terms.ts';
import { flushed, predecessorOf, recorderOf } from '../manager/term-parts.ts';
import { reconcileZoneAwareUpdates, type ZoneUpdateSettings } from './updates.ts';

/**
 * Returns what a term is spent on under the name of the zone-aware-controllers-for-k8s: leading the ZoneDisruptionBudgets, and
 * carrying ZoneAwareUpdates out under them where `hasUpdates` says so.
 */
export function zoneTermOf(settings: ZoneUpdateSettings, hasUpdates: boolean): ReconcileTerm {
  return async (term, signal) => {
    const { canListBudgets, events } = await openEvents(settings, term, signal);
    const predecessor = predecessorOf(term.leading, settings);
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
      await flushed(events, settings.clock);
    }
  };
}

/** Finds out what the Role lacks the rights for (D-1). */
async function openEvents(
  settings: ZoneUpdateSettings,
  { client }: LedTerm,
  signal: AbortSignal,
): Promise<{ readonly canListBudgets: boolean; readonly events: EventRecorder }> {
  const { log, metrics } = settings;
  const proven = Promise.resolve();
  const permitted = await askPermissions({ client, log, metrics, namespace: '', proven }, signal);
  const events = permitted.canCreateEvents ? recorderOf(settings, client) : silentRecorder;
  return { canListBudgets: permitted.canListBudgets, events };
}

function nameOf({ leading }: LedTerm, { identity }: ZoneUpdateSettings): string {
  return leading.kind === 'leading' ? leading.term : identity;
}
