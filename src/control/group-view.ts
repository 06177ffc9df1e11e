import type { Because } from '#base/because.ts';
import type { Clock } from '#base/clock.ts';
import { after, type Instant, type Monotonic, millis } from '#base/units.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Informer } from '#kubernetes/informer.ts';
import { isOutdated, targetRevision } from '#statefulset/revision.ts';
import { slotsOf } from '#statefulset/slot.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import { type Basis, basisOfCaches, isFresh } from './basis.ts';
import { confirmGroup } from './confirm-group.ts';
import { type Decision, isDisruptive, type Plan, type PodRef, type SetRef } from './decision.ts';
import type { Fence } from './fence.ts';
import type { SetSnapshot } from './group-sets.ts';
import type { OpenDisruptions } from './open-disruptions.ts';
import type { Reason } from './reasons.ts';
import { because, podRef, setRef } from './refs.ts';

/** What one pass looks at its group through. */
export interface GroupViewPorts {
  readonly key: string;
  readonly client: Client;
  readonly clock: Clock;
  readonly pods: Informer<PodView>;
  readonly statefulSets: Informer<StatefulSetView>;
  readonly open: OpenDisruptions;
  readonly fence: Fence;
  /** What the capability does about the group as `observed` shows it. Pure. */
  plan(observed: GroupState): Plan;
}

/** A group in one state. */
export interface GroupState {
  readonly sets: readonly SetSnapshot[];
  /** uids of pods whose deletion was sent and is not yet seen, or has no answer (D-7). */
  readonly leaving: ReadonlySet<string>;
}

/** A state with the plan that it leads to. */
export interface Observed {
  readonly state: GroupState;
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
    const { open, pods, clock } = this.#ports;
    const leaving = open.leaving({
      now: clock.monotonic(),
      find: (pod) => pods.lister.get(pod.namespace, pod.name),
      hasSeen: (revision) => pods.freshness.hasSeen(revision),
    });
    const state = { sets, leaving };
    return { state, plan: this.#ports.plan(state) };
  }

  /** Makes sure of all that the plan of `observed` needs before it may be applied. */
  async secure(observed: Observed, signal: AbortSignal): Promise<Secured> {
    const { pods, statefulSets } = this.#ports;
    const basis = basisOfCaches(pods.freshness, statefulSets.freshness);
    await this.#settleUnanswered(observed.state, signal);
    if (basis !== undefined) this.#openUpToDate(observed.state);
    if (!disrupts(observed.plan)) {
      return { kind: 'ready', plan: this.#withHorizon(observed), basis };
    }
    const waitsUntil = await this.#fenceOff(observed.state, signal);
    if (waitsUntil !== undefined) return this.#heldUntil(waitsUntil, observed);
    const isCacheEnough = basis !== undefined && !this.#takesAgain(observed.plan);
    if (isCacheEnough && this.#isProven(basis, observed.state)) {
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
    const until = await this.#fenceOff(observed.state, signal);
    return until === undefined ? this.#confirm(signal) : this.#heldUntil(until, observed);
  }

  /**
   * Whether the plan takes a pod away that was made for one that we took: a cache that lags behind its set would have us
   * do that again and again.
   */
  #takesAgain({ decisions }: Plan): boolean {
    const { open, clock } = this.#ports;
    const now = clock.monotonic();
    return decisions.some(
      (decision) => decision.kind === 'delete-pod' && open.wasTaken(decision.pod, now),
    );
  }

  /** Whether `basis` is young enough, and younger than the fences of the sets. */
  #isProven(basis: Basis, { sets }: GroupState): boolean {
    const { clock, fence } = this.#ports;
    if (!isFresh(basis, clock.monotonic())) return false;
    return sets.every(({ set }) => {
      const since = fence.openSince(set.uid);
      return since !== undefined && basis.pods.provenAt > since;
    });
  }

  /** Sets of which a proven view shows nothing outdated need no fence: nothing of theirs was to be deleted. */
  #openUpToDate(state: GroupState): void {
    const { fence } = this.#ports;
    for (const set of state.sets) {
      if (fence.openSince(set.set.uid) !== undefined) continue;
      if (this.#deletableBefore(set, state).length === 0) fence.open(set.set.uid);
    }
  }

  /**
   * Voids what an earlier process may have under way, before the first disruption of the group (D-8).
   * @returns until when nothing may be disrupted; undefined when all sets are fenced
   */
  async #fenceOff(state: GroupState, signal: AbortSignal): Promise<Monotonic | undefined> {
    for (const set of state.sets) {
      const pods = this.#deletableBefore(set, state);
      const fence = await this.#ports.fence.close(set.set.uid, pods, signal);
      if (fence.kind === 'waiting') return fence.until;
    }
    return undefined;
  }

  /** Pods that an earlier process may have been deleting: the outdated ones, or all while that cannot be told. */
  #deletableBefore(snapshot: SetSnapshot, { leaving }: GroupState): readonly PodRef[] {
    const target = targetRevision(snapshot.set);
    return slotsOf({ ...snapshot, leaving }, this.#ports.clock.now()).flatMap((slot) => {
      if (slot.kind === 'missing' || slot.kind === 'terminating') return [];
      return target === undefined || isOutdated(slot.pod, target) ? [podRef(slot.pod)] : [];
    });
  }

  /** Settles deletions without an answer by touching their pods; where that is forbidden, time does (D-7). */
  async #settleUnanswered(state: GroupState, signal: AbortSignal): Promise<void> {
    const { open, fence } = this.#ports;
    const unanswered = open.unansweredPods(ownerIn(state));
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
      .filter(isDisruptive)
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
  #withHorizon({ plan, state }: Observed): Plan {
    const { open } = this.#ports;
    const isMine = ownerIn(state);
    const horizon = open.nextHorizon(isMine);
    if (horizon === undefined) return plan;
    const at = this.#instantOf(horizon);
    const isSooner = plan.requeue.kind === 'at' && plan.requeue.at <= at;
    const decisions = disrupts(plan)
      ? plan.decisions
      : [...this.#awaitedAnswers(at, state), ...plan.decisions];
    return { ...plan, decisions, requeue: isSooner ? plan.requeue : { kind: 'at', at } };
  }

  #awaitedAnswers(at: Instant, state: GroupState): readonly Decision[] {
    const awaited = new Set(this.#ports.open.unansweredPods(ownerIn(state)).map(({ uid }) => uid));
    return state.sets.flatMap(({ set, pods }) => {
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
  return plan.decisions.some(isDisruptive);
}

function holdUntil(until: Instant, set: SetRef, why: Because<Reason>): Decision {
  return { kind: 'hold', set, until, because: why };
}

/** Tells the pods of `state`; what that takes is made when the first is asked about, which is seldom. */
function ownerIn(state: GroupState): (pod: PodRef) => boolean {
  let uids: ReadonlySet<string> | undefined;
  return (pod) => {
    uids ??= new Set(state.sets.flatMap(({ pods }) => pods.map(({ uid }) => uid)));
    return uids.has(pod.uid);
  };
}
