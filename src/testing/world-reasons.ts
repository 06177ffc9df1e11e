import type { ReasonPredicate, ZoneTruth } from './reasons.ts';

const unavailableZones = (zones: readonly ZoneTruth[]): readonly ZoneTruth[] =>
  zones.filter(({ unavailable }) => unavailable.length > 0);

/**
 * The reasons of the operator's catalogue that the judge does not know by itself, as predicates over the truth
 * (LIVE-2). Those about the operator's own view or its requests cannot be refuted from the state of the cluster; a
 * run in which one of them lasts does not end, and LIVE-1 tells.
 */
export const worldReasons: Readonly<Record<string, ReasonPredicate>> = {
  ZoneSettling: (zones, said) =>
    zones.some(({ set, ripening }) => set.name === said.set && ripening.length > 0),
  PausedZoneUnavailable: (zones) => unavailableZones(zones).some(({ set }) => set.isPaused),
  ZoneOrder: (zones) => zones.some(({ outdated }) => outdated.length > 0),
  AwaitingPredecessor: (zones) => zones.some(({ outdated }) => outdated.length > 0),
  AwaitingAnswer: (zones) => zones.some(({ outdated }) => outdated.length > 0),
  ViewNotFresh: () => true,
  RequestRefused: () => true,
};
