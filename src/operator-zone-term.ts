import { aborted } from '#base/aborted.ts';
import { PredecessorWait } from '#control/predecessor-wait.ts';
import type { LedTerm, ReconcileTerm } from '#operator-led-terms.ts';
import { reconcileZoneAwareUpdates, type ZoneUpdateSettings } from '#operator-zone-updates.ts';

/**
 * Returns what a term is spent on under the name of the zone-aware-controllers-for-k8s: leading the ZoneDisruptionBudgets, and
 * carrying ZoneAwareUpdates out under them where `hasUpdates` says so.
 */
export function zoneTermOf(settings: ZoneUpdateSettings, hasUpdates: boolean): ReconcileTerm {
  const work: ReconcileTerm = hasUpdates
    ? (term, signal) => reconcileZoneAwareUpdates(settings, term, signal)
    : async (_, signal) => {
        await aborted(signal);
        return true;
      };
  return (term, signal) => {
    const led = { term: nameOf(term, settings), predecessor: predecessorOf(term, settings) };
    return settings.zoneBudgets.lead(led, () => work(term, signal));
  };
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
