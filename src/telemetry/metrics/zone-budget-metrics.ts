import type { GaugeMetric, MetricsRegistry } from '../metrics.ts';
import { shownZones } from './shown-zones.ts';

/** Numbers of pods by zone. */
type ByZone = ReadonlyMap<string, number>;

/** What the gauges of one ZoneDisruptionBudget show. */
export interface ZoneBudgetFigures {
  readonly currentHealthy: ByZone;
  readonly currentUnhealthy: ByZone;
  readonly desiredHealthy: ByZone;
  readonly expectedPods: ByZone;
  readonly disruptionsAllowed: ByZone;
  readonly isDryRun: boolean;
}

type Name = 'namespace' | 'zdb';
type Figure = Exclude<keyof ZoneBudgetFigures, 'isDryRun'>;

const names: Readonly<Record<Figure, readonly [name: string, help: string]>> = {
  currentHealthy: ['zdb_status_current_healthy', 'Pods that are healthy.'],
  currentUnhealthy: ['zdb_status_current_unhealthy', 'Pods that are not healthy.'],
  desiredHealthy: ['zdb_status_desired_healthy', 'Pods that are to be healthy at least.'],
  expectedPods: ['zdb_status_expected_pods', 'Pods that there are to be.'],
  disruptionsAllowed: ['zdb_status_disruptions_allowed', 'Evictions that are still allowed.'],
};
const figures: readonly Figure[] = [
  'currentHealthy',
  'currentUnhealthy',
  'desiredHealthy',
  'expectedPods',
  'disruptionsAllowed',
];

/** The gauges of ZoneDisruptionBudgets, by the names that dashboards of the peer ask for; those of what is gone go (OPS-2). */
export class ZoneBudgetMetrics {
  readonly #byZone: Readonly<Record<Figure, GaugeMetric<Name | 'zone'>>>;
  readonly #unhealthyZones: GaugeMetric<Name>;
  readonly #dryRuns: GaugeMetric<Name>;
  readonly #answers: GaugeMetric<'status' | 'reason'>;
  /** Zones that are shown of each figure, by namespace, name and figure. */
  readonly #zones = new Map<string, readonly string[]>();

  /** Declares the metrics in `registry`. @throws when that was done before, which is a bug */
  constructor(registry: MetricsRegistry) {
    const labels = ['namespace', 'zdb'] as const;
    const gauge = (figure: Figure): GaugeMetric<Name | 'zone'> => {
      const [name, help] = names[figure];
      return registry.gauge({ name, help, labels: ['namespace', 'zdb', 'zone'] });
    };
    this.#byZone = {
      currentHealthy: gauge('currentHealthy'),
      currentUnhealthy: gauge('currentUnhealthy'),
      desiredHealthy: gauge('desiredHealthy'),
      expectedPods: gauge('expectedPods'),
      disruptionsAllowed: gauge('disruptionsAllowed'),
    };
    this.#unhealthyZones = registry.gauge({
      name: 'zdb_status_zones_unhealthy',
      help: 'Zones with pods that are not healthy.',
      labels,
    });
    this.#dryRuns = registry.gauge({
      name: 'zdb_dryrun_enabled',
      help: '1 where evictions are judged, and never refused.',
      labels,
    });
    this.#answers = registry.gauge({
      name: 'zdb_eviction_status_reason',
      help: 'Evictions that were answered, by the answer; counted in a gauge, as the peer does.',
      labels: ['status', 'reason'],
    });
  }

  /** Counts an answer to an eviction (OPS-1). */
  answered(status: 'allowed' | 'denied', reason: string): void {
    this.#answers.add({ status, reason }, 1);
  }

  /** Shows `budget` of one of them, in place of what was shown. */
  show(namespace: string, zdb: string, budget: ZoneBudgetFigures): void {
    const labels = { namespace, zdb };
    const unhealthy = [...budget.currentUnhealthy.values()].filter((count) => count > 0);
    this.#unhealthyZones.set(labels, unhealthy.length);
    this.#dryRuns.set(labels, Number(budget.isDryRun));
    for (const figure of figures) {
      this.#showZones(labels, figure, shownZones(budget[figure]));
    }
  }

  /** Shows nothing any more of one that is gone. */
  forget(namespace: string, zdb: string): void {
    const labels = { namespace, zdb };
    this.#unhealthyZones.remove(labels);
    this.#dryRuns.remove(labels);
    for (const figure of figures) this.#showZones(labels, figure, new Map());
  }

  #showZones(
    labels: { readonly namespace: string; readonly zdb: string },
    figure: Figure,
    counts: ByZone,
  ): void {
    const gauge = this.#byZone[figure];
    const key = `${labels.namespace}/${labels.zdb}/${figure}`;
    for (const zone of this.#zones.get(key) ?? []) {
      if (!counts.has(zone)) gauge.remove({ ...labels, zone });
    }
    for (const [zone, count] of counts) gauge.set({ ...labels, zone }, count);
    if (counts.size > 0) this.#zones.set(key, [...counts.keys()]);
    else this.#zones.delete(key);
  }
}
