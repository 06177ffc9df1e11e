import type { Because } from '#base/because.ts';
import type { Clock } from '#base/clock.ts';
import { after, type Instant, type Monotonic, millis } from '#base/units.ts';
import { type Basis, basisOfCaches, isFresh } from '#control/basis.ts';
import type { Decision, Plan, PodRef, SetRef } from '#control/decision.ts';
import type { Fence } from '#control/fence.ts';
import type { OpenDisruptions } from '#control/open-disruptions.ts';
import type { Reason } from '#control/reasons.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Informer } from '#kubernetes/informer.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import { confirmGroup } from './confirm.ts';
import { planRolloutGroup } from './plan.ts';
import { because, podRef, setRef, zoneOf } from './plan-zone.ts';
import { type GroupSnapshot, type SetSnapshot, snapshotOf, unbuiltOf } from './snapshot.ts';

/** What one pass looks at its group through. */
export interface GroupViewPorts {
  readonly key: string;
  readonly client: Client;
  readonly clock: Clock;
  readonly pods: Informer<PodView>;
  readonly statefulSets: Informer<StatefulSetView>;
  readonly open: OpenDisruptions;
  readonly fence: Fence;
  budgetOver(sets: readonly SetSnapshot[]): string | undefined;
}

/** A snapshot with the plan that it leads to. */
export interface Observed {
  readonly snapshot: GroupSnapshot;
  readonly plan: Plan;
}

/** A plan that may be applied, or that must be held although the snapshot would allow it. */
export type Secured =
  | { readonly kind: 'ready'; readonly plan: Plan; readonly basis: Basis | undefined }
  | { readonly kind: 'held'; readonly plan: Plan };

/**
 * The view of one group during one pass: from the caches while they are proven fresh, else from a consistent read;
 * and nothing disruptive before an earlier process is fenced off (D-3…D-8).
 */
export class GroupView {
  readonly #ports: GroupViewPorts;

  constructor(ports: GroupViewPorts) {
    this.#ports = ports;
  }

  /** What the caches lead to. */
  observe(sets: readonly SetSnapshot[]): Observed {
    const { key, open, pods, clock } = this.#ports;
    const leaving = open.leaving({
      now: clock.monotonic(),
      find: (pod) => pods.lister.get(pod.namespace, pod.name),
      hasSeen: (revision) => pods.freshness.hasSeen(revision),
    });
    const unbuilt = unbuiltOf(sets, this.#ports.budgetOver(sets));
    const snapshot = snapshotOf(key, sets, { leaving, unbuilt });
    return { snapshot, plan: planRolloutGroup(snapshot, clock.now()) };
  }

  /** Makes sure of all that the plan of `observed` needs before it may be applied. */
  async secure(observed: Observed, signal: AbortSignal): Promise<Secured> {
    const { pods, statefulSets } = this.#ports;
    const basis = basisOfCaches(pods.freshness, statefulSets.freshness);
    await this.#settleUnanswered(observed.snapshot, signal);
    if (basis !== undefined) this.#openUpToDate(observed.snapshot);
    if (!disrupts(observed.plan)) {
      return { kind: 'ready', plan: this.#withHorizon(observed), basis };
    }
    const waitsUntil = await this.#fenceOff(observed.snapshot, signal);
    if (waitsUntil !== undefined) return this.#heldUntil(waitsUntil, observed);
    if (basis !== undefined && this.#isProven(basis, observed.snapshot)) {
      return { kind: 'ready', plan: observed.plan, basis };
    }
    return this.#confirm(signal);
  }

  /** Plans from a consistent read alone; anew where that shows a set that has to be fenced first. */
  async #confirm(signal: AbortSignal): Promise<Secured> {
    const { pods, statefulSets, key, fence } = this.#ports;
    const { sets, basis } = await confirmGroup(
      key,
      { ...this.#ports, pods: pods.freshness, statefulSets: statefulSets.freshness },
      signal,
    );
    // What the sets ask for, and what is leaving, may have changed since the caches were looked at.
    const observed = this.observe(sets);
    const isFenced = sets.every(({ set }) => fence.openSince(set.uid) !== undefined);
    if (isFenced || !disrupts(observed.plan)) {
      return { kind: 'ready', plan: this.#withHorizon(observed), basis };
    }
    const until = await this.#fenceOff(observed.snapshot, signal);
    return until === undefined ? this.#confirm(signal) : this.#heldUntil(until, observed);
  }

  /** Whether `basis` is young enough, and younger than the fences of the sets. */
  #isProven(basis: Basis, { sets }: GroupSnapshot): boolean {
    const { clock, fence } = this.#ports;
    if (!isFresh(basis, clock.monotonic())) return false;
    return sets.every(({ set }) => {
      const since = fence.openSince(set.uid);
      return since !== undefined && basis.pods.provenAt > since;
    });
  }

  /** Sets of which a proven view shows nothing outdated need no fence: nothing of theirs was to be deleted. */
  #openUpToDate(snapshot: GroupSnapshot): void {
    const { fence } = this.#ports;
    for (const set of snapshot.sets) {
      if (fence.openSince(set.set.uid) !== undefined) continue;
      if (this.#deletableBefore(set, snapshot).length === 0) fence.open(set.set.uid);
    }
  }

  /**
   * Voids what an earlier process may have under way, before the first disruption of the group (D-8).
   * @returns until when nothing may be disrupted; undefined when all sets are fenced
   */
  async #fenceOff(snapshot: GroupSnapshot, signal: AbortSignal): Promise<Monotonic | undefined> {
    for (const set of snapshot.sets) {
      const pods = this.#deletableBefore(set, snapshot);
      const state = await this.#ports.fence.close(set.set.uid, pods, signal);
      if (state.kind === 'waiting') return state.until;
    }
    return undefined;
  }

  /** Pods that an earlier process may have been deleting: the outdated ones, or all while that cannot be told. */
  #deletableBefore(set: SetSnapshot, { leaving }: GroupSnapshot): readonly PodRef[] {
    const zone = zoneOf(set, leaving, this.#ports.clock.now());
    const slots = zone.target === undefined ? zone.slots : zone.outdated;
    return slots.flatMap((slot) =>
      slot.kind === 'missing' || slot.kind === 'terminating' ? [] : [podRef(slot.pod)],
    );
  }

  /** Settles deletions without an answer by touching their pods; where that is forbidden, time does (D-7). */
  async #settleUnanswered(snapshot: GroupSnapshot, signal: AbortSignal): Promise<void> {
    const { open, fence } = this.#ports;
    const unanswered = open.unansweredPods(ownerIn(snapshot));
    if (unanswered.length === 0) return;
    const { touches, error } = await fence.touch(unanswered, signal);
    for (const touch of touches) {
      if (touch.kind === 'moved') open.accepted(touch.pod);
      else if (touch.isTerminating) open.answered(touch.pod, touch.revision);
      else open.void(touch.pod);
    }
    if (error !== undefined) throw error;
  }

  /** The plan of `observed` as a hold that ends at `until`, and nothing else but its warnings. */
  #heldUntil(until: Monotonic, { plan }: Observed): Secured {
    const at = this.#instantOf(until);
    const message =
      'an earlier process may have a deletion under way, and pods may not be patched to void it';
    const holds = plan.decisions
      .filter((decision) => decision.kind === 'delete-pod')
      .slice(0, 1)
      .map(({ set }) => holdUntil(at, set, because('AwaitingPredecessor', message)));
    const warnings = plan.decisions.filter((decision) => decision.kind === 'warn');
    const decisions = [...warnings, ...holds];
    return { kind: 'held', plan: { ...plan, decisions, requeue: { kind: 'at', at } } };
  }

  /**
   * The plan, looked at again at the latest when a deletion without an answer is settled by time, and with that as
   * the reason where nothing else is done (D-7, LIVE-2).
   */
  #withHorizon({ plan, snapshot }: Observed): Plan {
    const { open } = this.#ports;
    const isMine = ownerIn(snapshot);
    const horizon = open.nextHorizon(isMine);
    if (horizon === undefined) return plan;
    const at = this.#instantOf(horizon);
    const isSooner = plan.requeue.kind === 'at' && plan.requeue.at <= at;
    const decisions = disrupts(plan)
      ? plan.decisions
      : [...this.#awaitedAnswers(at, snapshot), ...plan.decisions];
    return { ...plan, decisions, requeue: isSooner ? plan.requeue : { kind: 'at', at } };
  }

  #awaitedAnswers(at: Instant, snapshot: GroupSnapshot): readonly Decision[] {
    const awaited = new Set(
      this.#ports.open.unansweredPods(ownerIn(snapshot)).map(({ uid }) => uid),
    );
    return snapshot.sets.flatMap(({ set, pods }) => {
      const names = pods.filter((pod) => awaited.has(pod.uid)).map((pod) => pod.name);
      if (names.length === 0) return [];
      const message = `the deletion of ${names.join(', ')} got no answer, and pods may not be patched to void it`;
      return [holdUntil(at, setRef(set), because('AwaitingAnswer', message))];
    });
  }

  #instantOf(time: Monotonic): Instant {
    const { clock } = this.#ports;
    return after(clock.now(), millis(time - clock.monotonic()));
  }
}

function disrupts(plan: Plan): boolean {
  return plan.decisions.some((decision) => decision.kind === 'delete-pod');
}

function holdUntil(until: Instant, set: SetRef, why: Because<Reason>): Decision {
  return { kind: 'hold', set, until, because: why };
}

/** Tells the pods of `snapshot`; what that takes is made when the first is asked about, which is seldom. */
function ownerIn(snapshot: GroupSnapshot): (pod: PodRef) => boolean {
  let uids: ReadonlySet<string> | undefined;
  return (pod) => {
    uids ??= new Set(snapshot.sets.flatMap(({ pods }) => pods.map(({ uid }) => uid)));
    return uids.has(pod.uid);
  };
}
