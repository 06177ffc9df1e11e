/** Gauges of ZoneAwareUpdates and ZoneDisruptionBudgets, by the names of the peer. */
import type { Change, Informer } from '#kubernetes/informer/informer.ts';
import type { UpdateMetrics } from '#telemetry/metrics/update-metrics.ts';
import type { ZoneBudgetMetrics } from '#telemetry/metrics/zone-budget-metrics.ts';
import type { UpdateView } from '#zone-aware-update/parse-resource.ts';
import type { ZoneBudgetView } from '#zone-disruption-budget/cache/zone-budget-view.ts';

/** Shows what is stored of updates, as long as it is. */
export function showUpdates(
  updates: Pick<Informer<UpdateView>, 'onChange'>,
  metrics: UpdateMetrics,
): void {
  updates.onChange(({ kind, object: { namespace, name, spec, status } }) => {
    if (kind === 'deleted') {
      metrics.forget(namespace, name);
      return;
    }
    metrics.show(namespace, name, {
      step: status.updateStep,
      deleted: status.deletedReplicas,
      old: status.oldReplicas,
      isDryRun: spec.kind === 'valid' && spec.value.isDryRun,
      isPaused: status.isPaused,
    });
  });
}

/** Shows a budget as `change` leaves it. */
export function showZoneBudget(
  { kind, object: { namespace, name, parsed, status } }: Change<ZoneBudgetView>,
  metrics: ZoneBudgetMetrics,
): void {
  if (kind === 'deleted') {
    metrics.forget(namespace, name);
    return;
  }
  const isDryRun = parsed.kind === 'valid' && parsed.spec.isDryRun;
  metrics.show(namespace, name, { ...status, isDryRun });
}
