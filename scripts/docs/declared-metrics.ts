/**
 * Asks each room of src/ which metrics it declares, without running anything. It knows who declares, and nothing of what is
 * counted; a file that declares and is not asked is found by declared-metrics.test.ts.
 */

import { reviewCounter } from '../../src/admission/review/review-metrics.ts';
import { declareRouting } from '../../src/admission/routing/run-routing.ts';
import { declareFailurePolicies } from '../../src/admission/webhook-configuration/failure-policy.ts';
import { createCertificateMetrics } from '../../src/certificate/metrics.ts';
import { lossCounter } from '../../src/command/process/tracing.ts';
import { createHttpServerMetrics } from '../../src/telemetry/http/http-server-metrics.ts';
import { BudgetMetrics } from '../../src/telemetry/metrics/budget-metrics.ts';
import { createOperatorMetrics } from '../../src/telemetry/metrics/operator-metrics.ts';
import { RolloutMetrics } from '../../src/telemetry/metrics/rollout-metrics.ts';
import { UpdateMetrics } from '../../src/telemetry/metrics/update-metrics.ts';
import { ZoneBudgetMetrics } from '../../src/telemetry/metrics/zone-budget-metrics.ts';
import type {
  CounterMetric,
  GaugeMetric,
  HistogramMetric,
  MetricsRegistry,
} from '../../src/telemetry/metrics.ts';

/** A metric as it is declared. */
export interface DeclaredMetric {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  /** What scrapers get. */
  readonly help: string;
}

const silent: CounterMetric<string> & GaugeMetric<string> & HistogramMetric<string> = {
  add: () => undefined,
  set: () => undefined,
  observe: () => undefined,
  remove: () => undefined,
};

/** Returns what `declare` declares, in its order. */
export function declaredBy(declare: (registry: MetricsRegistry) => unknown): DeclaredMetric[] {
  const found: DeclaredMetric[] = [];
  const noted =
    (type: DeclaredMetric['type']) =>
    ({ name, labels, help }: Omit<DeclaredMetric, 'type'>): typeof silent => {
      found.push({ name, type, labels, help });
      return silent;
    };
  declare({
    counter: noted('counter'),
    gauge: noted('gauge'),
    histogram: noted('histogram'),
    expose: () => Promise.resolve(''),
    contentType: '',
  });
  return found;
}

/** Files that declare metrics; those of the process itself are declared by the library. */
export const declaringFiles: readonly string[] = [
  'src/admission/review/review-metrics.ts',
  'src/admission/routing/run-routing.ts',
  'src/admission/webhook-configuration/failure-policy.ts',
  'src/certificate/metrics.ts',
  'src/command/process/tracing.ts',
  'src/telemetry/http/http-server-metrics.ts',
  'src/telemetry/metrics/budget-metrics.ts',
  'src/telemetry/metrics/operator-vectors.ts',
  'src/telemetry/metrics/request-vectors.ts',
  'src/telemetry/metrics/rollout-vectors.ts',
  'src/telemetry/metrics/update-metrics.ts',
  'src/telemetry/metrics/zone-budget-metrics.ts',
];

/** Returns the metrics of the program that looks after groups: most of them others have, too. */
export function sharedMetrics(): readonly DeclaredMetric[] {
  return [
    ...declaredBy(createOperatorMetrics),
    ...declaredBy(createHttpServerMetrics),
    ...declaredBy((registry) => reviewCounter(registry, [])),
    ...declaredBy(declareFailurePolicies),
    ...declaredBy(declareRouting),
    ...declaredBy((registry) => new BudgetMetrics(registry)),
    ...declaredBy(createCertificateMetrics),
    ...declaredBy(lossCounter),
  ];
}

/** Returns those of ZoneAwareUpdates and ZoneDisruptionBudgets. */
export function zoneMetrics(): readonly DeclaredMetric[] {
  return [
    ...declaredBy((registry) => new UpdateMetrics(registry)),
    ...declaredBy((registry) => new ZoneBudgetMetrics(registry)),
  ];
}

/** Returns those of StatefulsetRollouts. */
export function statefulsetRolloutMetrics(): readonly DeclaredMetric[] {
  const never = (): never => {
    throw new Error('Cannot tell the time of metrics that nothing shows');
  };
  const clock = { now: never, monotonic: never };
  return declaredBy((registry) => new RolloutMetrics(registry, { clock, phases: [] }));
}
