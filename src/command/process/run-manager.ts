import { randomUUID } from 'node:crypto';
import type { Config } from '#config/config.ts';
import type { ManagerConfig } from '#config/manager-config.ts';
import type { Accepted, Outcome } from '#config/outcome.ts';
import { connect } from '#kubernetes/connect/connection.ts';
import type { ManagerOptions } from '#operator/manager/options.ts';
import { startProbes } from '#operator/manager/servers.ts';
import { createHttpServerMetrics } from '#telemetry/http/http-server-metrics.ts';
import { createReadiness } from '#telemetry/http/readiness.ts';
import { createLogger } from '#telemetry/log/line-logger.ts';
import { createOperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import { createProcessRegistry } from '#telemetry/metrics/process-metrics.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { type Closable, type CloseAtEnd, closerOf } from './closer.ts';
import { exitCodeOf } from './exit-code.ts';
import { standardErrorSink } from './log-sink.ts';
import { namespaceOf, settingsOf } from './manager-connection.ts';
import { signalled } from './signals.ts';
import { tellIgnored } from './tell-ignored.ts';

/** What one run of a manager is given, and how it opens more. */
export interface ManagerParts<Door> extends ManagerOptions<Door> {
  readonly closeAtEnd: CloseAtEnd;
}

/** One of the names under which the program runs as a manager of controller-runtime. */
export interface Manager<Door> {
  /** Used in the identity of a process whose host has no name. */
  readonly name: string;
  /** Returns what it shares with the other names, in the operator's own namespace. */
  readonly sharedConfig: (door: Door, namespace: string) => Config;
  /** Finds the API server. @default that of the kubeconfig, or of the pod */
  readonly settingsFor?: typeof settingsOf;
  /** Runs until `signal` aborts. */
  readonly run: (parts: ManagerParts<Door>, signal: AbortSignal) => Promise<void>;
}

/**
 * Runs `manager` as `outcome` says, until SIGINT or SIGTERM.
 *
 * @returns the exit code: 0 after a signal, 1 when it cannot start or cannot go on, 2 for bad flags
 */
export function runManager<Door extends ManagerConfig>(
  outcome: Outcome<Door>,
  manager: Manager<Door>,
): Promise<number> {
  return exitCodeOf(outcome, (accepted) => serve(accepted, manager));
}

async function serve<Door extends ManagerConfig>(
  { config: door, ignored }: Accepted<Door>,
  { name, sharedConfig, settingsFor = settingsOf, run }: Manager<Door>,
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
  const opened: Closable[] = [];
  const closeAtEnd = closerOf(opened);
  try {
    const probes = await startProbes(door, { ...shared, isReady: () => readiness.isReady() });
    if (probes !== undefined) closeAtEnd(probes);
    const settings = await settingsFor(door, clock);
    const config = sharedConfig(door, namespaceOf(door, settings));
    const transport = closeAtEnd(connect(settings, { clock, env: process.env }));
    const metrics = createOperatorMetrics(registry);
    const identity = `${process.env['HOSTNAME'] ?? name}-${randomUUID()}`;
    const given = { ...shared, door, config, readiness, transport, metrics, identity };
    await run({ ...given, closeAtEnd }, stop.signal);
  } finally {
    await Promise.all(opened.map((each) => each.close()));
    stop.release();
    sink.flush();
  }
}
