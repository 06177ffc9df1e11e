import Counter from 'prom-client/lib/counter.js';
import Gauge from 'prom-client/lib/gauge.js';
import heapSizes from 'prom-client/lib/metrics/heapSizeAndUsed.js';
import memorySizes from 'prom-client/lib/metrics/osMemoryHeap.js';
import mostDescriptors from 'prom-client/lib/metrics/processMaxFileDescriptors.js';
import openDescriptors from 'prom-client/lib/metrics/processOpenFileDescriptors.js';
import startTime from 'prom-client/lib/metrics/processStartTime.js';
import nodeVersion from 'prom-client/lib/metrics/version.js';
import Registry from 'prom-client/lib/registry.js';
import { createMetricsRegistry, type MetricsRegistry } from '../metrics.ts';

/**
 * Returns a registry that exposes the process itself besides what is declared in it, measured at each exposition:
 * `process_…` by the names that every client library uses, and what is Node's as `nodejs_…`. Nothing is called `go_…`, as no
 * figure of Node means the same (docs/metrics.md).
 */
export function createProcessRegistry(): MetricsRegistry {
  const registry = new Registry();
  for (const declare of [
    startTime,
    memorySizes,
    openDescriptors,
    mostDescriptors,
    heapSizes,
    nodeVersion,
  ])
    declare(registry);
  // Not those of the library: its collector of CPU time loads OpenTelemetry, that of the event loop wakes 100 times a
  // second, and that of resources has a gauge with a counter's name.
  declareTime(registry, {
    name: 'process_cpu_seconds_total',
    help: 'User and system CPU time of the process in seconds.',
    seconds: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    },
  });
  declareTime(registry, {
    name: 'nodejs_eventloop_active_seconds_total',
    help: 'Time that the event loop was busy, garbage collection included; its rate is the share of one core that is taken.',
    seconds: () => performance.eventLoopUtilization().active / 1_000,
  });
  declareResources(registry);
  return createMetricsRegistry(registry);
}

interface MeasuredTime {
  readonly name: string;
  readonly help: string;
  /** Since the start. */
  readonly seconds: () => number;
}

function declareTime(registry: Registry, { name, help, seconds }: MeasuredTime): void {
  const counter = new Counter({
    name,
    help,
    registers: [registry],
    collect: () => {
      counter.reset();
      counter.inc(seconds());
    },
  });
}

function declareResources(registry: Registry): void {
  const gauge = new Gauge<'type'>({
    name: 'nodejs_active_resources',
    help: 'Resources that keep the event loop alive, by type, such as open sockets and timers; grows where some leak.',
    labelNames: ['type'],
    registers: [registry],
    collect: () => {
      gauge.reset();
      for (const type of process.getActiveResourcesInfo()) gauge.inc({ type });
    },
  });
}
