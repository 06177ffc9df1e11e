import { randomUUID } from 'node:crypto';
import { errorOf } from '#base/error-of.ts';
import { Alarms } from '#check/cloudwatch/alarms.ts';
import { openCloudWatch } from '#check/cloudwatch/cloud-watch.ts';
import { createPrometheus } from '#check/prometheus/prometheus.ts';
import {
  readZoneAwareConfig,
  sharedZoneAwareConfig,
  type ZoneAwareOutcome,
} from '#config/zone-aware-config.ts';
import { connect } from '#kubernetes/connect/connection.ts';
import { startProbes } from '#operator/manager/servers.ts';
import { runZoneAwareControllers } from '#operator/zone-aware/zone-aware-controllers.ts';
import { createHttpServerMetrics } from '#telemetry/http/http-server-metrics.ts';
import { createReadiness } from '#telemetry/http/readiness.ts';
import { createLogger } from '#telemetry/log/line-logger.ts';
import { BudgetMetrics } from '#telemetry/metrics/budget-metrics.ts';
import { createOperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import { createProcessRegistry } from '#telemetry/metrics/process-metrics.ts';
import { UpdateMetrics } from '#telemetry/metrics/update-metrics.ts';
import { ZoneBudgetMetrics } from '#telemetry/metrics/zone-budget-metrics.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { standardErrorSink } from './process/log-sink.ts';
import { namespaceOf, settingsOf } from './process/manager-connection.ts';
import { signalled } from './process/signals.ts';
import { tellIgnored } from './process/tell-ignored.ts';

/** A command line that can be run. */
type Accepted = Extract<ZoneAwareOutcome, { readonly kind: 'run' }>;

/**
 * Runs as the zone-aware-controllers-for-k8s do, with their flags, variables and ports (D-65), until SIGINT or SIGTERM.
 *
 * @param args the arguments after the program, or after the command
 * @param settingsFor finds the API server. @default that of the kubeconfig, or of the pod
 * @returns the exit code: 0 after a signal, 1 when it cannot start or cannot go on, 2 for bad flags
 */
export async function zoneAwareControllersCommand(
  args: readonly string[],
  settingsFor: typeof settingsOf = settingsOf,
): Promise<number> {
  const { CONTROLLERS, KUBECONFIG, TMPDIR } = process.env;
  const outcome = readZoneAwareConfig(args, { CONTROLLERS, KUBECONFIG, TMPDIR });
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
    const config = sharedZoneAwareConfig(door, namespaceOf(door, settings));
    const transport = await connect(settings, { clock, env: process.env });
    opened.push(transport);
    const alarms = new Alarms({ clock, source: openCloudWatch({ clock, log, env: process.env }) });
    opened.push(alarms);
    const prometheus = createPrometheus({ clock, env: process.env });
    opened.push(prometheus);
    const given = {
      ...shared,
      door,
      config,
      readiness,
      transport,
      alarms,
      prometheus,
      metrics: createOperatorMetrics(registry),
      budgetMetrics: new BudgetMetrics(registry),
      updateMetrics: new UpdateMetrics(registry),
      zoneBudgetMetrics: new ZoneBudgetMetrics(registry),
      identity: `${process.env['HOSTNAME'] ?? 'zone-aware-controllers'}-${randomUUID()}`,
    };
    await runZoneAwareControllers(given, stop.signal);
  } finally {
    await Promise.all(opened.map((each) => each.close()));
    stop.release();
    sink.flush();
  }
}
