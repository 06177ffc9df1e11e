import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { after, type Monotonic, millis } from '#base/units.ts';
import type { Client } from '#kubernetes/client.ts';
import type { EventRecorder } from '#kubernetes/events/event-recorder.ts';
import type { Informer } from '#kubernetes/informer/informer.ts';
import type { WorkQueue } from '#kubernetes/queue/work-queue.ts';
import { parseGroupKey } from '#statefulset/group.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import type { OperatorMetrics, SetWarning } from '#telemetry/metrics/operator-metrics.ts';
import type { OpenSpan, Tracing } from '#telemetry/tracing/tracing.ts';
import { AwaitedRequests } from './awaited-requests.ts';
import type { GroupBudgets } from './budget/group-budgets.ts';
import { ConsistentReads } from './consistent-read/consistent-reads.ts';
import type { Plan, Requeue } from './decision/decision.ts';
import { primaryHold } from './decision/primary-hold.ts';
import { because, setRef } from './decision/refs.ts';
import { PlanReporter } from './decision/report-plan.ts';
import { GroupPass, type GroupPassEnd, type PassPorts } from './group-pass.ts';
import { PassFailures } from './pass-failures.ts';
import { passStart, tellPass } from './pass-span.ts';
import type { GroupCapability } from './plan/group-capability.ts';
import { momentOf } from './plan/group-moment.ts';
import { idlePlan, sooner } from './plan/group-plan.ts';
import type { PredecessorWait } from './plan/predecessor-wait.ts';
import type { PassResult } from './run-controller.ts';
import { groupScope } from './watch/group-sets.ts';
import { NewSets } from './watch/new-sets.ts';
import type { OtherOwners } from './watch/owners-of-sets.ts';
import { StrayPods } from './watch/stray-pods.ts';
import { noteDeletion } from './write/noted-deletions.ts';
import type { OpenDisruptions } from './write/open-disruptions.ts';
import { OwnDisruptions } from './write/own-disruptions.ts';
import { type EndedDeletion, PodDeletions } from './write/pod-deletions.ts';
import { Refusals } from './write/refusals.ts';
import { RequestRefusals } from './write/request-refusals.ts';
import type { ScaleWrites } from './write/scale-writes.ts';

/** What passes over groups go through, whatever the capabilities do. */
export interface GroupReconcilerPorts {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly events: EventRecorder;
  readonly metrics: OperatorMetrics;
  readonly pods: Informer<PodView>;
  readonly statefulSets: Informer<StatefulSetView>;
  readonly budgets: GroupBudgets;
  /** What names sets besides their groups. */
  readonly owners: OtherOwners;
  /** Deletions of ours that the cache may not show yet, no matter who sends them. */
  readonly open: OpenDisruptions;
  readonly writes: ScaleWrites;
  /** Until when an earlier process is waited for. */
  readonly predecessor: PredecessorWait;
  /** The term of the Lease under which requests leave; undefined where there is no Lease. */
  readonly term?: string;
  /** Reports whether this process may disrupt at this instant: it holds the Lease, or there is none. */
  leads(): boolean;
  readonly queue: Pick<WorkQueue, 'add' | 'addAfter'>;
  /** Listed in the order in which they work on a group. */
  readonly capabilities: readonly GroupCapability[];
  /** Called with what came of every pass; for the terminal and the dashboard. */
  onPlan?(key: string, plan: Plan): void;
  /** Absent while nothing is traced. */
  readonly tracing?: Tracing;
}

function warningsOf({ decisions }: Plan): readonly SetWarning[] {
  return decisions
    .filter(({ kind }) => kind === 'warn')
    .map(({ set, because: { reason } }) => ({ statefulSet: set.name, reason }));
}

/** Passes over groups, and all that is reported of them: series, Events, log lines. */
export class GroupReconciler {
  readonly #ports: GroupReconcilerPorts;
  readonly #pass: PassPorts & { readonly strays: StrayPods };
  readonly #reporter: PlanReporter;
  readonly #failures: PassFailures;
  readonly #known = new Set<string>();
  /** Keys whose last pass failed; while there are any, no series is dropped (ME-10). */
  readonly #failing = new Set<string>();
  /** Keys that are gone, and whose series are not. */
  readonly #gone = new Set<string>();

  constructor(ports: GroupReconcilerPorts) {
    const { client, clock, log, pods, statefulSets, open } = ports;
    const freshness = { pods: pods.freshness, statefulSets: statefulSets.freshness };
    this.#ports = ports;
    this.#reporter = new PlanReporter(ports);
    this.#failures = new PassFailures(ports);
    const deletions = new PodDeletions({ client, clock, log, open, pods: pods.freshness });
    const own = new OwnDisruptions({ clock, open, deletions });
    ports.budgets.follow(own);
    this.#pass = {
      ...ports,
      own,
      strays: new StrayPods(ports),
      newSets: new NewSets(ports),
      reads: new ConsistentReads({ client, clock, ...freshness }),
      refusals: new Refusals(),
      requests: new RequestRefusals(),
      tell: (set, why) => this.#reporter.tell(set, why),
      deletions,
      awaited: new AwaitedRequests({ clock, onSlow: (key, what) => this.#tellSlow(key, what) }),
      deletionEnded: (key, ended) => this.#deletionEnded(key, ended),
    };
  }

  /** Returns keys of the groups that were seen and have not been forgotten. */
  knownKeys(): readonly string[] {
    return [...this.#known];
  }

  /** Returns the keys of the groups that `pod` may hold although no set of theirs has it. */
  keysOf(pod: PodView): readonly string[] {
    return this.#pass.strays.keysOf(pod);
  }

  /** Resolves when no request of a finished pass is under way any more. */
  async idle(): Promise<void> {
    await this.#pass.deletions.idle();
  }

  /** Reports whether a deletion got no answer, and may still happen. */
  hasUnanswered(): boolean {
    return this.#pass.open.unansweredPods().length > 0;
  }

  /** Runs one pass over the group `key`. */
  reconcile(key: string, signal: AbortSignal): Promise<PassResult> {
    const { tracing } = this.#ports;
    if (tracing === undefined) return this.#reconcile(key, signal);
    return tracing.within(passStart(key), (span) => this.#reconcile(key, signal, span));
  }

  async #reconcile(key: string, signal: AbortSignal, span?: OpenSpan): Promise<PassResult> {
    const { clock, metrics } = this.#ports;
    const pass = new GroupPass(key, this.#pass);
    if (momentOf(key, this.#pass).sets.length === 0) return this.#forget(key);
    const { group } = parseGroupKey(key);
    this.#known.add(key);
    this.#gone.delete(key);
    const startedAt = clock.monotonic();
    metrics.beginGroupReconcile(group);
    const end = await pass.run(signal);
    const { plan, result } = end;
    const failure = this.#failureOf(key, end);
    const duration = millis(clock.monotonic() - startedAt);
    const isFailed = failure !== undefined;
    if (span !== undefined) tellPass(span, end, failure);
    metrics.endGroupReconcile(group, { isFailed, duration, endedAt: clock.now() });
    if (isFailed) this.#failing.add(key);
    else this.#failing.delete(key);
    this.#dropGone();
    this.#failures.ended(key, failure);
    if (end.isBrokenOff === true) return result;
    const due = this.#report(key, plan);
    this.#ports.onPlan?.(key, { ...plan, decisions: [...end.written, ...plan.decisions] });
    if (due === undefined) return result;
    if (result.kind === 'retry') {
      const { queue } = this.#ports;
      queue.addAfter(key, millis(Math.max(0, due - clock.monotonic())));
      return result;
    }
    return { ...result, requeue: sooner(result.requeue, this.#at(due)) };
  }

  #at(time: Monotonic): Requeue {
    const { clock } = this.#ports;
    return { kind: 'at', at: after(clock.now(), millis(time - clock.monotonic())) };
  }

  /** Returns why the pass counts as failed: what it met itself, or a deletion that an earlier one began (ME-11). */
  #failureOf(key: string, { plan, error }: GroupPassEnd): Error | string | undefined {
    const earlier = this.#pass.refusals.takeUntold(key);
    return error ?? earlier ?? plan.failure;
  }

  /** Returns when something of `plan` is to be reported again although nothing changes */
  #report(key: string, plan: Plan): Monotonic | undefined {
    const { metrics } = this.#ports;
    const { group } = parseGroupKey(key);
    const due = this.#reporter.report(key, plan.decisions);
    metrics.setGroupBlocked(group, primaryHold(plan.decisions)?.because.reason);
    // Else not every capability had its turn.
    if (plan.progress.length > 0) {
      metrics.setPods(group, new Map(plan.progress.map((each) => [each.set.name, each])));
      metrics.setWarnings(group, warningsOf(plan));
    }
    return due;
  }

  #deletionEnded(key: string, { deletion, end, wasFull }: EndedDeletion): void {
    const { queue, clock } = this.#ports;
    noteDeletion(key, end, { queue, clock, refusals: this.#pass.refusals });
    if (end.kind !== 'deleted') return;
    this.#reporter.tell(deletion.set, deletion.because);
    if (wasFull) queue.add(key);
  }

  /** Says what a pass that lasts long waits for, in place of what was said before (D-53). */
  #tellSlow(key: string, what: string): void {
    const [first] = momentOf(key, this.#pass).sets;
    if (first === undefined) return;
    const message = `waiting for ${what} for more than 10 s`;
    const hold = {
      kind: 'hold',
      set: setRef(first.set),
      because: because('AwaitingRequest', message),
    } as const;
    const plan: Plan = { ...idlePlan, decisions: [hold] };
    this.#report(key, plan);
    this.#ports.onPlan?.(key, plan);
  }

  #forget(key: string): PassResult {
    if (this.#known.delete(key)) this.#gone.add(key);
    for (const capability of this.#ports.capabilities) capability.forget?.(key);
    this.#ports.budgets.wants(key, new Set());
    this.#reporter.forget(key);
    this.#failures.forget(key);
    this.#pass.reads.forget(groupScope(key));
    this.#pass.refusals.forget(key);
    this.#pass.requests.forget(key);
    this.#failing.delete(key);
    this.#hideStates(key);
    this.#dropGone();
    return { kind: 'ended', requeue: idlePlan.requeue };
  }

  /** Hides what a group is like when it ends, whatever becomes of others: alerts go by that. */
  #hideStates(key: string): void {
    const { group } = parseGroupKey(key);
    const { metrics } = this.#ports;
    if (!this.#isLiving(group)) metrics.hideStates(group);
  }

  #dropGone(): void {
    if (this.#failing.size > 0 || this.#gone.size === 0) return;
    for (const key of this.#gone) {
      const { group } = parseGroupKey(key);
      if (!this.#isLiving(group)) this.#ports.metrics.forgetGroup(group);
    }
    this.#gone.clear();
  }

  /** Reports whether a group of that name is known in any namespace: its series, which carry none, are still needed. */
  #isLiving(group: string): boolean {
    return [...this.#known].some((key) => parseGroupKey(key).group === group);
  }
}
