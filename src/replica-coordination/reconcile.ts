import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import type { Instant, Millis } from '#base/units.ts';
import type { Decision, Plan } from '#control/decision.ts';
import type { Fence } from '#control/fence.ts';
import type { GroupCapability, GroupEnd, GroupWork } from '#control/group-capability.ts';
import { type GroupState, GroupView } from '#control/group-view.ts';
import type { OpenDisruptions } from '#control/open-disruptions.ts';
import { because } from '#control/refs.ts';
import { PlanReporter } from '#control/report-plan.ts';
import type { ScaleWrites } from '#control/scale-writes.ts';
import { isRequestFailure } from '#kubernetes/api-error.ts';
import type { Client } from '#kubernetes/client.ts';
import type { EventRecorder } from '#kubernetes/event-recorder.ts';
import type { Informer } from '#kubernetes/informer.ts';
import { RevisionWentBackError } from '#kubernetes/revision.ts';
import { parseGroupKey } from '#statefulset/group.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import { DelayedDownscaleRound } from './delayed-downscale-round.ts';
import { isCoordinated, planCoordination } from './plan.ts';
import type { PodPreparations } from './prepare-pods.ts';
import type { References } from './references.ts';
import type { CoordinationSnapshot, ZoneTracker } from './snapshot.ts';
import { WritePaces } from './write-pace.ts';
import { ScaleWriter, type Written } from './write-scale.ts';
import { readZoneTracker } from './zone-tracker.ts';

/** What coordinating the replicas of a group goes through. */
export interface CoordinationPorts {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly events: EventRecorder;
  readonly pods: Informer<PodView>;
  readonly statefulSets: Informer<StatefulSetView>;
  readonly fence: Fence;
  readonly open: OpenDisruptions;
  readonly writes: ScaleWrites;
  readonly references: References;
  readonly preparations: PodPreparations;
  /** Name of the ConfigMap of zone-tracker mode; undefined when it is off (D-23). */
  readonly zoneTracker: string | undefined;
  /** How soon a read that failed is repeated. */
  readonly retry: Millis;
  /** Has the group `key` planned again. */
  wake(key: string): void;
}

const idle: GroupEnd = Object.freeze<GroupEnd>({
  plan: {
    decisions: [],
    requeue: { kind: 'await-change' },
    outcome: { kind: 'succeeded' },
    progress: [],
  },
  error: undefined,
  isOutrun: false,
  endsPass: false,
  failure: undefined,
});

/**
 * Its part of a pass: leaders, references and force are looked at, and at most one set is scaled (SC-1). What fails
 * here is never a failure of the pass, and the rollout goes on (SC-3); after a write it waits (D-18).
 */
export class ReplicaCoordination implements GroupCapability {
  readonly name = 'scaling';
  readonly #ports: CoordinationPorts;
  readonly #reporter: PlanReporter;
  readonly #paces = new WritePaces();
  readonly #writer: ScaleWriter;

  constructor(ports: CoordinationPorts) {
    this.#ports = ports;
    this.#reporter = new PlanReporter(ports);
    this.#writer = new ScaleWriter({ ...ports, paces: this.#paces, reporter: this.#reporter });
    ports.statefulSets.onChange(({ kind, object }) => {
      if (kind === 'deleted') ports.preparations.forget(object.uid);
    });
  }

  forget(key: string): void {
    this.#ports.references.release(key);
  }

  /** Brings the replicas of the group one write nearer to what they should be. */
  async reconcile(work: GroupWork, signal: AbortSignal): Promise<GroupEnd> {
    const { writes, clock, references } = this.#ports;
    const sets = work.sets.map(({ set }) => set);
    // Also where nothing is coordinated any more: the rollout must not overtake our own write (rule 4).
    if (writes.unseen(sets) !== undefined) return { ...idle, endsPass: true };
    this.#paces.sweep(clock.now());
    const open = this.#open(sets);
    if (!isCoordinated(work.sets)) {
      references.release(work.key);
      return open ?? idle;
    }
    try {
      const end = await this.#pass(work, signal);
      return end.endsPass ? end : (this.#open(sets, end) ?? end);
    } catch (error) {
      if (error instanceof RevisionWentBackError || !isRequestFailure(error)) throw error;
      const { group } = parseGroupKey(work.key);
      this.#ports.log.warn('scaling step failed', { group, err: error });
      return { ...(open ?? idle), error };
    }
  }

  async #pass(work: GroupWork, signal: AbortSignal): Promise<GroupEnd> {
    const { key, sets } = work;
    const { states, again } = await this.#ports.references.read(key, sets, signal);
    let zoneTracker: ZoneTracker =
      this.#ports.zoneTracker === undefined ? { kind: 'off' } : { kind: 'unread' };
    let round = this.#round();
    const plan = (state: GroupState): Plan => {
      // Each state is asked for anew whom to call; the last one counts.
      round = this.#round();
      const snapshot = this.#snapshot(state, { references: states, zoneTracker, delays: round });
      return planCoordination(snapshot, this.#ports.clock.now());
    };
    const view = new GroupView({ ...this.#ports, key, plan });
    let observed = view.observe(sets);
    if (asksForZoneTracker(observed.plan, zoneTracker)) {
      zoneTracker = await this.#readZoneTracker(key, signal);
      observed = view.observe(sets);
    }
    const secured = await view.secure(observed, signal);
    round.start(signal);
    if (secured.kind === 'held') return endOf(secured.plan, again, { kind: 'nothing' });
    const written = await this.#writer.write({ key, ...secured }, signal);
    const isInVain = written.kind === 'refused' || written.kind === 'outdated';
    if (!isInVain) await this.#writeBack(secured.plan, signal);
    return endOf(secured.plan, again, written);
  }

  #snapshot(
    { sets, leaving }: GroupState,
    known: Pick<CoordinationSnapshot, 'references' | 'zoneTracker' | 'delays'>,
  ): CoordinationSnapshot {
    const { writes, clock } = this.#ports;
    const views = sets.map(({ set }) => set);
    const paces = this.#paces.of(views, clock.now());
    const unanswered = writes.open(views);
    return { sets, leaving, ...known, paces, unanswered };
  }

  #round(): DelayedDownscaleRound {
    const { preparations, clock } = this.#ports;
    return new DelayedDownscaleRound({
      preparations,
      now: clock.now(),
      takenAt: clock.monotonic(),
    });
  }

  async #readZoneTracker(key: string, signal: AbortSignal): Promise<ZoneTracker> {
    const { zoneTracker: configMapName = '' } = this.#ports;
    const { namespace } = parseGroupKey(key);
    return readZoneTracker(namespace, { ...this.#ports, configMapName }, signal);
  }

  async #writeBack(plan: Plan, signal: AbortSignal): Promise<void> {
    for (const decision of plan.decisions) {
      if (decision.kind !== 'write-back') continue;
      const isStored = await this.#ports.references.writeBack(decision, signal);
      if (isStored) this.#reporter.tell(decision.set, decision.because);
    }
  }

  /** What a request without an answer asks of the group: no other disruption until it is settled (D-7). */
  #open(sets: readonly StatefulSetView[], end: GroupEnd = idle): GroupEnd | undefined {
    const open = this.#ports.writes.open(sets);
    const held = sets.find(({ name }) => open.has(name));
    if (held === undefined) return undefined;
    const { namespace, name, uid } = held;
    const until = open.get(name)?.until;
    const isSaid = end.plan.decisions.some(
      (each) => each.set.uid === uid && each.because.reason === 'AwaitingAnswer',
    );
    const message = `a request to lower the replicas of ${name} got no answer, so it may still be carried out`;
    const hold: Decision = {
      kind: 'hold',
      set: { namespace, name, uid },
      because: because('AwaitingAnswer', message),
      ...(until !== undefined && { until }),
    };
    const decisions = isSaid ? end.plan.decisions : [...end.plan.decisions, hold];
    const plan = withRequeue({ ...end.plan, decisions }, until);
    return { ...end, plan, endsPass: true };
  }
}

function asksForZoneTracker(plan: Plan, { kind }: ZoneTracker): boolean {
  if (kind !== 'unread') return false;
  return plan.decisions.some(
    (decision) => decision.kind === 'hold' && decision.because.reason === 'LastDownscaleUnknown',
  );
}

function endOf(plan: Plan, again: Instant | undefined, written: Written): GroupEnd {
  const looked = withRequeue(plan, again);
  if (written.kind !== 'refused') {
    const isOutrun = written.kind === 'outdated';
    // Others must not act on a view that was wrong about this set.
    return { ...idle, plan: looked, isOutrun, endsPass: written.kind !== 'nothing' };
  }
  const decisions = plan.decisions
    .filter(({ kind }) => kind !== 'write-back')
    .map((decision) => (decision.kind === 'scale' ? written.hold : decision));
  return { ...idle, plan: withRequeue({ ...looked, decisions }, written.until) };
}

/** The plan, looked at again by `at` at the latest. */
function withRequeue(plan: Plan, at: Instant | undefined): Plan {
  if (at === undefined || (plan.requeue.kind === 'at' && plan.requeue.at <= at)) return plan;
  return { ...plan, requeue: { kind: 'at', at } };
}
