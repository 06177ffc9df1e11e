import type { Decision } from '#control/decision.ts';
import { because, podRef } from '#control/refs.ts';
import type { Zone } from './plan-zone.ts';

/**
 * Deletions of outdated pods that are not ready: they cost no availability, so neither the limit nor another zone's
 * trouble holds them back, and a corrected template reaches a broken pod at once (KW-1, D-11, LIVE-3).
 *
 * A pod that is ready but still settling may serve already; it is left to the ordinary turn of its zone.
 */
export function planReplacements(zones: readonly Zone[]): readonly Decision[] {
  return zones.filter((zone) => isReplaceable(zone)).flatMap(replacementsOf);
}

function isReplaceable(zone: Zone): boolean {
  return !zone.isPaused && !zone.set.isDeleting && zone.set.status.currentRevision !== '';
}

function replacementsOf(zone: Zone): readonly Decision[] {
  return zone.outdated.flatMap((slot) =>
    slot.kind === 'not-ready'
      ? [
          {
            kind: 'delete-pod' as const,
            set: zone.ref,
            pod: podRef(slot.pod),
            costs: 'nothing' as const,
            because: because(
              'UnavailablePodOutdated',
              `${slot.pod.name} is not ready (${slot.pod.trouble ?? slot.pod.phase}) and runs ${slot.pod.revision ?? 'no known revision'} ` +
                `instead of ${zone.target ?? ''}; replacing it costs no availability`,
            ),
          },
        ]
      : [],
  );
}
