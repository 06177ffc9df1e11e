/** Writes docs/metrics.md from what the rooms of src/ declare, and from scripts/docs/metric-notes.ts, which says it for people. */
import { writeFileSync } from 'node:fs';
import { peerMetrics } from '../../test/mixin/documented-metrics.ts';
import {
  type DeclaredMetric,
  sharedMetrics,
  statefulsetRolloutMetrics,
  zoneMetrics,
} from './declared-metrics.ts';
import { metricNotes, processMetrics, standardMetrics } from './metric-notes.ts';

const head = [
  '# Metrics',
  '',
  'Generated from what `src/` declares, and `scripts/docs/metric-notes.ts`, by `npm run do metrics`.',
  '',
  '`/metrics` of the plain server (`-server.port`, default 8001). *Peer* means that grafana/rollout-operator v0.38.1 has the same name,',
  'type, labels and bounds of buckets (`le` as Go writes it, with an exponent from a million on); *ours* came with this operator; *standard* is what',
  "client libraries of Prometheus, or Node's, expose everywhere. Alerts and dashboards that use them are in [`deploy/mixin`](../deploy/mixin/README.md).",
  '',
];

const bounds = [
  '',
  'Labels that others choose are bounded: the first 100 different sets of labels of a metric (500 for the Kubernetes API) are shown as they',
  'are, the rest as `other`. Groups, StatefulSets and budgets are those of the cluster, and their series go with them. Series of groups carry no',
  'namespace: one operator looks after one, and the scrape adds it.',
];

const zones = [
  '',
  '## ZoneAwareUpdates and ZoneDisruptionBudgets',
  '',
  'Of `rollout-operator zone-aware-controllers`, and of `all`, in addition to those above on requests, reviews, the certificate and the process. All are gauges, by the names of',
  'aws/zone-aware-controllers-for-k8s; what they are for is in [zone-aware-controllers.md](zone-aware-controllers.md#metrics).',
  '',
];

const statefulsetRollouts = [
  '',
  '## StatefulsetRollouts',
  '',
  'Of `rollout-operator statefulset-rollout`, and of `all`; values of labels, and when a series is there, are in [statefulset-rollout-metrics.md](statefulset-rollout-metrics.md).',
  '',
];

const go = [
  '',
  '## Instead of `go_…`',
  '',
  'The peer exposes neither `go_…` nor `process_…`. Dashboards for Go programs mostly ask for the names on the left; a figure',
  'that does not exist in Node is absent here rather than made up.',
  '',
  '| Go | Here |',
  '|---|---|',
  '| `process_cpu_seconds_total`, `process_resident_memory_bytes`, `process_virtual_memory_bytes`, `process_open_fds`, `process_max_fds`, `process_start_time_seconds` | the same names and meaning; on other systems than Linux some are absent |',
  '| `go_memstats_heap_inuse_bytes`, `go_memstats_heap_alloc_bytes` | `nodejs_heap_size_used_bytes` |',
  '| `go_memstats_heap_sys_bytes` | `nodejs_heap_size_total_bytes` |',
  '| `go_goroutines` | none: there is one thread, and no count of what waits. A leak shows in `nodejs_active_resources`, work under way in `rollout_operator_inflight_requests` |',
  '| `go_gc_duration_seconds` | none by itself: its time is part of `rate(nodejs_eventloop_active_seconds_total[5m])`, the share of its one core that the program takes; near 1 answers come late |',
  '| `go_threads`, `go_memstats_…` otherwise | none |',
  '| `go_info` | `nodejs_version_info` |',
];

/** Returns the text of docs/metrics.md. */
export function metricsPage(): string {
  const process = processMetrics.map(({ note, ...metric }) => ({ ...metric, help: note }));
  const lines = [
    ...head,
    '| Metric | Type | Labels | From | What it is |',
    '|---|---|---|---|---|',
    ...[...sharedMetrics(), ...process].map((metric) => row(metric, originOf(metric))),
    ...bounds,
    ...zones,
    ...table(zoneMetrics()),
    ...statefulsetRollouts,
    ...table(statefulsetRolloutMetrics()),
    ...go,
  ];
  return `${lines.join('\n')}\n`;
}

function table(metrics: readonly DeclaredMetric[]): readonly string[] {
  const rows = metrics.map((metric) => row(metric));
  return ['| Metric | Type | Labels | What it is |', '|---|---|---|---|', ...rows];
}

function row(metric: DeclaredMetric, origin?: string): string {
  const { name, type, labels, help } = metric;
  const named = labels.map((label) => `\`${label}\``).join(', ');
  const told = metricNotes[name] ?? help;
  const cells = [`\`${name}\``, type, named, ...(origin === undefined ? [] : [origin]), told];
  return `| ${cells.join(' | ')} |`.replace('|  |', '| |');
}

function originOf({ name }: DeclaredMetric): string {
  if (Object.hasOwn(peerMetrics, name)) return 'peer';
  return standardMetrics.has(name) ? 'standard' : 'ours';
}

if (import.meta.main) {
  writeFileSync(new URL('../../docs/metrics.md', import.meta.url), metricsPage());
}
