/** Gauges of StatefulsetRollouts, from what their statuses show. */
import type { Informer } from '#kubernetes/informer/informer.ts';
import { integerAt, objectAt } from '#statefulset/parse-fields.ts';
import { partialSince } from '#statefulset-rollout/events/partial-aging.ts';
import type { RolloutView } from '#statefulset-rollout/parse-resource.ts';
import { podsIn } from '#statefulset-rollout/status.ts';
import type { RolloutFigures, RolloutMetrics } from '#telemetry/metrics/rollout-metrics.ts';

/** Shows what is stored of rollouts, as long as it is. */
export function showRollouts(
  rollouts: Pick<Informer<RolloutView>, 'onChange'>,
  metrics: RolloutMetrics,
): void {
  rollouts.onChange(({ kind, object }) => {
    if (kind === 'deleted') metrics.forget(object);
    else metrics.show(object, figuresOf(object));
  });
}

function figuresOf(rollout: RolloutView): RolloutFigures {
  const { spec, progress, writtenStatus } = rollout;
  return {
    phase: progress.phase,
    requested: spec.kind === 'valid' ? spec.value.percent : undefined,
    deployed: progress.percentDeployed,
    replicas: replicasOf(rollout),
    leaked: integerAt(objectAt(writtenStatus, 'leak'), 'leakedReplicas') ?? 0,
    partialSince: partialSince(rollout),
  };
}

function replicasOf({ writtenStatus }: RolloutView): RolloutFigures['replicas'] {
  const counts = objectAt(writtenStatus, 'rollout');
  // Of those that are listed: a pod that was let go, or made, and is not ready.
  const inFlight = podsIn(writtenStatus).filter(
    (pod) => pod['rotated'] === true && pod['ready'] !== true,
  );
  const known = {
    total: integerAt(writtenStatus, 'replicas'),
    target: integerAt(counts, 'targetReplicas'),
    updated: integerAt(counts, 'updatedReplicas'),
    ready: integerAt(writtenStatus, 'readyReplicas'),
    service_discovery: integerAt(writtenStatus, 'readyReplicasRotor'),
    in_flight: inFlight.length,
  };
  return Object.fromEntries(Object.entries(known).filter(([, count]) => count !== undefined));
}
