import {
  readStatefulsetRolloutConfig,
  sharedStatefulsetConfig,
} from '#config/statefulset-config.ts';
import { runStatefulsetRollout } from '#operator/statefulset-rollout/statefulset-rollout.ts';
import { phases } from '#statefulset-rollout/progress.ts';
import { RolloutMetrics } from '#telemetry/metrics/rollout-metrics.ts';
import type { settingsOf } from './process/manager-connection.ts';
import { openOutside } from './process/rollout-outside.ts';
import { runManager } from './process/run-manager.ts';

/**
 * Carries out StatefulsetRollouts until SIGINT or SIGTERM (D-65).
 *
 * @param args the arguments after the program, or after the command
 * @param settingsFor finds the API server. @default that of the kubeconfig, or of the pod
 * @returns the exit code: 0 after a signal, 1 when it cannot start or cannot go on, 2 for bad flags
 */
export function statefulsetRolloutCommand(
  args: readonly string[],
  settingsFor?: typeof settingsOf,
): Promise<number> {
  return runManager(readStatefulsetRolloutConfig(args, process.env), {
    name: 'statefulset-rollout',
    sharedConfig: sharedStatefulsetConfig,
    ...(settingsFor !== undefined && { settingsFor }),
    run: (parts, signal) => {
      const { door, clock, log, registry, closeAtEnd } = parts;
      const outside = closeAtEnd(openOutside(door.outside, { clock, log }));
      const rolloutMetrics = new RolloutMetrics(registry, { clock, phases });
      const given = { ...parts, outside, env: process.env, rolloutMetrics };
      return runStatefulsetRollout(given, signal);
    },
  });
}
