import type { GaugeMetric, MetricsRegistry } from '../metrics.ts';
import { shownZones } from './shown-zones.ts';

/** What the gauges of one ZoneAwareUpdate show. */
export interface UpdateFigures {
  readonly step: number;
  readonly deleted: number;
  /** Pods that do not run the update revision, by zone. */
  readonly old: ReadonlyMap<string, number>;
  readonly isDryRun: boolean;
  readonly isPaused: boolean;
}

type Name = 'namespace' | 'zau';

/** The gauges of ZoneAwareUpdates, by the names that dashboards of the peer ask for; those of what is gone go (OPS-2). */
export class UpdateMetrics {
  readonly #steps: GaugeMetric<Name>;
  readonly #deleted: GaugeMetric<Name>;
  readonly #old: GaugeMetric<Name | 'zone'>;
  readonly #dryRuns: GaugeMetric<Name>;
  readonly #paused: GaugeMetric<Name>;
  /** Zones that are shown, by namespace and name. */
  readonly #zones = new Map<string, readonly string[]>();

  /** Declares the metrics in `registry`. @throws when that was done before, which is a bug */
  constructor(registry: MetricsRegistry) {
    const labels = ['namespace', 'zau'] as const;
    const gauge = (name: string, help: string) => registry.gauge({ name, help, labels });
    this.#steps = gauge('zau_status_update_step', 'Steps of the rollout that were done.');
    this.#deleted = gauge('zau_status_deleted_replicas', 'Pods that the last step deleted.');
    this.#dryRuns = gauge('zau_dryrun_enabled', '1 where all is planned, and no pod deleted.');
    this.#paused = gauge('zau_paused_rollout', '1 while the alarm pauses the rollout.');
    this.#old = registry.gauge({
      name: 'zau_status_old_replicas',
      help: 'Pods that do not run the update revision, before the last step.',
      labels: ['namespace', 'zau', 'zone'],
    });
  }

  /** Shows `figures` of one of them, in place of what was shown. */
  show(namespace: string, zau: string, figures: UpdateFigures): void {
    const labels = { namespace, zau };
    this.#steps.set(labels, figures.step);
    this.#deleted.set(labels, figures.deleted);
    this.#dryRuns.set(labels, Number(figures.isDryRun));
    this.#paused.set(labels, Number(figures.isPaused));
    this.#showZones(namespace, zau, shownZones(figures.old));
  }

  /** Shows nothing any more of one that is gone. */
  forget(namespace: string, zau: string): void {
    const labels = { namespace, zau };
    for (const gauge of [this.#steps, this.#deleted, this.#dryRuns, this.#paused]) {
      gauge.remove(labels);
    }
    this.#showZones(namespace, zau, new Map());
  }

  #showZones(namespace: string, zau: string, old: ReadonlyMap<string, number>): void {
    const key = `${namespace}/${zau}`;
    for (const zone of this.#zones.get(key) ?? []) {
      if (!old.has(zone)) this.#old.remove({ namespace, zau, zone });
    }
    for (const [zone, count] of old) this.#old.set({ namespace, zau, zone }, count);
    if (old.size > 0) this.#zones.set(key, [...old.keys()]);
    else this.#zones.delete(key);
  }
}
