import { assertNever } from '#base/assert-never.ts';
import { type Millis, type Monotonic, minutes, seconds } from '#base/units.ts';
import type {
  DelayedDownscaleSnapshot,
  PodPreparation,
  PreparationState,
  SlotPod,
} from './delayed-downscale-snapshot.ts';
import { elapsedOf } from './watched-preparation.ts';

/**
 * How long a pod's answer is good for letting it go. It counts from when it came, not from when the call was sent: the
 * pod gave it in between, only this process calls pods, one call a pod at a time, and a pod that takes long to answer
 * would else never be let go. What is left of 10 s is for the write that follows (D-3).
 */
const answerLife: Millis = seconds(5);

/** A preparation is asked for again after this time, so that one that a user took back does not stay so. */
const reassertAfter = minutes(5);

/** One slot of the set, as a decision sees it. */
export interface DownscaleSlot {
  readonly ordinal: number;
  /** Undefined when no pod is there. */
  readonly pod: SlotPod | undefined;
  readonly calling: PodPreparation['calling'];
  readonly state: PreparationState;
}

const unknown: PodPreparation = { calling: undefined, state: { kind: 'unknown' } };

/** Returns the slots `from` up to, but without, `to`, counted from the set's first one (KW-30), in ascending order. */
export function downscaleSlots(
  snapshot: Pick<DelayedDownscaleSnapshot, 'set' | 'pods' | 'preparations'>,
  from: number,
  to: number,
): readonly DownscaleSlot[] {
  const slots: DownscaleSlot[] = [];
  for (let index = from; index < to; index += 1) {
    const ordinal = snapshot.set.spec.ordinalsStart + index;
    const preparation = snapshot.preparations.get(ordinal) ?? unknown;
    slots.push({ ordinal, pod: snapshot.pods.get(ordinal), ...preparation });
  }
  return slots;
}

/** Reports whether the pod, which stays, is to be called with DELETE now: until it has answered that, and then never (KW-25). */
export function isCancelDue(slot: DownscaleSlot, at: Monotonic): boolean {
  const { pod, state, calling } = slot;
  if (pod === undefined || calling !== undefined) return false;
  switch (state.kind) {
    case 'unknown':
    case 'prepared':
      return true;
    case 'cancelled':
      return state.repeatAt !== undefined && state.repeatAt <= at;
    case 'failed':
      return state.method === 'POST' || isRetryDue(state, pod, at);
    default:
      return assertNever(state);
  }
}

/** Reports whether the pod of the slot has confirmed that it stays, and no POST may have come after that. */
export function isReleased({ state, calling }: DownscaleSlot): boolean {
  return state.kind === 'cancelled' && state.repeatAt === undefined && calling === undefined;
}

/** Reports whether the pod, which is to go, is to be called with POST now, whatever the delay says. */
export function isPrepareDue(slot: DownscaleSlot, at: Monotonic): boolean {
  const { pod, state, calling } = slot;
  if (pod === undefined || calling !== undefined) return false;
  switch (state.kind) {
    case 'unknown':
    case 'cancelled':
      return true;
    case 'prepared':
      return state.uid !== pod.uid || reassertAt(state) <= at;
    case 'failed':
      return state.method === 'DELETE' || isRetryDue(state, pod, at);
    default:
      return assertNever(state);
  }
}

function isRetryDue(
  state: Extract<PreparationState, { kind: 'failed' }>,
  pod: SlotPod,
  at: Monotonic,
): boolean {
  const hasChanged = state.uid !== pod.uid || (pod.isReady && !state.wasReady);
  return hasChanged || state.retryAt <= at;
}

/** Reports whether this very pod has been prepared for `delay` at `at`. */
export function isElapsed(slot: DownscaleSlot, delay: Millis, at: Monotonic): boolean {
  const { pod, state } = slot;
  return state.kind === 'prepared' && state.uid === pod?.uid && elapsedOf(state, at) >= delay;
}

/** Returns when the answer came, if it is young enough to act on. */
export function freshAnswer(slot: DownscaleSlot, at: Monotonic): Monotonic | undefined {
  const { state } = slot;
  if (state.kind !== 'prepared' || slot.calling !== undefined) return undefined;
  return at - state.answeredAt <= answerLife ? state.answeredAt : undefined;
}

/** Returns when time alone asks for another call of the pod; undefined when it does not, or when a call is under way. */
export function nextCallAt(slot: DownscaleSlot): number | undefined {
  const { pod, state, calling } = slot;
  if (pod === undefined || calling !== undefined) return undefined;
  switch (state.kind) {
    case 'unknown':
      return undefined;
    case 'cancelled':
      return state.repeatAt;
    case 'prepared':
      return reassertAt(state);
    case 'failed':
      return state.retryAt;
    default:
      return assertNever(state);
  }
}

function reassertAt(state: Extract<PreparationState, { kind: 'prepared' }>): number {
  return state.answeredAt + reassertAfter;
}
