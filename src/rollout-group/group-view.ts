import type { Clock } from '#base/clock.ts';
import { after, type Monotonic, millis } from '#base/units.ts';
import { type Basis, basisOfCaches, isFresh } from '#control/basis.ts';
import type { Decision, Plan, PodRef } from '#control/decision.ts';
import type { Fence, FenceState } from '#control/fence.ts';
import type { OpenDisruptions } from '#control/open-disruptions.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Informer } from '#kubernetes/informer.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import { confirmGroup } from './confirm.ts';
import { planRolloutGroup } from './plan.ts';
import { because, podRef, zoneOf } from './plan-zone.ts';
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
    const { clock, fence, key, pods, statefulSets } = this.#ports;
    const basis = basisOfCaches(pods.freshness, statefulSets.freshness);
    await this.#settleUnanswered(signal);
    if (!disrupts(observed.plan)) {
      if (basis !== undefined && isUpToDate(observed.snapshot, observed.plan)) fence.open(key);
      return { kind: 'ready', plan: this.#withHorizon(observed.plan), basis };
    }
    if (!fence.isOpen(key)) return this.#fenceOff(observed, signal);
    if (basis !== undefined && isFresh(basis, clock.monotonic())) {
      return { kind: 'ready', plan: observed.plan, basis };
    }
    const { sets, basis: confirmed } = await confirmGroup(
      key,
      { ...this.#ports, pods: pods.freshness, statefulSets: statefulSets.freshness },
      signal,
    );
    const plan = planRolloutGroup({ ...observed.snapshot, sets }, clock.now());
    return { kind: 'ready', plan, basis: confirmed };
  }

  /** Voids what an earlier process may have under way, before the first disruption of the group (D-8). */
  async #fenceOff(observed: Observed, signal: AbortSignal): Promise<Secured> {
    const { clock, fence, key } = this.#ports;
    const state = await fence.close(key, outdatedPods(observed.snapshot, clock), signal);
    const message =
      state.kind === 'waiting'
        ? 'an earlier process may have a deletion under way, and pods may not be patched to void it'
        : 'pods were touched to void what an earlier process may have under way';
    return { kind: 'held', plan: this.#held(observed.plan, message, fenceWait(state, clock)) };
  }

  /** Settles deletions without an answer by touching their pods; where that is forbidden, time does (D-7). */
  async #settleUnanswered(signal: AbortSignal): Promise<void> {
    const { open, fence } = this.#ports;
    const unanswered = open.unansweredPods();
    if (unanswered.length === 0) return;
    const touches = await fence.touch(unanswered, signal);
    if (touches === 'forbidden') return;
    for (const touch of touches) {
      if (touch.kind === 'moved') open.accepted(touch.pod);
      else if (touch.isTerminating) open.answered(touch.pod, touch.revision);
      else open.void(touch.pod);
    }
  }

  /** `plan` as a hold that ends `wait` ms from now, and nothing else but its warnings. */
  #held(plan: Plan, message: string, wait: number): Plan {
    const until = after(this.#ports.clock.now(), millis(wait));
    const hold = plan.decisions
      .filter((decision) => decision.kind === 'delete-pod')
      .slice(0, 1)
      .map(
        ({ set }): Decision => ({
          kind: 'hold',
          set,
          until,
          because: because('AwaitingPredecessor', message),
        }),
      );
    const warnings = plan.decisions.filter((decision) => decision.kind === 'warn');
    return { ...plan, decisions: [...warnings, ...hold], requeue: { kind: 'at', at: until } };
  }

  /** `plan`, looked at again at the latest when a deletion without an answer is settled by time (D-7). */
  #withHorizon(plan: Plan): Plan {
    const { open, clock } = this.#ports;
    const horizon: Monotonic | undefined = open.nextHorizon();
    if (horizon === undefined) return plan;
    const at = after(clock.now(), millis(horizon - clock.monotonic()));
    const isSooner = plan.requeue.kind === 'at' && plan.requeue.at <= at;
    return isSooner ? plan : { ...plan, requeue: { kind: 'at', at } };
  }
}

/** How long to wait, in ms, for what closing the fence came to. */
function fenceWait(state: FenceState, clock: Clock): number {
  if (state.kind === 'waiting') return state.until - clock.monotonic();
  // The touches wake the key as the watch shows them; a second later it is looked at in any case.
  return state.kind === 'touched' ? 1_000 : 0;
}

function disrupts(plan: Plan): boolean {
  return plan.decisions.some((decision) => decision.kind === 'delete-pod');
}

/** Whether no pod of the group could be the target of an earlier process. */
function isUpToDate(snapshot: GroupSnapshot, plan: Plan): boolean {
  return (
    plan.progress.every(({ outdated }) => outdated === 0) &&
    snapshot.sets.every(({ set }) => set.status.observedGeneration >= set.generation)
  );
}

function outdatedPods(snapshot: GroupSnapshot, clock: Clock): readonly PodRef[] {
  const now = clock.now();
  return snapshot.sets
    .map((set) => zoneOf(set, snapshot.leaving, now))
    .flatMap((zone) => zone.outdated)
    .flatMap((slot) => (slot.kind === 'terminating' ? [] : [podRef(slot.pod)]));
}
