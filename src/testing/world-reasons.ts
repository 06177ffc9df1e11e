import type { ReasonPredicate } from './reasons.ts';

/**
 * The reasons of the operator's catalogue that the judge does not know by itself, as predicates over the truth
 * (LIVE-2). Those about the operator's own view or its requests cannot be refuted from the state of the cluster; a
 * run in which one of them lasts does not end, and LIVE-1 tells.
 */
export const worldReasons: Readonly<Record<string, ReasonPredicate>> = {
  ZoneOrder: (zones) => zones.some(({ outdated }) => outdated.length > 0),
  AwaitingPredecessor: (zones) => zones.some(({ outdated }) => outdated.length > 0),
  AwaitingAnswer: (zones) => zones.some(({ outdated }) => outdated.length > 0),
  // They speak of replicas, resources and pods' words, none of which the truth about zones has.
  LeaderNotFound: () => true,
  LeaderNotReady: () => true,
  MinimumTimeNotElapsed: () => true,
  MinimumTimeUnknown: () => true,
  LastDownscaleUnknown: () => true,
  ConflictingSources: () => true,
  ReferenceUnresolved: () => true,
  ReferenceUnreadable: () => true,
  ScaleRefused: () => true,
  ScaleOrder: () => true,
  ReplicasContested: () => true,
  DownscaleDelayed: () => true,
  AwaitingPods: () => true,
  PodNotPrepared: () => true,
  InvalidDelayedDownscale: () => true,
  ZoneBeingChanged: (zones) => zones.some(({ unavailable }) => unavailable.length > 0),
  ViewNotFresh: () => true,
  RequestRefused: () => true,
};
