import type { Instant, Millis } from '#base/units.ts';
import type { MetricsRegistry } from '../metrics.ts';
import { groupLabel, pathLabel } from './api-path.ts';
import {
  declareGroupVectors,
  declareProcessVectors,
  type GroupVectors,
  type ProcessVectors,
} from './operator-vectors.ts';

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

/** Input of a StatefulSet that cannot be used as it is. */
export interface SetWarning {
  readonly statefulSet: string;
  /** A reason of kind `warn`. */
  readonly reason: string;
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
  /** Shows what cannot be used as it is of `group`, in place of what was shown before; all else of it is removed. */
  setWarnings(group: string, warnings: readonly SetWarning[]): void;
  /** Removes the series of `group` that say what it is like now; those of its passes stay. */
  hideStates(group: string): void;
  /** Removes every series of `group` (ME-10). */
  forgetGroup(group: string): void;
  observeRequest(request: ObservedRequest): void;
  /** Counts a request to `path` that its rate limiter never let out (ME-6). */
  countRateLimited(path: string): void;
  /** Notes a round trip to a pod that ended (ME-7). */
  observePodRequest(request: ObservedRequest): void;
  /** Counts a request of ours that the cluster check of a server turned away (ME-8). */
  countClusterRejection(route: string, requestCluster: string): void;
  /** Shows the state of a capability in place of the earlier one. */
  setCapability(state: CapabilityState): void;
  /** Shows whether this process leads, by its Lease of this name or because its Role permits none. */
  setLeader(lease: string, leads: boolean): void;
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

class RegisteredMetrics implements OperatorMetrics {
  readonly #groups: GroupVectors;
  readonly #process: ProcessVectors;
  /** Groups with all of their series shown. */
  readonly #begun = new Set<string>();
  /** What is shown now, so that the series can be removed when it no longer holds. */
  readonly #blockedReasons = new Map<string, string>();
  readonly #pods = new Map<string, ReadonlyMap<string, PodCounts>>();
  readonly #warnings = new Map<string, ReadonlyMap<string, SetWarning>>();
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

  setWarnings(group: string, warnings: readonly SetWarning[]): void {
    const shown = this.#warnings.get(group) ?? new Map<string, SetWarning>();
    const wanted = new Map(warnings.map((each) => [`${each.statefulSet} ${each.reason}`, each]));
    const labelsOf = ({ statefulSet, reason }: SetWarning) =>
      ({ rollout_group: group, statefulset: statefulSet, reason }) as const;
    for (const [key, gone] of shown)
      if (!wanted.has(key)) this.#groups.warnings.remove(labelsOf(gone));
    for (const [key, come] of wanted)
      if (!shown.has(key)) this.#groups.warnings.set(labelsOf(come), 1);
    if (wanted.size === 0) this.#warnings.delete(group);
    else this.#warnings.set(group, wanted);
  }

  forgetGroup(group: string): void {
    this.#begun.delete(group);
    const { begun, failed, duration, lastSuccess } = this.#groups;
    for (const vector of [begun, failed, duration, lastSuccess]) {
      vector.remove({ rollout_group: group });
    }
    this.hideStates(group);
  }

  hideStates(group: string): void {
    this.setGroupBlocked(group, undefined);
    this.setPods(group, new Map());
    this.setWarnings(group, []);
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

  setLeader(lease: string, leads: boolean): void {
    this.#process.leader.set({ name: lease }, leads ? 1 : 0);
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
