import { podsText } from '#base/text/pods-text.ts';
import { type Instant, millis } from '#base/units.ts';
import { isTooLarge } from '#statefulset/parse-ordinal.ts';
import { unusableRevision } from '#statefulset/revision.ts';
import type { RolloutProgress } from '../progress.ts';
import type { RolledSet } from '../snapshot.ts';
import { discoveryHold } from './plan-discovery.ts';
import { because, ending, type RolloutPass, type Step } from './plan-outcome.ts';
import { percentDeployed } from './plan-percent.ts';
import { planPinned, planPinnedEnd } from './plan-pin.ts';
import { planPinOff, planPinOn } from './plan-pin-switch.ts';
import { isPinned } from './plan-pinned-set.ts';
import { namesOf, type Place, rolloutPlaces } from './plan-places.ts';
import { planRotation, settlesAt, troubleOf } from './plan-rotation.ts';

/** Returns the next step with a set that is as it is wanted: pods go, come, and are counted. */
export function planRolling(pass: RolloutPass, target: RolledSet): Step {
  const { set } = target;
  const { snapshot, spec, now } = pass;
  if (set.status.observedGeneration < set.generation || set.status.updateRevision === '') {
    const message = `the StatefulSet controller has not observed the newest spec of ${set.name}`;
    return { phase: 'RollingOut', because: because('AwaitingController', message) };
  }
  if (isTooLarge(set)) {
    const message = `${set.name} has ${set.spec.replicas} replicas, which is more than is rolled out`;
    return { phase: 'RollingOut', because: because('SetTooLarge', message) };
  }
  const unusable = unusableRevision(set);
  if (unusable !== undefined) {
    return { phase: 'RollingOut', because: because('RevisionUnusable', unusable) };
  }
  const places = rolloutPlaces(target, snapshot, { percent: spec.percent, now });
  const changes = notedOn(pass, target, places);
  const counted = { ...pass, progress: { ...pass.progress, ...changes } };
  const step =
    planPinOff(pass, target) ??
    planPods(counted, target, places) ??
    planWait(counted, target, places);
  return { ...step, changes: { ...changes, ...step.changes } };
}

/** Plans for pods that are left to go. */
function planPods(
  pass: RolloutPass,
  target: RolledSet,
  places: readonly Place[],
): Step | undefined {
  return isPinned(pass.progress, target.set)
    ? planPinned(pass, target, places)
    : planRotation(pass, target, places);
}

/** Plans what is left to do once all pods of the target are new and healthy. */
function planEnd(pass: RolloutPass, target: RolledSet, places: readonly Place[]): Step {
  const step = isPinned(pass.progress, target.set)
    ? planPinnedEnd(pass, target, places)
    : planPinOn(pass, target, places);
  return step ?? planDone(pass, target.set, places);
}

/** Returns what this moment adds to what is remembered. */
function notedOn(
  { progress, spec, snapshot, now }: RolloutPass,
  target: RolledSet,
  places: readonly Place[],
): Partial<RolloutProgress> {
  const { set, isRollback } = target;
  const healthy = places.filter(({ isTarget, isHealthy }) => isTarget && isHealthy).length;
  const isUnknown = discoveryHold(snapshot.discovery) !== undefined;
  // A Consul that cannot be asked takes nothing back of what has been reached.
  const percent = isUnknown
    ? progress.percentDeployed
    : percentDeployed(healthy, places.length, spec.percent);
  const isNew = progress.targetRevision !== set.status.updateRevision;
  const isBetter = healthy > progress.mostHealthy;
  // Pods of the target that are new already have been reached, whatever made them so; where the set is seen with the version
  // for the first time, those outside of it, too, as they cannot have come back since then.
  const reached = places.filter(
    ({ isTarget, pod, isStale, isRotated }) =>
      (isTarget || !progress.isWritten) && pod !== undefined && !isStale && !isRotated,
  );
  return {
    percentDeployed: percent,
    ...unpinnedIn(progress, target),
    isWritten: true,
    ...(reached.length > 0 && {
      rotated: new Set([...progress.rotated, ...reached.map(({ name }) => name)]),
    }),
    // A set that was made, or written, is progress, too.
    ...(isNew && { targetRevision: set.status.updateRevision, isRollback, ...progressAt(now) }),
    ...(isBetter && { mostHealthy: healthy, ...progressAt(now) }),
  };
}

/** Returns no partition for a set that does not roll by itself: it pins nothing, whatever was meant. */
export function unpinnedIn(
  { partition }: RolloutProgress,
  target: RolledSet | undefined,
): Pick<RolloutProgress, 'partition'> | undefined {
  const strategy = target?.set.spec.updateStrategy ?? 'RollingUpdate';
  return partition !== undefined && strategy !== 'RollingUpdate'
    ? { partition: undefined }
    : undefined;
}

/** Returns what is remembered of any progress. */
function progressAt(now: Instant): Pick<RolloutProgress, 'lastProgress' | 'pausedSinceProgress'> {
  return { lastProgress: now, pausedSinceProgress: millis(0) };
}

/** Plans the wait when no pod is left to go. */
function planWait(pass: RolloutPass, target: RolledSet, places: readonly Place[]): Step {
  const missing = places.filter(({ isTarget, isHealthy }) => isTarget && !isHealthy);
  if (missing.length === 0) return planEnd(pass, target, places);
  const notReady = missing.filter(({ slot }) => slot.kind !== 'available');
  if (notReady.length === 0) {
    const message = `waiting for service discovery to pass ${namesOf(missing)}`;
    const held = discoveryHold(pass.snapshot.discovery);
    return {
      phase: 'WaitingForServiceDiscovery',
      because: held ?? because('AwaitingServiceDiscovery', message),
    };
  }
  const message = `waiting for ${namesOf(notReady)} to be ready${troubleOf(notReady)}`;
  return {
    phase: 'WaitingForReady',
    because: because('AwaitingPods', message),
    ...settlesAt(notReady, pass.now),
  };
}

function planDone(
  { spec }: RolloutPass,
  { status }: RolledSet['set'],
  places: readonly Place[],
): Step {
  const target = places.filter(({ isTarget }) => isTarget).length;
  const updated = updatedIn(places);
  // A set that has had one version alone has no older pods to keep.
  const isFirst = status.currentRevision === status.updateRevision;
  if (updated <= target || isFirst) {
    const message = doneText(spec, places);
    return ending({ result: 'Done', code: 'RolloutDone', message }, 'RolloutDone');
  }
  const message = `${updated} of ${allOf(spec, places)} are new, ${updated - target} more than were wanted: a pod that is new stays so`;
  return ending({ result: 'Done', code: 'PercentBelowActual', message }, 'PercentBelowActual');
}

/** Returns the outcome of a rollout that has come as far as it was to, as of these places. */
export function doneText(spec: RolloutPass['spec'], places: readonly Place[]): string {
  return `${updatedIn(places)} of ${allOf(spec, places)} are new and ready`;
}

function allOf({ percent }: RolloutPass['spec'], { length }: readonly Place[]): string {
  return `${podsText(length)} at ${percent} percent`;
}

function updatedIn(places: readonly Place[]): number {
  return places.filter(({ pod, isStale }) => pod !== undefined && !isStale).length;
}
