import type { Instant, Millis } from '#base/units.ts';
import { groupLabel, pathLabel } from './api-path.ts';
import type { CounterMetric, GaugeMetric, HistogramMetric, MetricsRegistry } from './metrics.ts';
import { bucketsB1 } from './metrics.ts';
import { declareRequestVectors, type RequestVectors } from './request-vectors.ts';

/** One request to the API server that ended, with an answer or without. */
export interface ObservedRequest {
  /** URL path, with or without its query. */
  readonly path: string;
  readonly method: string;
  /** `error` when there was no answer. */
  readonly status: number | 'error';
  /** Time on the wire, without the wait for a rate limiter (K8-24). */
  readonly duration: Millis;
}

/** How one reconcile of a group went. */
export interface GroupReconcile {
  readonly duration: Millis;
  readonly isFailed: boolean;
  readonly endedAt: Instant;
}

/** Pods of one StatefulSet by state; a pod may be outdated and unavailable at once. */
export interface PodCounts {
  readonly outdated: number;
  readonly updated: number;
  readonly unavailable: number;
}

/** One capability at the start of the program, or when it changes. */
export interface CapabilityState {
  readonly capability: string;
  readonly isEnabled: boolean;
  /** Why it is on or off: one PascalCase word of the catalogue of reasons. */
  readonly reason: string;
}

/** The metrics of the controllers and of the client of the API server, by what happened (ME-1…ME-6). */
export interface OperatorMetrics {
  /** Counts a reconcile of `group`, and makes all its series appear (ME-1…ME-4). */
  beginGroupReconcile(group: string): void;
  endGroupReconcile(group: string, reconcile: GroupReconcile): void;
  /** Shows why `group` does not proceed, in place of the earlier reason; undefined: it proceeds. */
  setGroupBlocked(group: string, reason: string | undefined): void;
  /** Shows the pods of every StatefulSet of `group`, by its name; those of sets that are not named are removed. */
  setPods(group: string, pods: ReadonlyMap<string, PodCounts>): void;
  /** Removes every series of `group` (ME-10). */
  forgetGroup(group: string): void;
  observeRequest(request: ObservedRequest): void;
  /** Counts a request to `path` that its rate limiter never let out (ME-6). */
  countRateLimited(path: string): void;
  /** A round trip to a pod that ended (ME-7). */
  observePodRequest(request: ObservedRequest): void;
  /** Counts a request of ours that somebody's cluster check turned away (ME-8). */
  countClusterRejection(route: string, requestCluster: string): void;
  /** Shows the state of a capability in place of the earlier one. */
  setCapability(state: CapabilityState): void;
  /** Shows which other Leases are held for the same namespaces, in place of those of before. */
  setRivalLeases(names: readonly string[]): void;
  /** Shows that the Role refuses `verb` on `resource`, such as `events` or `statefulsets/status` (D-1). */
  setPermissionRefused(verb: string, resource: string, isRefused: boolean): void;
  /** Shows that the view of `resource`, such as `pods`, has not been kept up to date for 30 s (D-54). */
  setViewNotFresh(resource: string, isStale: boolean): void;
}

/** Declares the metrics in `registry`; none has a series until something happens. */
export function createOperatorMetrics(registry: MetricsRegistry): OperatorMetrics {
  return new RegisteredMetrics(registry);
}

const podStates = ['outdated', 'updated', 'unavailable'] as const;

interface GroupVectors {
  readonly begun: CounterMetric<'rollout_group'>;
  readonly failed: CounterMetric<'rollout_group'>;
  readonly duration: HistogramMetric<'rollout_group'>;
  readonly lastSuccess: GaugeMetric<'rollout_group'>;
  readonly blocked: GaugeMetric<'rollout_group' | 'reason'>;
  readonly pods: GaugeMetric<'rollout_group' | 'statefulset' | 'state'>;
}

interface ProcessVectors extends RequestVectors {
  readonly capability: GaugeMetric<'capability' | 'reason'>;
  readonly refused: GaugeMetric<'verb' | 'resource'>;
  readonly rivals: GaugeMetric<'lease'>;
  readonly notFresh: GaugeMetric<'resource'>;
}

class RegisteredMetrics implements OperatorMetrics {
  readonly #groups: GroupVectors;
  readonly #process: ProcessVectors;
  /** Groups all of whose series have appeared. */
  readonly #begun = new Set<string>();
  /** What is shown now, so that the series can be removed when it no longer holds. */
  readonly #blockedReasons = new Map<string, string>();
  readonly #pods = new Map<string, ReadonlyMap<string, PodCounts>>();
  readonly #capabilityReasons = new Map<string, string>();
  #rivals: readonly string[] = [];

  constructor(registry: MetricsRegistry) {
    this.#groups = declareGroupVectors(registry);
    this.#process = declareProcessVectors(registry);
  }

  beginGroupReconcile(group: string): void {
    const labels = { rollout_group: group };
    this.#groups.begun.add(labels);
    if (this.#begun.has(group)) return;
    this.#begun.add(group);
    this.#groups.failed.add(labels, 0);
    this.#groups.lastSuccess.add(labels, 0);
  }

  endGroupReconcile(group: string, reconcile: GroupReconcile): void {
    const labels = { rollout_group: group };
    this.#groups.duration.observe(labels, reconcile.duration / 1_000);
    if (reconcile.isFailed) this.#groups.failed.add(labels);
    else this.#groups.lastSuccess.set(labels, reconcile.endedAt / 1_000);
  }

  setGroupBlocked(group: string, reason: string | undefined): void {
    const shown = this.#blockedReasons.get(group);
    if (shown === reason) return;
    if (shown !== undefined) this.#groups.blocked.remove({ rollout_group: group, reason: shown });
    if (reason === undefined) {
      this.#blockedReasons.delete(group);
      return;
    }
    this.#blockedReasons.set(group, reason);
    this.#groups.blocked.set({ rollout_group: group, reason }, 1);
  }

  setPods(group: string, pods: ReadonlyMap<string, PodCounts>): void {
    const shown = this.#pods.get(group);
    for (const gone of shown?.keys() ?? []) {
      if (!pods.has(gone)) this.#forgetStatefulSet(group, gone);
    }
    this.#pods.set(group, pods);
    for (const [statefulSet, counts] of pods) {
      for (const state of podStates) {
        if (shown?.get(statefulSet)?.[state] === counts[state]) continue;
        const labels = { rollout_group: group, statefulset: statefulSet, state };
        this.#groups.pods.set(labels, counts[state]);
      }
    }
  }

  #forgetStatefulSet(group: string, statefulSet: string): void {
    for (const state of podStates) {
      this.#groups.pods.remove({ rollout_group: group, statefulset: statefulSet, state });
    }
  }

  forgetGroup(group: string): void {
    this.#begun.delete(group);
    const { begun, failed, duration, lastSuccess } = this.#groups;
    for (const vector of [begun, failed, duration, lastSuccess]) {
      vector.remove({ rollout_group: group });
    }
    this.setGroupBlocked(group, undefined);
    this.setPods(group, new Map());
    this.#pods.delete(group);
  }

  observeRequest({ path, method, status, duration }: ObservedRequest): void {
    const labels = { path: pathLabel(path), method, status_code: String(status) };
    this.#process.request.observe(labels, duration / 1_000);
  }

  countRateLimited(path: string): void {
    this.#process.rateLimited.add({ api_group: groupLabel(path) });
  }

  observePodRequest({ path, method, status, duration }: ObservedRequest): void {
    const labels = { path, method, status_code: String(status) };
    this.#process.podRequest.observe(labels, duration / 1_000);
  }

  countClusterRejection(route: string, requestCluster: string): void {
    const labels = { method: route, protocol: 'http', request_cluster: requestCluster };
    this.#process.rejected.add(labels);
  }

  setCapability({ capability, isEnabled, reason }: CapabilityState): void {
    const shown = this.#capabilityReasons.get(capability);
    if (shown !== undefined && shown !== reason) {
      this.#process.capability.remove({ capability, reason: shown });
    }
    this.#capabilityReasons.set(capability, reason);
    this.#process.capability.set({ capability, reason }, isEnabled ? 1 : 0);
  }

  setRivalLeases(names: readonly string[]): void {
    for (const gone of this.#rivals)
      if (!names.includes(gone)) this.#process.rivals.remove({ lease: gone });
    for (const lease of names) this.#process.rivals.set({ lease }, 1);
    this.#rivals = names;
  }

  setPermissionRefused(verb: string, resource: string, isRefused: boolean): void {
    if (isRefused) this.#process.refused.set({ verb, resource }, 1);
    else this.#process.refused.remove({ verb, resource });
  }

  setViewNotFresh(resource: string, isStale: boolean): void {
    if (isStale) this.#process.notFresh.set({ resource }, 1);
    else this.#process.notFresh.remove({ resource });
  }
}

function declareGroupVectors(registry: MetricsRegistry): GroupVectors {
  const labels = ['rollout_group'] as const;
  return {
    begun: registry.counter({
      name: 'rollout_operator_group_reconciles_total',
      help: 'Reconciles of a rollout group that began.',
      labels,
    }),
    failed: registry.counter({
      name: 'rollout_operator_group_reconciles_failed_total',
      help: 'Reconciles of a rollout group that failed.',
      labels,
    }),
    duration: registry.histogram({
      name: 'rollout_operator_group_reconcile_duration_seconds',
      help: 'Time of a reconcile of a rollout group, failed ones included.',
      labels,
      buckets: bucketsB1,
    }),
    lastSuccess: registry.gauge({
      name: 'rollout_operator_last_successful_group_reconcile_timestamp_seconds',
      help: 'Unix time of the last reconcile of a rollout group that did not fail; 0 until there is one.',
      labels,
    }),
    blocked: registry.gauge({
      name: 'rollout_operator_group_blocked',
      help: 'Why a rollout group does not proceed: 1 with the reason while it is blocked, else absent.',
      labels: ['rollout_group', 'reason'],
    }),
    pods: registry.gauge({
      name: 'rollout_operator_statefulset_pods',
      help: 'Pods of a StatefulSet that are outdated, updated or unavailable.',
      labels: ['rollout_group', 'statefulset', 'state'],
    }),
  };
}

function declareProcessVectors(registry: MetricsRegistry): ProcessVectors {
  return {
    ...declareRequestVectors(registry),
    capability: registry.gauge({
      name: 'rollout_operator_capability_enabled',
      help: 'Whether a capability runs: 1 or 0, with the reason.',
      labels: ['capability', 'reason'],
    }),
    rivals: registry.gauge({
      name: 'rollout_operator_rival_leases',
      help: 'Another Lease by that name is held for the same namespaces, so that two operators reconcile at once.',
      labels: ['lease'],
    }),
    refused: registry.gauge({
      name: 'rollout_operator_refused_permissions',
      help: 'Optional permissions that the Role of this operator does not grant: 1 each, else absent.',
      labels: ['verb', 'resource'],
    }),
    notFresh: registry.gauge({
      name: 'rollout_operator_view_not_fresh',
      help: 'Resource types whose view has not been kept up to date for 30 seconds: 1 each, else absent.',
      labels: ['resource'],
    }),
  };
}
