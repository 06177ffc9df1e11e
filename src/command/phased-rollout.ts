import { readPhasedRolloutConfig, sharedConfigOf } from '#config/phased-config.ts';
import { runPhasedRollout } from '#operator/phased-rollout/phased-rollout.ts';
import { BudgetMetrics } from '#telemetry/metrics/budget-metrics.ts';
import { openPrometheus } from './process/open-prometheus.ts';
import { runManager } from './process/run-manager.ts';

/**
 * Runs as the sts-phased-rollout-operator does, with its flags, variables, ports and files (D-65), until SIGINT or SIGTERM.
 *
 * @param args the arguments after the program, or after the command
 * @returns the exit code: 0 after a signal, 1 when it cannot start or cannot go on, 2 for bad flags
 */
export function phasedRolloutCommand(args: readonly string[]): Promise<number> {
  const { ENABLE_WEBHOOKS, KUBECONFIG, TMPDIR } = process.env;
  return runManager(readPhasedRolloutConfig(args, { ENABLE_WEBHOOKS, KUBECONFIG, TMPDIR }), {
    name: 'phased-rollout',
    sharedConfig: sharedConfigOf,
    run: (parts, signal) => {
      const { clock, door, registry, closeAtEnd } = parts;
      const prometheus = closeAtEnd(openPrometheus(door.queries, { clock }));
      const budgetMetrics = new BudgetMetrics(registry);
      return runPhasedRollout({ ...parts, prometheus, budgetMetrics }, signal);
    },
  });
}
