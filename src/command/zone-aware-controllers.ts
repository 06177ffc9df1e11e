import { readZoneAwareConfig, sharedZoneAwareConfig } from '#config/zone-aware-config.ts';
import { runZoneAwareControllers } from '#operator/zone-aware/zone-aware-controllers.ts';
import { BudgetMetrics } from '#telemetry/metrics/budget-metrics.ts';
import { UpdateMetrics } from '#telemetry/metrics/update-metrics.ts';
import { ZoneBudgetMetrics } from '#telemetry/metrics/zone-budget-metrics.ts';
import { openAlarms } from './process/alarms.ts';
import type { settingsOf } from './process/manager-connection.ts';
import { openPrometheus } from './process/open-prometheus.ts';
import { runManager } from './process/run-manager.ts';

/**
 * Runs as the zone-aware-controllers-for-k8s do, with their flags, variables and ports (D-65), until SIGINT or SIGTERM.
 *
 * @param args the arguments after the program, or after the command
 * @param settingsFor finds the API server. @default that of the kubeconfig, or of the pod
 * @returns the exit code: 0 after a signal, 1 when it cannot start or cannot go on, 2 for bad flags
 */
export function zoneAwareControllersCommand(
  args: readonly string[],
  settingsFor?: typeof settingsOf,
): Promise<number> {
  const { CONTROLLERS, KUBECONFIG, TMPDIR } = process.env;
  return runManager(readZoneAwareConfig(args, { CONTROLLERS, KUBECONFIG, TMPDIR }), {
    name: 'zone-aware-controllers',
    sharedConfig: sharedZoneAwareConfig,
    ...(settingsFor !== undefined && { settingsFor }),
    run: (parts, signal) => {
      const { clock, door, log, registry, closeAtEnd } = parts;
      const given = {
        ...parts,
        alarms: closeAtEnd(openAlarms({ clock, log })),
        prometheus: closeAtEnd(openPrometheus(door.queries, { clock })),
        budgetMetrics: new BudgetMetrics(registry),
        updateMetrics: new UpdateMetrics(registry),
        zoneBudgetMetrics: new ZoneBudgetMetrics(registry),
      };
      return runZoneAwareControllers(given, signal);
    },
  });
}
