import { formatGoDuration } from '#base/time/go-duration.ts';
import { formatUtcSeconds } from '#base/time/utc-seconds.ts';
import {
  after,
  type Instant,
  instant,
  type Millis,
  type Monotonic,
  millis,
  seconds,
} from '#base/units.ts';
import type { Requeue } from '#control/decision/decision.ts';
import type { Reason } from '#control/decision/reasons.ts';
import type { DelayedDownscale } from './delayed-downscale.ts';
import {
  type DownscaleSlot,
  downscaleSlots,
  freshAnswer,
  isCancelDue,
  isElapsed,
  isPrepareDue,
  nextCallAt,
} from './delayed-downscale-slots.ts';
import type {
  DelayedDownscalePlan,
  DelayedDownscaleSnapshot,
  DelayedDownscaleVerdict,
  PlannedPodCall,
} from './delayed-downscale-snapshot.ts';
import { elapsedOf } from './watched-preparation.ts';

type HoldVerdict = Extract<DelayedDownscaleVerdict, { kind: 'hold' }>;

/** How long pods that may go wait for the answers of those below them, so that they go in one write. */
const patience = seconds(2.5);

const settled: DelayedDownscaleVerdict = { kind: 'settled' };
const awaitChange: Requeue = { kind: 'await-change' };

/**
 * Returns which pods to call and how far to scale (corrected as KW-25, KW-26, KW-30 and D-22 say).
 *
 * Pods that stay are cancelled until they say so; pods that are to go are asked how long they have been prepared. The tail
 * of the highest ordinals that have each been so for the delay, by an answer not older than `answerLife`, may go; a pod
 * that is not due, or does not answer, holds itself and all below it. Total and deterministic.
 */
export function planDelayedDownscale(
  snapshot: DelayedDownscaleSnapshot,
  now: Instant,
): DelayedDownscalePlan {
  const { set, settings, wanted } = snapshot;
  const current = set.spec.replicas;
  if (settings.kind === 'invalid') {
    // Scenario 70: no scaling in either direction, and with equal counts not a word.
    return withoutCalls(wanted === current ? settled : invalidHold(set.name, settings.problem));
  }
  if (settings.value === undefined) return withoutCalls(undelayed(wanted, current));
  const { url } = settings.value;
  if (url.kind === 'valid') return planCalls(snapshot, settings.value, now);
  const isDownscale = wanted < current;
  return withoutCalls(
    isDownscale ? invalidHold(set.name, url.problem) : undelayed(wanted, current),
  );
}

function withoutCalls(verdict: DelayedDownscaleVerdict): DelayedDownscalePlan {
  return { calls: [], verdict, requeue: awaitChange };
}

function undelayed(wanted: number, current: number): DelayedDownscaleVerdict {
  if (wanted === current) return settled;
  return { kind: 'scale', to: wanted, provenAt: undefined, because: undefined };
}

function invalidHold(
  set: string,
  problem: { readonly path: string; readonly message: string },
): HoldVerdict {
  const message = `StatefulSet "${set}" is not scaled: ${problem.path} ${problem.message}`;
  return hold('InvalidDelayedDownscale', message);
}

function planCalls(
  snapshot: DelayedDownscaleSnapshot,
  settings: DelayedDownscale,
  now: Instant,
): DelayedDownscalePlan {
  const { wanted, takenAt } = snapshot;
  const current = snapshot.set.spec.replicas;
  const staying = downscaleSlots(snapshot, 0, Math.min(wanted, current));
  const cancels = staying.flatMap((slot) =>
    isCancelDue(slot, takenAt) ? callsOf('DELETE', slot) : [],
  );
  if (wanted >= current) {
    const verdict = undelayed(wanted, current);
    return { calls: cancels, verdict, requeue: requeueOf({ snapshot, now }, staying, undefined) };
  }
  const going = downscaleSlots(snapshot, wanted, current).toReversed();
  const prepares = preparesOf(snapshot, going, settings.delay);
  const asked = new Set(prepares.map((each) => each.ordinal));
  const verdict = verdictOf({ snapshot, now, settings, asked }, going);
  // Once some may go the write comes first: after it the rest is asked again (DD-24).
  const calls = verdict.kind === 'scale' ? cancels : [...cancels, ...prepares];
  const until = verdict.kind === 'hold' ? verdict.until : undefined;
  return { calls, verdict, requeue: requeueOf({ snapshot, now }, [...staying, ...going], until) };
}

interface Moment {
  readonly snapshot: DelayedDownscaleSnapshot;
  readonly now: Instant;
}

function callsOf(method: PlannedPodCall['method'], slot: DownscaleSlot): readonly PlannedPodCall[] {
  return slot.pod === undefined ? [] : [{ method, ordinal: slot.ordinal, pod: slot.pod }];
}

/** Calls that ask, and those that confirm an old answer of a pod in the tail that may go; highest ordinal first. */
function preparesOf(
  { takenAt }: DelayedDownscaleSnapshot,
  going: readonly DownscaleSlot[],
  delay: Millis,
): readonly PlannedPodCall[] {
  let isTail = true;
  return going.flatMap((slot) => {
    isTail &&= isElapsed(slot, delay, takenAt);
    const isConfirmDue =
      isTail && slot.calling === undefined && freshAnswer(slot, takenAt) === undefined;
    return isConfirmDue || isPrepareDue(slot, takenAt) ? callsOf('POST', slot) : [];
  });
}

/** The pods at the top that may go now, and the first below them that may not. */
interface Tail {
  readonly free: readonly DownscaleSlot[];
  /** When the oldest of their answers came; undefined without any. */
  readonly provenAt: Monotonic | undefined;
  readonly blocker: DownscaleSlot | undefined;
}

function tailOf(
  { takenAt }: DelayedDownscaleSnapshot,
  going: readonly DownscaleSlot[],
  delay: Millis,
): Tail {
  const free: DownscaleSlot[] = [];
  let provenAt: Monotonic | undefined;
  for (const slot of going) {
    const answeredAt = freshAnswer(slot, takenAt);
    if (answeredAt === undefined || !isElapsed(slot, delay, takenAt)) {
      return { free, provenAt, blocker: slot };
    }
    if (provenAt === undefined || answeredAt < provenAt) provenAt = answeredAt;
    free.push(slot);
  }
  return { free, provenAt, blocker: undefined };
}

interface Question extends Moment {
  readonly settings: DelayedDownscale;
  /** Ordinals of the pods that this plan asks. */
  readonly asked: ReadonlySet<number>;
}

function verdictOf(question: Question, going: readonly DownscaleSlot[]): DelayedDownscaleVerdict {
  const { snapshot, settings, asked } = question;
  const { free, provenAt, blocker } = tailOf(snapshot, going, settings.delay);
  const isAsking =
    blocker !== undefined && (blocker.calling !== undefined || asked.has(blocker.ordinal));
  if (provenAt === undefined) return holdFor(question, blocker, isAsking);
  const patient = patience - (snapshot.takenAt - provenAt);
  if (isAsking && patient > 0) {
    const until = after(question.now, millis(patient));
    return hold(
      'AwaitingPods',
      `${describe(snapshot, free)} may go; others are being asked`,
      until,
    );
  }
  return {
    kind: 'scale',
    to: snapshot.set.spec.replicas - free.length,
    provenAt,
    because: becauseElapsed(question, free, blocker),
  };
}

function becauseElapsed(
  { snapshot, settings }: Question,
  free: readonly DownscaleSlot[],
  blocker: DownscaleSlot | undefined,
): HoldVerdict['because'] {
  const delay = formatGoDuration(settings.delay);
  const rest =
    blocker === undefined ? '' : `; ${podName(snapshot, blocker)} and those below it stay`;
  const message = `${describe(snapshot, free)} reported being prepared for at least ${delay}${rest}`;
  return { reason: 'DownscaleDelayElapsed', message };
}

/** Returns why the pod with the highest ordinal may not go. */
function holdFor(
  question: Question,
  blocker: DownscaleSlot | undefined,
  isAsking: boolean,
): HoldVerdict {
  const { snapshot, settings } = question;
  // A down-scale has at least one pod that goes, which is free or blocks.
  if (blocker === undefined) return hold('AwaitingPods', 'no pod has been asked yet');
  const name = podName(snapshot, blocker);
  const { pod, state } = blocker;
  if (pod === undefined) {
    return hold('PodNotPrepared', `Pod "${name}" does not exist, so it cannot be asked to prepare`);
  }
  if (state.kind === 'failed' && state.method === 'POST') {
    const message = `Pod "${name}" does not say that it is prepared: it ${state.why}`;
    return hold('PodNotPrepared', message, isAsking ? undefined : timeOf(question, state.retryAt));
  }
  if (isAsking || state.kind !== 'prepared') {
    return hold('AwaitingPods', `Pod "${name}" is being asked how long it has been prepared`);
  }
  const left = settings.delay - elapsedOf(state, question.snapshot.takenAt);
  const due = after(question.now, millis(Math.max(0, left)));
  const delay = formatGoDuration(settings.delay);
  const message = `Pod "${name}" may go at ${formatUtcSeconds(due)}, ${delay} after it reported being prepared`;
  return hold('DownscaleDelayed', message, due);
}

function hold(reason: Reason, message: string, until?: Instant): HoldVerdict {
  const because = { reason, message };
  return until === undefined ? { kind: 'hold', because } : { kind: 'hold', until, because };
}

/** Returns the earliest time at which a pod is called again, or the hold may end. */
function requeueOf(
  moment: Moment,
  slots: readonly DownscaleSlot[],
  until: Instant | undefined,
): Requeue {
  const { takenAt } = moment.snapshot;
  let earliest: number = until ?? Number.POSITIVE_INFINITY;
  for (const slot of slots) {
    const next = nextCallAt(slot);
    // What is due by now is among the calls of this plan, or waits for a write.
    if (next !== undefined && next > takenAt) earliest = Math.min(earliest, timeOf(moment, next));
  }
  return earliest === Number.POSITIVE_INFINITY
    ? awaitChange
    : { kind: 'at', at: instant(earliest) };
}

/** Returns the wall-clock time of a reading of the other clock. */
function timeOf({ snapshot, now }: Moment, monotonic: number): Instant {
  return after(now, millis(monotonic - snapshot.takenAt));
}

function podName(snapshot: DelayedDownscaleSnapshot, slot: DownscaleSlot): string {
  return `${snapshot.set.name}-${slot.ordinal}`;
}

/** Returns the pods of `slots`, highest ordinal first, as people say it: `Pods x-3 to x-5`. */
function describe(snapshot: DelayedDownscaleSnapshot, slots: readonly DownscaleSlot[]): string {
  const [highest] = slots;
  const lowest = slots.at(-1);
  if (highest === undefined || lowest === undefined) return 'no pod';
  return highest === lowest
    ? `Pod "${podName(snapshot, highest)}"`
    : `Pods "${podName(snapshot, lowest)}" to "${podName(snapshot, highest)}"`;
}
