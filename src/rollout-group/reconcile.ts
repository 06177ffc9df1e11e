import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { applyCurrentRevision } from '#control/apply-current-revision.ts';
import { applyDeletions, type DeletionReport, OverruledError } from '#control/apply-deletions.ts';
import type { Basis } from '#control/basis.ts';
import type { Decision, DeletePod, Plan } from '#control/decision.ts';
import type { Fence } from '#control/fence.ts';
import type { GroupCapability, GroupEnd, GroupWork } from '#control/group-capability.ts';
import type { SetSnapshot } from '#control/group-sets.ts';
import { type GroupState, GroupView } from '#control/group-view.ts';
import type { OpenDisruptions } from '#control/open-disruptions.ts';
import type { Reason } from '#control/reasons.ts';
import { because } from '#control/refs.ts';
import { PlanReporter } from '#control/report-plan.ts';
import { SettledPlans } from '#control/settled-plans.ts';
import type { Client } from '#kubernetes/client.ts';
import type { EventRecorder } from '#kubernetes/event-recorder.ts';
import type { Informer } from '#kubernetes/informer.ts';
import { RevisionWentBackError } from '#kubernetes/revision.ts';
import { groupKey, groupOf } from '#statefulset/group.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import { isPaused } from './api.ts';
import { planRolloutGroup } from './plan.ts';
import { snapshotOf } from './snapshot.ts';

/** What rolling a group goes through. */
export interface RolloutGroupPorts {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly events: EventRecorder;
  readonly pods: Informer<PodView>;
  readonly statefulSets: Informer<StatefulSetView>;
  readonly fence: Fence;
  readonly open: OpenDisruptions;
  /** Why a budget of a kind that is not built forbids to roll these sets (D-13); undefined when none does. */
  budgetOver(sets: readonly SetSnapshot[]): string | undefined;
}

/** How the requests of a pass ended. */
interface PassEnd {
  readonly plan: Plan;
  /** The failure of a request; undefined when all were answered as hoped. */
  readonly error: unknown;
  /** Whether the world had moved under the plan. */
  readonly isOutrun: boolean;
}

/** Its part of a pass: observe, plan, confirm where the plan disrupts, apply (architecture §3). */
export class RolloutGroups implements GroupCapability {
  readonly name = 'rollout';
  readonly #ports: RolloutGroupPorts;
  readonly #reporter: PlanReporter;
  readonly #settled = new SettledPlans();

  constructor(ports: RolloutGroupPorts) {
    this.#ports = ports;
    this.#reporter = new PlanReporter(ports);
  }

  forget(key: string): void {
    this.#settled.forget(key);
  }

  /** Rolls the group one step further, if it may. */
  async reconcile(work: GroupWork, signal: AbortSignal): Promise<GroupEnd> {
    const end = await this.#pass(work, signal);
    const { plan, error, isOutrun } = end;
    const told = error === undefined ? plan : withHold(plan, 'RequestRefused', messageOf(error));
    return { plan: told, error, isOutrun, endsPass: false, failure: failureOf(end) };
  }

  async #pass({ key, sets }: GroupWork, signal: AbortSignal): Promise<PassEnd> {
    const plan = (state: GroupState): Plan => this.#plan(key, state);
    const view = new GroupView({ ...this.#ports, key, plan });
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

  #plan(key: string, { sets, leaving }: GroupState): Plan {
    const unbuilt = this.#ports.budgetOver(sets);
    const isOfSetsAlone = leaving.size === 0 && unbuilt === undefined;
    const settled = isOfSetsAlone ? this.#settled.find(key, sets) : undefined;
    if (settled !== undefined) return settled;
    const snapshot = snapshotOf(key, sets, { leaving, unbuilt });
    const plan = planRolloutGroup(snapshot, this.#ports.clock.now());
    if (isOfSetsAlone) this.#settled.keep(key, sets, plan);
    return plan;
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
        open: this.#ports.open,
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
