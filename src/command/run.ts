/**
 * What the program does by each of its names: one file a command, which opens the real world and hands it on. Nothing is
 * decided here; the demo and the tools for a `bedrock.yaml` have folders of their own.
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import type { Config } from '#config/config.ts';
import type { Accepted } from '#config/outcome.ts';
import { type ConfigOutcome, readConfig } from '#config/read-config.ts';
import {
  type ConnectionSettings,
  ConnectionSettingsError,
  connect,
} from '#kubernetes/connect/connection.ts';
import { inClusterSettings } from '#kubernetes/connect/in-cluster.ts';
import { type Beside, runOperator } from '#operator.ts';
import { type HttpServer, startHttpServer } from '#telemetry/http/http-server.ts';
import {
  createHttpServerMetrics,
  type HttpServerMetrics,
} from '#telemetry/http/http-server-metrics.ts';
import { createReadiness, type Readiness } from '#telemetry/http/readiness.ts';
import { createLogger } from '#telemetry/log/line-logger.ts';
import { tracedLogger } from '#telemetry/log/traced-logger.ts';
import { BudgetMetrics } from '#telemetry/metrics/budget-metrics.ts';
import { createOperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import { createProcessRegistry } from '#telemetry/metrics/process-metrics.ts';
import type { MetricsRegistry } from '#telemetry/metrics.ts';
import { withMissingFile } from '#telemetry/missing-file.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { admissionOf } from './process/admission.ts';
import { type Closable, closerOf } from './process/closer.ts';
import { exitCodeOf } from './process/exit-code.ts';
import { standardErrorSink } from './process/log-sink.ts';
import { podHttpOf } from './process/pod-http.ts';
import type { ManagerParts } from './process/run-manager.ts';
import { signalled } from './process/signals.ts';
import { tellIgnored } from './process/tell-ignored.ts';
import { tracingOf } from './process/tracing.ts';

/** Finds out how to reach the API server. */
export type FindCluster = (config: Config, clock: Clock) => Promise<ConnectionSettings>;

/** What is opened with the rest of a run. */
export type OpenParts = Omit<ManagerParts<never>, 'door' | 'identity'>;

/** Opens what runs along with groups. */
export type OpenBeside = (parts: OpenParts) => Promise<Beside>;

/**
 * Runs the operator alone, against the cluster that the flags, the kubeconfig or the pod's service account name,
 * until SIGINT or SIGTERM.
 *
 * @param args the arguments after the program: flags only
 * @param findCluster finds the API server and the credentials
 * @returns the exit code: 0 after a signal, 1 when it cannot start or cannot go on, 2 for bad flags
 */
export function runCommand(
  args: readonly string[],
  findCluster: FindCluster = settingsOf,
): Promise<number> {
  return runConfigured(readConfig(args), { findCluster });
}

/** Runs as `outcome` says. @returns the exit code, as {@link runCommand} */
export function runConfigured(
  outcome: ConfigOutcome,
  how: { readonly findCluster?: FindCluster; readonly openBeside?: OpenBeside } = {},
): Promise<number> {
  const { findCluster = settingsOf, openBeside = nothingBeside } = how;
  return exitCodeOf(outcome, (accepted) => serve(accepted, { findCluster, openBeside }));
}

const nothingBeside: OpenBeside = () => Promise.resolve({});

async function serve(
  { config, ignored }: Accepted<Config>,
  {
    findCluster,
    openBeside,
  }: { readonly findCluster: FindCluster; readonly openBeside: OpenBeside },
): Promise<void> {
  const clock = systemClock();
  const sink = standardErrorSink();
  const plainLog = createLogger({ ...config.log, clock, sink });
  tellIgnored(plainLog, ignored);
  const registry = createProcessRegistry();
  const tracer = await tracingOf({ env: process.env, clock, log: plainLog, registry });
  const log = tracer === undefined ? plainLog : tracedLogger(plainLog, tracer.tracing);
  const traced = tracer === undefined ? {} : { tracing: tracer.tracing };
  const readiness = createReadiness();
  const httpMetrics = createHttpServerMetrics(registry);
  const server = await listen(config, { clock, log, registry, httpMetrics, readiness });
  const stop = signalled((signal) => log.info('signal received', { signal }));
  const opened: Closable[] = [server];
  try {
    const transport = connect(await findCluster(config, clock), { clock, env: process.env });
    opened.push(transport);
    const metrics = createOperatorMetrics(registry);
    const budgetMetrics = new BudgetMetrics(registry);
    const identity = `${process.env['HOSTNAME'] ?? 'rollout-operator'}-${randomUUID()}`;
    const podPorts = { clock, log, metrics, env: process.env, ...traced };
    const podHttp = podHttpOf(config, podPorts);
    const admission = admissionOf(config, { ...podPorts, registry, httpMetrics });
    opened.push(podHttp, ...(admission === undefined ? [] : [admission.podHttp]));
    const shared = { config, clock, log, metrics, readiness, transport };
    const closeAtEnd = closerOf(opened);
    const beside = await openBeside({ ...shared, registry, httpMetrics, closeAtEnd });
    const ports = { ...shared, podHttp, identity, ...beside };
    const given = {
      ...ports,
      budgetMetrics,
      ...(admission !== undefined && { admission }),
      ...traced,
    };
    await runOperator(given, stop.signal);
  } finally {
    await Promise.all(opened.map((each) => each.close()));
    // Last: nothing waits for this process any more, and all that was asked of others has ended.
    await tracer?.close();
    stop.release();
    sink.flush();
  }
}

function listen(
  config: Config,
  parts: {
    readonly clock: Clock;
    readonly log: Logger;
    readonly registry: MetricsRegistry;
    readonly httpMetrics: HttpServerMetrics;
    readonly readiness: Readiness;
  },
): Promise<HttpServer> {
  const { clock, log, registry, httpMetrics, readiness } = parts;
  return startHttpServer({
    port: config.server.port,
    clock,
    logger: log,
    registry,
    metrics: httpMetrics,
    clusterValidation: { ...config.server.clusterValidation, cluster: config.kubernetes.namespace },
    isReady: () => readiness.isReady(),
  });
}

/** Reads the settings from the kubeconfig when one is named, else from inside the cluster (FL-14, EN-1). */
async function settingsOf(config: Config, clock: Clock): Promise<ConnectionSettings> {
  const { apiUrl, configFile } = config.kubernetes;
  if (configFile === undefined) {
    return inClusterSettings({ clock, env: process.env }).catch(withHint);
  }
  // Loaded here only: it brings the official client's library with it.
  const { kubeconfigSettings } = await import('#kubernetes/connect/kubeconfig.ts').catch(
    withMissingFile,
  );
  return kubeconfigSettings({
    clock,
    path: configFile,
    ...(apiUrl !== undefined && { apiUrl }),
  });
}

function withHint(error: unknown): never {
  if (!(error instanceof ConnectionSettingsError)) throw error;
  throw new Error(
    `${error.message}; outside of a cluster, name a kubeconfig with -kubernetes.config-file`,
    { cause: error },
  );
}
