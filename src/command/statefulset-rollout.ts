import { randomUUID } from 'node:crypto';
import { errorOf } from '#base/error-of.ts';
import {
  readStatefulsetRolloutConfig,
  type StatefulsetRolloutOutcome,
  sharedStatefulsetConfig,
} from '#config/statefulset-config.ts';
import { connect } from '#kubernetes/connect/connection.ts';
import { startProbes } from '#operator/manager/servers.ts';
import { runStatefulsetRollout } from '#operator/statefulset-rollout/statefulset-rollout.ts';
import { phases } from '#statefulset-rollout/progress.ts';
import { createHttpServerMetrics } from '#telemetry/http/http-server-metrics.ts';
import { createReadiness } from '#telemetry/http/readiness.ts';
import { createLogger } from '#telemetry/log/line-logger.ts';
import { createOperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import { createProcessRegistry } from '#telemetry/metrics/process-metrics.ts';
import { RolloutMetrics } from '#telemetry/metrics/rollout-metrics.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { standardErrorSink } from './process/log-sink.ts';
import { namespaceOf, settingsOf } from './process/manager-connection.ts';
import { openOutside } from './process/rollout-outside.ts';
import { signalled } from './process/signals.ts';
import { tellIgnored } from './process/tell-ignored.ts';

/** A command line that can be run. */
type Accepted = Extract<StatefulsetRolloutOutcome, { readonly kind: 'run' }>;

/**
 * Carries out StatefulsetRollouts until SIGINT or SIGTERM (D-65).
 *
 * @param args the arguments after the program, or after the command
 * @param settingsFor finds the API server. @default that of the kubeconfig, or of the pod
 * @returns the exit code: 0 after a signal, 1 when it cannot start or cannot go on, 2 for bad flags
 */
export async function statefulsetRolloutCommand(
  args: readonly string[],
  settingsFor: typeof settingsOf = settingsOf,
): Promise<number> {
  const outcome = readStatefulsetRolloutConfig(args, process.env);
  if (outcome.kind === 'exit') {
    process.stderr.write(outcome.stderr);
    return outcome.code;
  }
  try {
    await serve(outcome, settingsFor);
    return 0;
  } catch (error) {
    process.stderr.write(`${errorOf(error).message}\n`);
    return 1;
  }
}

async function serve(
  { config: door, ignored }: Accepted,
  settingsFor: typeof settingsOf,
): Promise<void> {
  const clock = systemClock();
  const sink = standardErrorSink();
  const log = createLogger({ ...door.log, clock, sink });
  tellIgnored(log, ignored);
  const registry = createProcessRegistry();
  const httpMetrics = createHttpServerMetrics(registry);
  const readiness = createReadiness();
  const shared = { clock, log, registry, httpMetrics };
  const stop = signalled((signal) => log.info('signal received', { signal }));
  const opened: { close(): Promise<void> }[] = [];
  try {
    const probes = await startProbes(door, { ...shared, isReady: () => readiness.isReady() });
    if (probes !== undefined) opened.push(probes);
    const settings = await settingsFor(door, clock);
    const config = sharedStatefulsetConfig(door, namespaceOf(door, settings));
    const transport = await connect(settings, { clock, env: process.env });
    opened.push(transport);
    const outside = openOutside(door.outside, { clock, log });
    opened.push(outside);
    const given = {
      ...shared,
      door,
      config,
      readiness,
      transport,
      outside,
      env: process.env,
      metrics: createOperatorMetrics(registry),
      rolloutMetrics: new RolloutMetrics(registry, { clock, phases }),
      identity: `${process.env['HOSTNAME'] ?? 'statefulset-rollout'}-${randomUUID()}`,
    };
    await runStatefulsetRollout(given, stop.signal);
  } finally {
    await Promise.all(opened.map((each) => each.close()));
    stop.release();
    sink.flush();
  }
}
