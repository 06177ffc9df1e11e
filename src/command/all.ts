import { type AllFront, readAllConfig } from '#config/all-config.ts';
import { decoratedClient } from '#operator/manager/client.ts';
import { tellWithoutEffect } from '#operator/manager/options.ts';
import { startProbes, startScrapes } from '#operator/manager/servers.ts';
import { phasedCapability } from '#operator/phased-rollout/capability.ts';
import { statefulsetCapability } from '#operator/statefulset-rollout/capability.ts';
import { openConsul } from '#operator/statefulset-rollout/consul.ts';
import { openZoneCapabilities } from '#operator/zone-aware/zone-capabilities.ts';
import type { Beside } from '#operator.ts';
import { phases } from '#statefulset-rollout/progress.ts';
import { RolloutMetrics } from '#telemetry/metrics/rollout-metrics.ts';
import { UpdateMetrics } from '#telemetry/metrics/update-metrics.ts';
import { ZoneBudgetMetrics } from '#telemetry/metrics/zone-budget-metrics.ts';
import { openAlarms } from './process/alarms.ts';
import { openPrometheus } from './process/open-prometheus.ts';
import { openOutside } from './process/rollout-outside.ts';
import { type OpenParts, runConfigured } from './run.ts';

/**
 * Runs every capability in one process, with one set of caches, one Lease and one authority over disruptions, until SIGINT or
 * SIGTERM (D-65).
 *
 * @param args the arguments after `all`: flags of any of the peers
 * @returns the exit code: 0 after a signal, 1 when it cannot start or cannot go on, 2 for bad flags
 */
export async function allCommand(args: readonly string[]): Promise<number> {
  const outcome = readAllConfig(args, process.env);
  if (outcome.kind === 'exit') return runConfigured(outcome);
  return runConfigured(outcome, { openBeside: (parts) => openBeside(outcome.front, parts) });
}

async function openBeside(front: AllFront, parts: OpenParts): Promise<Beside> {
  const { clock, log, registry, readiness, closeAtEnd } = parts;
  tellWithoutEffect(log, front.withoutEffect);
  const serving = { ...parts, isReady: () => readiness.isReady() };
  const probes = await startProbes(front, serving);
  if (probes !== undefined) closeAtEnd(probes);
  const scrapes = await startScrapes(front, { ...serving, client: decoratedClient(parts) });
  if (scrapes !== undefined) closeAtEnd(scrapes);
  const prometheus = closeAtEnd(openPrometheus(front.queries, { clock }));
  const alarms = closeAtEnd(openAlarms({ clock, log }));
  const { isPinAssumed, partialAging } = front;
  const rolloutMetrics = new RolloutMetrics(registry, { clock, phases });
  const consul = front.consul && openConsul(front.consul, { clock, env: process.env });
  const outside = closeAtEnd(openOutside(front.outside, { clock, log }));
  const zoneSettings = {
    alarms,
    prometheus,
    updateMetrics: new UpdateMetrics(registry),
    zoneBudgetMetrics: new ZoneBudgetMetrics(registry),
  };
  return {
    resources: [
      phasedCapability(prometheus),
      statefulsetCapability({ outside, isPinAssumed, partialAging, consul, rolloutMetrics }),
    ],
    zones: (shared) => openZoneCapabilities(zoneSettings, shared),
  };
}
