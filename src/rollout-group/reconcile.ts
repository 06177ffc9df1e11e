import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { type Millis, millis } from '#base/units.ts';
import { applyCurrentRevision } from '#control/apply-current-revision.ts';
import { applyDeletions, type DeletionReport, OverruledError } from '#control/apply-deletions.ts';
import type { Basis } from '#control/basis.ts';
import type { Decision, DeletePod, Plan } from '#control/decision.ts';
import { Fence } from '#control/fence.ts';
import { OpenDisruptions } from '#control/open-disruptions.ts';
import { primaryHold } from '#control/primary-hold.ts';
import type { Reason } from '#control/reasons.ts';
import { PlanReporter } from '#control/report-plan.ts';
import type { PassResult } from '#control/run-controller.ts';
import { ApiError } from '#kubernetes/api-error.ts';
import type { Client } from '#kubernetes/client.ts';
import type { EventRecorder } from '#kubernetes/event-recorder.ts';
import type { Informer } from '#kubernetes/informer.ts';
import { RevisionWentBackError } from '#kubernetes/revision.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import type { OperatorMetrics } from '#telemetry/operator-metrics.ts';
import { groupOf, isPaused } from './api.ts';
import { GroupView } from './group-view.ts';
import { because } from './plan-zone.ts';
import { groupKey, parseGroupKey, readSets, type SetSnapshot } from './snapshot.ts';

/** What passes over groups go through. */
export interface GroupReconcilerPorts {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly events: EventRecorder;
  readonly metrics: OperatorMetrics;
  /** Whether the Role permits to patch pods (D-1). */
  readonly canTouchPods: boolean;
  readonly pods: Informer<PodView>;
  readonly statefulSets: Informer<StatefulSetView>;
  /** Names this process; new at every start (D-8). */
  readonly identity: string;
  /** Why a budget of a kind that is not built forbids to roll these sets (D-13); undefined when none does. */
  budgetOver(sets: readonly SetSnapshot[]): string | undefined;
  /** Told the plan of every pass; for the terminal and the dashboard. */
  onPlan?(key: string, plan: Plan): void;
}

/** How one pass over a group ended. */
interface PassEnd {
  readonly plan: Plan;
  /** The failure of a request; undefined when all were answered as hoped. */
  readonly error: unknown;
  /** Whether the world had moved under the plan. */
  readonly isOutrun: boolean;
}

/** One pass: observe, plan, confirm where the plan disrupts, apply, report (architecture §3). */
export class GroupReconciler {
  readonly #ports: GroupReconcilerPorts;
  readonly #fence: Fence;
  readonly #reporter: PlanReporter;
  readonly #open = new OpenDisruptions();
  readonly #known = new Set<string>();
  /** Keys whose last pass failed; while there are any, no series is dropped (ME-10). */
  readonly #failing = new Set<string>();
  /** Keys that are gone, and whose series are not. */
  readonly #gone = new Set<string>();

  constructor(ports: GroupReconcilerPorts) {
    this.#ports = ports;
    this.#fence = new Fence({ ...ports, pods: ports.pods.freshness });
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
    const end = await this.#pass(key, sets, signal);
    const isFailed = end.error !== undefined || end.plan.outcome.kind === 'failed';
    const duration = millis(clock.monotonic() - startedAt);
    metrics.endGroupReconcile(group, { isFailed, duration, endedAt: clock.now() });
    if (isFailed) this.#failing.add(key);
    else this.#failing.delete(key);
    this.#dropGone();
    this.#report(key, end);
    return resultOf(end);
  }

  async #pass(key: string, sets: readonly SetSnapshot[], signal: AbortSignal): Promise<PassEnd> {
    const open = this.#open;
    const view = new GroupView({ key, open, fence: this.#fence, ...this.#ports });
    const observed = view.observe(sets);
    try {
      const ready = await view.secure(observed, signal);
      if (ready.kind === 'held') return { plan: ready.plan, error: undefined, isOutrun: false };
      const { plan, basis } = ready;
      const isCurrent = await this.#writeRevisions(plan.decisions, signal);
      if (!isCurrent) return { plan, error: undefined, isOutrun: true };
      const report = await this.#delete({ key, deletions: deletionsOf(plan), basis }, signal);
      return endOf(plan, report);
    } catch (error) {
      if (error instanceof RevisionWentBackError) throw error;
      return { plan: observed.plan, error, isOutrun: false };
    }
  }

  /** @returns false when a set was not what was decided on any more; then nothing else is done in this pass */
  async #writeRevisions(decisions: readonly Decision[], signal: AbortSignal): Promise<boolean> {
    for (const decision of decisions) {
      if (decision.kind !== 'set-current-revision') continue;
      const fields = {
        statefulset: decision.set.name,
        old_current_revision: decision.from,
        new_current_revision: decision.to,
      };
      this.#ports.log.debug('updating the current revision', fields);
      const outcome = await applyCurrentRevision(decision, this.#ports.client, { signal });
      if (outcome === 'outdated') return false;
      this.#ports.log.info('updated the current revision', fields);
    }
    return true;
  }

  async #delete(
    work: {
      readonly key: string;
      readonly deletions: readonly DeletePod[];
      readonly basis: Basis | undefined;
    },
    signal: AbortSignal,
  ): Promise<DeletionReport | undefined> {
    const { key, deletions, basis } = work;
    if (deletions.length === 0 || basis === undefined) return undefined;
    const { client, clock, log, pods } = this.#ports;
    const report = await applyDeletions(
      { deletions, basis },
      {
        client,
        clock,
        log,
        open: this.#open,
        pods: pods.freshness,
        recheck: (deletion) => this.#recheck(key, deletion),
      },
      signal,
    );
    for (const { set, because } of report.deleted) this.#reporter.tell(set, because);
    return report;
  }

  /** What may have changed between the plan and the send (reliability.md rule 6). */
  #recheck(key: string, { set, pod }: DeletePod): void {
    const current = this.#ports.statefulSets.lister.get(set.namespace, set.name);
    if (current === undefined || current.uid !== set.uid) {
      throw new OverruledError(`Cannot delete Pod "${pod.name}" as its StatefulSet has gone`);
    }
    const group = groupOf(current);
    if (group === undefined || groupKey(current.namespace, group) !== key) {
      throw new OverruledError(`Cannot delete Pod "${pod.name}" as its StatefulSet left the group`);
    }
    if (isPaused(current)) {
      throw new OverruledError(`Cannot delete Pod "${pod.name}" as its StatefulSet is paused now`);
    }
  }

  #report(key: string, end: PassEnd): void {
    const { metrics, log } = this.#ports;
    const { group } = parseGroupKey(key);
    const plan =
      end.error === undefined
        ? end.plan
        : withHold(end.plan, 'RequestRefused', messageOf(end.error));
    const failure = failureOf(end);
    if (failure !== undefined) log.warn('reconcile ended with an error', { group, err: failure });
    this.#reporter.report(key, plan.decisions);
    metrics.setGroupBlocked(group, primaryHold(plan.decisions)?.because.reason);
    metrics.setPods(group, new Map(plan.progress.map((each) => [each.set.name, each])));
    this.#ports.onPlan?.(key, plan);
  }

  #forget(key: string): PassResult {
    if (this.#known.delete(key)) this.#gone.add(key);
    this.#reporter.forget(key);
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

/** How a pass ended whose deletions ended as `report` says. */
function endOf(plan: Plan, report: DeletionReport | undefined): PassEnd {
  if (report === undefined) return { plan, error: undefined, isOutrun: false };
  const { deleted, outrun, stale, error } = report;
  const isStuck = stale !== undefined && deleted.length === 0;
  const shown = isStuck ? withHold(plan, 'ViewNotFresh', stale.message) : plan;
  return { plan: shown, error, isOutrun: outrun > 0 };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'a request failed without an error';
}

function failureOf(end: PassEnd): Error | string | undefined {
  if (end.error instanceof Error) return end.error;
  if (end.error !== undefined) return messageOf(end.error);
  return end.plan.outcome.kind === 'failed' ? end.plan.outcome.message : undefined;
}

function deletionsOf(plan: Plan): readonly DeletePod[] {
  return plan.decisions.filter((decision) => decision.kind === 'delete-pod');
}

/** The plan with what stopped it as the reason that nothing goes on. */
function withHold(plan: Plan, reason: Reason, message: string): Plan {
  const subject = deletionsOf(plan)[0]?.set ?? plan.progress[0]?.set;
  if (subject === undefined) return plan;
  const hold: Decision = { kind: 'hold', set: subject, because: because(reason, message) };
  const warnings = plan.decisions.filter((decision) => decision.kind === 'warn');
  return { ...plan, decisions: [...warnings, hold] };
}

function resultOf(end: PassEnd): PassResult {
  if (end.error !== undefined) return { kind: 'retry', retryAfter: retryAfterOf(end.error) };
  if (end.isOutrun) return { kind: 'retry', retryAfter: undefined };
  return { kind: 'ended', requeue: end.plan.requeue };
}

function retryAfterOf(error: unknown): Millis | undefined {
  return error instanceof ApiError ? error.retryAfter : undefined;
}
