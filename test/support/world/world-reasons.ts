import type { ReasonPredicate, ZoneTruth } from '../invariants/liveness/reasons.ts';

const leader = 'grafana.com/rollout-downscale-leader';
const upscaleGate = 'grafana.com/rollout-upscale-only-when-leader-ready';
const minimumTime = 'grafana.com/min-time-between-zones-downscale';
const forced = 'grafana.com/rollout-force-replicas';
const mirrored = 'grafana.com/rollout-mirror-replicas-from-resource-name';
const delay = 'grafana.com/rollout-delayed-downscale';
const prepareUrl = 'grafana.com/rollout-prepare-delayed-downscale-url';
const preparedAt = 'rollout-operator/prepared-at';

const isOutdatedSomewhere: ReasonPredicate = (zones) =>
  zones.some(({ outdated }) => outdated.length > 0);

/** Returns whether some set, or the one that the statement names, carries one of `keys`. */
function carries(...keys: readonly string[]): ReasonPredicate {
  return (zones, said) =>
    zones.some(
      ({ set }) =>
        (said.set === undefined || said.set === set.name) && keys.some((key) => set.keys.has(key)),
    );
}

/** A user asked for what takes pods. */
const isTakenSomewhere: ReasonPredicate = (zones, said) =>
  isOutdatedSomewhere(zones, said) || carries(leader, mirrored, forced)(zones, said);

function leaderOf({ set }: ZoneTruth, zones: readonly ZoneTruth[]): ZoneTruth | undefined {
  return zones.find((zone) => zone.set.name === set.keys.get(leader));
}

/**
 * The reasons of the operator's catalogue that the judge does not know by itself, as predicates over the truth (LIVE-2).
 *
 * Where a reason rests on what is not in the StatefulSets (another resource, a ConfigMap, the word of a pod), the
 * predicate asks for the part that is: that a user asked for what is held up. Some speak of the operator's own view
 * and its requests, which no state of the cluster refutes; a run in which one of them lasts does not end, and LIVE-1
 * tells.
 */
export const worldReasons: Readonly<Record<string, ReasonPredicate>> = {
  ZoneOrder: isOutdatedSomewhere,
  StuckPodKept: (zones) => zones.some((zone) => zone.unavailable.length > 0),
  SetTooLarge: (zones) =>
    zones.some(({ set }) => Math.max(set.replicas, set.statusReplicas) > 20_000),
  // What else names a set is in no set.
  ConflictingOwners: () => true,
  AwaitingPredecessor: isTakenSomewhere,
  AwaitingAnswer: isOutdatedSomewhere,
  BudgetRefused: isTakenSomewhere,
  BudgetUnclear: isTakenSomewhere,
  LeaderNotFound: (zones) =>
    zones.some((zone) => zone.set.keys.has(leader) && leaderOf(zone, zones) === undefined),
  LeaderNotReady: (zones) =>
    zones.some((zone) => {
      const led = leaderOf(zone, zones);
      const isGated = zone.set.keys.get(upscaleGate) === 'true';
      return isGated && led !== undefined && led.unavailable.length > 0;
    }),
  MinimumTimeNotElapsed: carries(minimumTime),
  MinimumTimeUnknown: carries(leader, mirrored),
  LastDownscaleUnknown: carries(leader, mirrored),
  ConflictingSources: (zones) =>
    zones.some(({ set }) => set.keys.has(leader) && set.keys.has(mirrored)),
  ReferenceUnresolved: carries(mirrored),
  ReferenceUnreadable: carries(mirrored),
  ScaleRefused: carries(leader, mirrored, forced),
  ScaleOrder: carries(leader, mirrored, forced),
  ReplicasContested: carries(leader, mirrored, forced),
  DownscaleDelayed: carries(delay),
  AwaitingPods: carries(delay),
  PodNotPrepared: carries(delay),
  PodsStayPrepared: carries(preparedAt),
  InvalidDelayedDownscale: carries(delay, prepareUrl),
  ZoneBeingChanged: (zones) => zones.some(({ unavailable }) => unavailable.length > 0),
  RevisionContested: () => true,
  AwaitingOwnWrite: () => true,
  AwaitingRequest: () => true,
  ViewNotFresh: () => true,
  RequestRefused: () => true,
};
