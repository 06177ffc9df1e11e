import { randomUUID } from 'node:crypto';
import { errorOf } from '#base/error-of.ts';
import { createPrometheus } from '#check/prometheus/prometheus.ts';
import {
  type PhasedRolloutOutcome,
  readPhasedRolloutConfig,
  sharedConfigOf,
} from '#config/phased-config.ts';
import { connect } from '#kubernetes/connect/connection.ts';
import { startProbes } from '#operator/manager/servers.ts';
import { runPhasedRollout } from '#operator/phased-rollout/phased-rollout.ts';
import { createHttpServerMetrics } from '#telemetry/http/http-server-metrics.ts';
import { createReadiness } from '#telemetry/http/readiness.ts';
import { createLogger } from '#telemetry/log/line-logger.ts';
import { BudgetMetrics } from '#telemetry/metrics/budget-metrics.ts';
import { createOperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import { createProcessRegistry } from '#telemetry/metrics/process-metrics.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { standardErrorSink } from './process/log-sink.ts';
import { namespaceOf, settingsOf } from './process/manager-connection.ts';
import { signalled } from './process/signals.ts';
import { tellIgnored } from './process/tell-ignored.ts';

/** A command line that can be run. */
type Accepted = Extract<PhasedRolloutOutcome, { readonly kind: 'run' }>;

/**
 * Runs as the sts-phased-rollout-operator does, with its flags, variables, ports and files (D-65), until SIGINT or SIGTERM.
 *
 * @param args the arguments after the program, or after the command
 * @returns the exit code: 0 after a signal, 1 when it cannot start or cannot go on, 2 for bad flags
 */
export async function phasedRolloutCommand(args: readonly string[]): Promise<number> {
  const { ENABLE_WEBHOOKS, KUBECONFIG, TMPDIR } = process.env;
  const outcome = readPhasedRolloutConfig(args, { ENABLE_WEBHOOKS, KUBECONFIG, TMPDIR });
  if (outcome.kind === 'exit') {
    process.stderr.write(outcome.stderr);
    return outcome.code;
  }
  try {
    await serve(outcome);
    return 0;
  } catch (error) {
    process.stderr.write(`${errorOf(error).message}\n`);
    return 1;
  }
}

async function serve({ config: door, ignored }: Accepted): Promise<void> {
  const clock = systemClock();
  const sink = standardErrorSink();
  const log = createLogger({ ...door.log, clock, sink });
  tellIgnored(log, ignored);
  const registry = createProcessRegistry();
  const httpMetrics = createHttpServerMetrics(registry);
  const readiness = createReadiness();
  const isReady = (): boolean => readiness.isReady();
  const shared = { clock, log, registry, httpMetrics };
  const stop = signalled((signal) => log.info('signal received', { signal }));
  const opened: { close(): Promise<void> }[] = [];
  try {
    const probes = await startProbes(door, { ...shared, isReady });
    if (probes !== undefined) opened.push(probes);
    const settings = await settingsOf(door, clock);
    const config = sharedConfigOf(door, namespaceOf(door, settings));
    const transport = await connect(settings, { clock, env: process.env });
    opened.push(transport);
    const metrics = createOperatorMetrics(registry);
    const prometheus = createPrometheus({ clock, env: process.env });
    opened.push(prometheus);
    const budgetMetrics = new BudgetMetrics(registry);
    const identity = `${process.env['HOSTNAME'] ?? 'phased-rollout'}-${randomUUID()}`;
    const given = {
      ...shared,
      door,
      config,
      metrics,
      budgetMetrics,
      readiness,
      transport,
      identity,
      prometheus,
    };
    await runPhasedRollout(given, stop.signal);
  } finally {
    await Promise.all(opened.map((each) => each.close()));
    stop.release();
    sink.flush();
  }
}
