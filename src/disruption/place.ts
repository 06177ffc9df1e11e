import { assertNever } from '#base/assert-never.ts';
import type { Problem } from '#base/parsed.ts';
import { type Instant, instant } from '#base/units.ts';
import { isReady } from '#statefulset/availability.ts';
import { type Slot as StatefulSetSlot, slotsOf } from '#statefulset/slot.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import type { Mode } from './budget.ts';
import type { Obstacle } from './obstacle.ts';
import { delayOf } from './ready-time.ts';
import type { SlotRef } from './reservation.ts';
import type { DisruptionSnapshot, GovernedSet, LeftPod } from './snapshot.ts';

/** A slot under a budget, as it stands whatever is reserved. */
export interface Place {
  readonly slot: SlotRef;
  /** Undefined where the mode knows no partitions, or the slot belongs to none that is known. */
  readonly partition: string | undefined;
  /** Whether it counts anywhere; otherwise it is unknown where. */
  readonly isCounted: boolean;
  /** The pod that is there, terminating or not. */
  readonly pod: PodView | undefined;
  /** Whether that pod is available (docs/rules/words.md), whatever the delay across zones says. */
  readonly isAvailable: boolean;
  /** Whether that pod is about to go. */
  readonly isLeaving: boolean;
  /** Undefined while it is undisturbed. */
  readonly obstacle: Obstacle | undefined;
  /** What of the pod could not be read, and was passed over. */
  readonly problem: Problem | undefined;
}

/** What a place is judged by. */
interface Context {
  readonly mode: Mode;
  readonly snapshot: DisruptionSnapshot;
  readonly now: Instant;
}

/** Returns the places of one set: its slots, and the pods that it owns beyond them. */
export function placesOf(
  { set, pods: listed = [] }: GovernedSet,
  context: Context,
): readonly Place[] {
  const { leaving, watched } = context.snapshot;
  const pods = listed.filter(({ controllerUid }) => controllerUid === set.uid);
  const slots = slotsOf(
    { set, pods, leaving, ...(watched !== undefined && { watched }) },
    context.now,
  );
  const filled = slots.flatMap((slot) => (slot.kind === 'missing' ? [] : slot.pod));
  const seen = new Set(filled);
  const beyond = pods.filter((pod) => !seen.has(pod));
  const isUnseen = unseenSlots(set, slots, beyond.length);
  const places = slots.map((slot) =>
    isUnseen.has(slot) ? uncountedPlace(set, slot, context) : slotPlace(set, slot, context),
  );
  return [...places, ...beyond.map((pod) => surplusPlace(set, pod, context))];
}

/**
 * Returns the slots without a pod that the set's spec does not want (any more), and its status still counts; the controller
 * counts the pods that stand `beyond` the slots, too, so that only what they do not explain is not seen.
 */
function unseenSlots(
  { spec }: StatefulSetView,
  slots: readonly StatefulSetSlot[],
  beyond: number,
): ReadonlySet<StatefulSetSlot> {
  const end = spec.ordinalsStart + spec.replicas;
  const surplus = slots.filter(({ kind, ordinal }) => kind === 'missing' && ordinal >= end);
  return new Set(surplus.slice(beyond));
}

function slotPlace(set: StatefulSetView, slot: StatefulSetSlot, context: Context): Place {
  const name = `${set.name}-${slot.ordinal}`;
  const where = whereIs({ name, set: set.name, isSeen: slot.kind !== 'missing' }, context.mode);
  switch (slot.kind) {
    case 'missing':
      return { ...where, ...empty, obstacle: obstacleAt(name, 'missing') };
    case 'terminating':
      return { ...where, ...leaving(slot.pod) };
    case 'not-ready':
      return { ...where, ...here(slot.pod), obstacle: obstacleAt(name, 'not-ready') };
    case 'settling':
      return { ...where, ...here(slot.pod), ...settling(slot, context) };
    case 'available':
      return { ...where, ...here(slot.pod), isAvailable: true, ...delayed(slot.pod, context) };
    default:
      return assertNever(slot);
  }
}

/**
 * Returns a slot that only the status of the set counts, without a pod there, or one beyond that explains it. A slot that
 * the spec wants has a name, and so a partition; which pod this one is cannot be known, so that it is in the way of every
 * partition (scenario 86).
 */
function uncountedPlace(
  set: StatefulSetView,
  { ordinal }: StatefulSetSlot,
  { mode }: Context,
): Place {
  const name = `${set.name}-${ordinal}`;
  const { slot } = whereIs({ name, set: set.name, isSeen: false }, mode);
  const obstacle = obstacleAt(name, 'uncounted');
  return { slot, partition: undefined, isCounted: true, ...empty, obstacle };
}

/** Returns a pod beyond the slots of its set: its controller is about to take it away. */
function surplusPlace(set: StatefulSetView, pod: PodView, { mode }: Context): Place {
  return { ...whereIs({ name: pod.name, set: set.name, isSeen: true }, mode), ...leaving(pod) };
}

/** Returns a pod under the budget that nothing controls: when it goes, its place goes, too. */
export function unmanagedPlace(pod: PodView, { mode, snapshot }: Context): Place {
  const where = whereIs({ name: pod.name, set: undefined, isSeen: true }, mode);
  if (pod.isTerminating || snapshot.leaving.has(pod.uid)) return { ...where, ...leaving(pod) };
  if (isReady(pod)) return { ...where, ...here(pod), isAvailable: true };
  return { ...where, ...here(pod), obstacle: obstacleAt(pod.name, 'not-ready') };
}

/** Returns a pod whose set was deleted. It stands in the way of every partition: those that are missing beside it are not known. */
export function leftPlace({ pod, set }: LeftPod): Place {
  const slot: SlotRef = { pod: pod.name, set, zone: set };
  const obstacle = obstacleAt(pod.name, 'left');
  return { slot, partition: undefined, isCounted: true, ...undisturbed, pod, obstacle };
}

interface Seat {
  readonly name: string;
  readonly set: string | undefined;
  /** Whether a pod is there. */
  readonly isSeen: boolean;
}

function whereIs(
  { name, set, isSeen }: Seat,
  mode: Mode,
): Pick<Place, 'slot' | 'partition' | 'isCounted'> {
  switch (mode.kind) {
    case 'zones-of-sets':
      return { slot: { pod: name, set, zone: set }, partition: undefined, isCounted: true };
    case 'zones-of-nodes':
      return {
        slot: { pod: name, set, zone: mode.zoneOf(name) },
        partition: undefined,
        isCounted: true,
      };
    case 'partitions': {
      const partition = mode.partitionOf(name);
      // A pod without a partition is part of none; a missing one may be part of any.
      const isCounted = partition !== undefined || !isSeen;
      return { slot: { pod: name, set, zone: set }, partition, isCounted };
    }
    default:
      return assertNever(mode);
  }
}

const undisturbed = {
  isAvailable: false,
  isLeaving: false,
  obstacle: undefined,
  problem: undefined,
} as const;

const empty = { ...undisturbed, pod: undefined } as const;

type State = Pick<Place, 'pod' | 'isAvailable' | 'isLeaving' | 'obstacle' | 'problem'>;

function here(pod: PodView): State {
  return { ...undisturbed, pod };
}

function leaving(pod: PodView): State {
  return { ...undisturbed, pod, isLeaving: true, obstacle: obstacleAt(pod.name, 'terminating') };
}

/**
 * Returns what it is of a pod that is not ready for long enough; the delay across zones, which runs at the same time, may
 * last longer.
 */
function settling(
  { pod, availableFrom }: Extract<StatefulSetSlot, { kind: 'settling' }>,
  context: Context,
): Pick<Place, 'obstacle' | 'problem'> {
  const { obstacle, problem } = delayed(pod, context);
  const delayEnd = obstacle === undefined ? context.now : obstacle.until;
  const isKnown = availableFrom !== 'unknown' && delayEnd !== undefined;
  const until = isKnown ? instant(Math.max(availableFrom, delayEnd)) : undefined;
  return { obstacle: obstacleAt(pod.name, 'settling', until), problem };
}

function delayed(
  pod: PodView,
  { mode, now, snapshot: { watched } }: Context,
): Pick<Place, 'obstacle' | 'problem'> {
  if (mode.kind !== 'partitions' || mode.crossZoneDelay <= 0) {
    return { obstacle: undefined, problem: undefined };
  }
  const { until, problem } = delayOf(pod, mode.crossZoneDelay, { now, watched });
  if (until === undefined) return { obstacle: undefined, problem };
  const end = until === 'unknown' ? undefined : until;
  return { obstacle: obstacleAt(pod.name, 'in-delay', end), problem };
}

function obstacleAt(pod: string, why: Obstacle['why'], until?: Instant): Obstacle {
  return { pod, why, reservedBy: [], until };
}
