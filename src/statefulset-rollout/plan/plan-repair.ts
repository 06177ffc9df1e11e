import { podsText } from '#base/text/pods-text.ts';
import { podRef, setRef } from '#control/decision/refs.ts';
import type { RolledSet } from '../snapshot.ts';
import { because, type RolloutPass, type Step } from './plan-outcome.ts';
import { type Pinned, pinnedOf, settingPartition } from './plan-pinned-set.ts';
import { namesOf, type Place } from './plan-places.ts';
import { nextOf, noRoom, obstacleOf, podsOf, rotationOf } from './plan-rotation.ts';
import { withAdvice } from './plan-unready.ts';

/** Reports whether a pod that goes back would run something that others run, too, and that once was complete. */
function isHeldAlive({ places, target, hasOneRevision }: Pinned): boolean {
  const { currentRevision } = target.set.status;
  return !hasOneRevision && places.some(({ pod }) => pod?.revision === currentRevision);
}

/** Plans for fewer pods that are wanted new: those above are to be taken back. */
export function planRaised(pinned: Pinned): Step | undefined {
  const { pass, target, places, partition, bottom } = pinned;
  const { progress, spec } = pass;
  if (!spec.isLeakRepaired || partition >= bottom || !isHeldAlive(pinned)) return undefined;
  const back = new Set(places.filter(({ index }) => index < bottom).map(({ name }) => name));
  const message = `${target.set.name} from ${partition} to ${bottom}, as no more than ${spec.percent} percent are wanted new`;
  const raising = settingPartition(target.set, bottom);
  return {
    phase: 'RollingOut',
    because: because('PartitionRaised', message),
    action: raising.action,
    changes: {
      ...raising.changes,
      rotated: new Set([...progress.rotated].filter((name) => !back.has(name))),
    },
  };
}

/** Reports whether a pinned pod runs what was not to reach it. */
function isToGoBack({ index, isStale, slot }: Place, { partition, bottom }: Pinned): boolean {
  if (index >= Math.min(partition, bottom) || isStale) return false;
  return slot.kind !== 'missing' && slot.kind !== 'terminating';
}

/** Takes pods below the partition back to the version that is held there. */
export function planTakenBack(pinned: Pinned): Step | undefined {
  const { pass, target, places } = pinned;
  if (!pass.spec.isLeakRepaired || !isHeldAlive(pinned)) return undefined;
  const candidates = places.filter((place) => isToGoBack(place, pinned));
  if (candidates.length === 0) return undefined;
  const rotation = rotationOf(pass, target, { places, candidates });
  const obstacle = obstacleOf(pass);
  if (obstacle !== undefined) {
    return { phase: 'WaitingForReady', ...withAdvice(obstacle, rotation) };
  }
  const going = nextOf(rotation);
  if (going.length === 0) {
    return { phase: 'WaitingForReady', ...withAdvice(noRoom(rotation), rotation) };
  }
  const names = new Set(going.map(({ name }) => name));
  const { progress, now } = pass;
  const before = progress.batch.filter(({ name }) => !names.has(name) && isComing(name, pinned));
  const pods = podsOf(going);
  const message = `${namesOf(going)} to ${target.set.status.currentRevision}, ${podsText(candidates.length - going.length)} to go after that`;
  return {
    phase: 'WaitingForReady',
    because: because('PodsTakenBack', message),
    action: { kind: 'evict', set: setRef(target.set), pods: pods.map(podRef) },
    changes: {
      batch: [...before, ...pods.map(({ name, uid }) => ({ name, uid }))],
      rotated: new Set([...progress.rotated].filter((name) => !names.has(name))),
      lastEviction: now,
    },
  };
}

/** Reports whether a pinned place waits for its pod. */
export function isComing(name: string, { places, partition }: Pinned): boolean {
  return places.some(
    (place) => place.name === name && place.index < partition && place.slot.kind !== 'available',
  );
}

/** Returns the step that takes pods back once the rollout has ended; undefined where none is to go now. */
export function planRepair(
  pass: RolloutPass,
  target: RolledSet,
  places: readonly Place[],
): Step | undefined {
  return planTakenBack(pinnedOf(pass, target, places));
}
