import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { type Millis, millis } from '#base/units.ts';
import { ApiError } from '#kubernetes/api-error.ts';
import type { EventRecorder } from '#kubernetes/event-recorder.ts';
import type { Informer } from '#kubernetes/informer.ts';
import { parseGroupKey } from '#statefulset/group.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import type { OperatorMetrics } from '#telemetry/operator-metrics.ts';
import type { Plan, Requeue } from './decision.ts';
import type { GroupCapability, GroupEnd } from './group-capability.ts';
import { readSets } from './group-sets.ts';
import { primaryHold } from './primary-hold.ts';
import { PlanReporter } from './report-plan.ts';
import type { PassResult } from './run-controller.ts';

/** What passes over groups go through, whatever the capabilities do. */
export interface GroupReconcilerPorts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly events: EventRecorder;
  readonly metrics: OperatorMetrics;
  readonly pods: Informer<PodView>;
  readonly statefulSets: Informer<StatefulSetView>;
  /** In the order in which they work on a group. */
  readonly capabilities: readonly GroupCapability[];
  /** Told what came of every pass; for the terminal and the dashboard. */
  onPlan?(key: string, plan: Plan): void;
}

interface Part {
  readonly capability: GroupCapability;
  readonly end: GroupEnd;
}

/** One pass: each capability in turn, until one changed what the others would have to see (D-18); then the report. */
export class GroupReconciler {
  readonly #ports: GroupReconcilerPorts;
  readonly #reporter: PlanReporter;
  readonly #known = new Set<string>();
  /** Keys whose last pass failed; while there are any, no series is dropped (ME-10). */
  readonly #failing = new Set<string>();
  /** Keys that are gone, and whose series are not. */
  readonly #gone = new Set<string>();

  constructor(ports: GroupReconcilerPorts) {
    this.#ports = ports;
    this.#reporter = new PlanReporter(ports);
  }

  /** Keys of the groups that were seen and have not been forgotten. */
  knownKeys(): readonly string[] {
    return [...this.#known];
  }

  /** One pass over the group `key`. */
  async reconcile(key: string, signal: AbortSignal): Promise<PassResult> {
    const { clock, metrics, statefulSets, pods } = this.#ports;
    const sets = readSets(key, { statefulSets: statefulSets.lister, pods: pods.lister });
    const { group } = parseGroupKey(key);
    if (sets.length === 0) return this.#forget(key);
    this.#known.add(key);
    this.#gone.delete(key);
    const startedAt = clock.monotonic();
    metrics.beginGroupReconcile(group);
    const parts = await this.#work(key, sets, signal);
    const isFailed = parts.some(({ end }) => end.failure !== undefined);
    const duration = millis(clock.monotonic() - startedAt);
    metrics.endGroupReconcile(group, { isFailed, duration, endedAt: clock.now() });
    if (isFailed) this.#failing.add(key);
    else this.#failing.delete(key);
    this.#dropGone();
    const plan = mergedPlan(parts);
    this.#report(key, plan, parts);
    return resultOf(plan, parts);
  }

  async #work(
    key: string,
    sets: Parameters<GroupCapability['reconcile']>[0]['sets'],
    signal: AbortSignal,
  ): Promise<readonly Part[]> {
    const parts: Part[] = [];
    for (const capability of this.#ports.capabilities) {
      const end = await capability.reconcile({ key, sets }, signal);
      parts.push({ capability, end });
      if (end.endsPass) break;
    }
    return parts;
  }

  #report(key: string, plan: Plan, parts: readonly Part[]): void {
    const { metrics, log } = this.#ports;
    const { group } = parseGroupKey(key);
    for (const { capability, end } of parts) {
      if (end.failure !== undefined) {
        log.warn('reconcile ended with an error', { group, err: end.failure });
      }
      this.#reporter.report(`${capability.name} ${key}`, end.plan.decisions);
    }
    metrics.setGroupBlocked(group, primaryHold(plan.decisions)?.because.reason);
    if (plan.progress.length > 0) {
      metrics.setPods(group, new Map(plan.progress.map((each) => [each.set.name, each])));
    }
    this.#ports.onPlan?.(key, plan);
  }

  #forget(key: string): PassResult {
    if (this.#known.delete(key)) this.#gone.add(key);
    for (const capability of this.#ports.capabilities) {
      capability.forget?.(key);
      this.#reporter.forget(`${capability.name} ${key}`);
    }
    this.#failing.delete(key);
    this.#dropGone();
    return { kind: 'ended', requeue: { kind: 'await-change' } };
  }

  #dropGone(): void {
    if (this.#failing.size > 0 || this.#gone.size === 0) return;
    // Series carry no namespace: the same group of another one still needs them.
    const living = new Set([...this.#known].map((key) => parseGroupKey(key).group));
    for (const key of this.#gone) {
      const { group } = parseGroupKey(key);
      if (!living.has(group)) this.#ports.metrics.forgetGroup(group);
    }
    this.#gone.clear();
  }
}

/** What the whole pass came to. The last part speaks first: what came before it and let it go on is no obstacle to it. */
function mergedPlan(parts: readonly Part[]): Plan {
  const plans = parts.map(({ end }) => end.plan).toReversed();
  const [first, ...rest] = plans;
  if (first === undefined) {
    const requeue: Requeue = { kind: 'await-change' };
    return { decisions: [], requeue, outcome: { kind: 'succeeded' }, progress: [] };
  }
  if (rest.length === 0) return first;
  return {
    decisions: plans.flatMap(({ decisions }) => decisions),
    requeue: rest.reduce((soonest, { requeue }) => sooner(soonest, requeue), first.requeue),
    outcome: plans.find(({ outcome }) => outcome.kind === 'failed')?.outcome ?? first.outcome,
    progress: plans.flatMap(({ progress }) => progress),
  };
}

function sooner(one: Requeue, other: Requeue): Requeue {
  if (one.kind === 'await-change') return other;
  return other.kind === 'at' && other.at < one.at ? other : one;
}

function resultOf(plan: Plan, parts: readonly Part[]): PassResult {
  const failed = parts.find(({ end }) => end.error !== undefined);
  if (failed !== undefined) return { kind: 'retry', retryAfter: retryAfterOf(failed.end.error) };
  if (parts.some(({ end }) => end.isOutrun)) return { kind: 'retry', retryAfter: undefined };
  return { kind: 'ended', requeue: plan.requeue };
}

function retryAfterOf(error: unknown): Millis | undefined {
  return error instanceof ApiError ? error.retryAfter : undefined;
}
