import type { RolledSet } from '../snapshot.ts';
import { because, type RolloutPass, type Step } from './plan-outcome.ts';
import { type Pinned, pinnedOf, settingPartition } from './plan-pinned-set.ts';
import { isCandidate, namesOf, type Place } from './plan-places.ts';
import { isComing, planRaised, planTakenBack } from './plan-repair.ts';
import {
  evicting,
  intervalOf,
  nextOf,
  noRoom,
  obstacleOf,
  obstacleOfReleased,
  phaseWhile,
  planBroken,
  podsOf,
  rotationOf,
  slotsBeside,
  slotsFor,
  waitBeside,
} from './plan-rotation.ts';
import { withAdvice } from './plan-unready.ts';

/**
 * Returns the next step with a set that pins pods: those that are let go first, then more of them, never more than may be away;
 * undefined where none is left to go, or to be taken back.
 */
export function planPinned(
  pass: RolloutPass,
  target: RolledSet,
  places: readonly Place[],
): Step | undefined {
  const pinned = pinnedOf(pass, target, places);
  return (
    planRestored(pass, target) ??
    planRaised(pinned) ??
    planBrokenOf(pinned) ??
    planReleased(pinned) ??
    planLowered(pinned) ??
    planTakenBack(pinned)
  );
}

/** Returns the step that undoes what a user did to the partition, or that was decided and has not come to be. */
export function planRestored(
  { progress }: Pick<RolloutPass, 'progress'>,
  { set }: RolledSet,
): Step | undefined {
  const { partition: wanted = 0 } = progress;
  const { partition, hasMaxUnavailable } = set.spec;
  if (partition >= wanted && !hasMaxUnavailable) return undefined;
  const to = Math.max(partition, wanted);
  const message = `${set.name} from ${partition} to ${to}, where the rollout left it, and one pod at a time`;
  return {
    phase: 'RollingOut',
    because: because('PartitionRaised', message),
    ...settingPartition(set, to),
  };
}

/** Plans for broken pods, only those whose successors run what is rolled out. */
function planBrokenOf({
  pass,
  target,
  places,
  partition,
  hasOneRevision,
}: Pinned): Step | undefined {
  const free = places.filter(({ index }) => hasOneRevision || index >= partition);
  return planBroken(rotationOf(pass, target, { places: free, candidates: [] }));
}

/** Awaits pods that the partition lets go, and that are there yet: the controller may take them at any time, one by one. */
function planReleased({ pass, target, places, partition }: Pinned): Step | undefined {
  const candidates = places.filter((place) => place.index >= partition && isCandidate(place));
  if (candidates.length === 0) return undefined;
  const rotation = rotationOf(pass, target, { places, candidates });
  const obstacle = obstacleOfReleased(pass);
  if (obstacle !== undefined) {
    return { phase: phaseWhile(places), ...withAdvice(obstacle, rotation) };
  }
  const going = nextOf(rotation);
  if (going.length > 0) return evicting(rotation, going);
  return { phase: phaseWhile(places), ...withAdvice(noRoom(rotation), rotation) };
}

/** Lets as many more go as may be away now; none was let go before that is there yet. */
function planLowered(pinned: Pinned): Step | undefined {
  const { pass, target, places, partition, bottom, hasOneRevision } = pinned;
  if (partition <= bottom) return undefined;
  if (hasOneRevision && !places.some(isCandidate)) return undefined;
  const held = places.filter((place) => place.index < partition && place.isTarget);
  const candidates = held.filter((place) => costOf(place) !== 'nothing');
  const rotation = rotationOf(pass, target, { places, candidates });
  const obstacle = candidates.length > 0 ? obstacleOfLowering(pass) : pass.snapshot.holds[0];
  if (obstacle !== undefined) return { phase: phaseWhile(places), ...obstacle };
  const most = areOneByOne(pass) ? 1 : places.length;
  const { slots, slotsOfStuck } = slotsFor(rotation);
  const beside = slotsBeside(rotation);
  const passed = walkDown(held, { slots: Math.min(slots, beside), slotsOfStuck, most });
  if (passed.length === 0) {
    const isBeside = slots > 0 && beside === 0;
    return { phase: phaseWhile(places), ...(isBeside ? waitBeside(rotation) : noRoom(rotation)) };
  }
  return lowering(pinned, passed);
}

/** Returns why a partition may let no pod go now: beside what forbids evictions, a budget that no webhook is asked for. */
function obstacleOfLowering(pass: RolloutPass): ReturnType<typeof obstacleOf> {
  return obstacleOf(pass) ?? pass.snapshot.governance.hold;
}

function areOneByOne(pass: RolloutPass): boolean {
  return intervalOf(pass) > 0 || pass.snapshot.governance.isGoverned;
}

/** Returns what it costs to let the pod at a place go. */
function costOf({ slot, isStale, stuckBy }: Place): 'nothing' | 'none-there' | 'stuck' | 'a-slot' {
  if (slot.kind === 'missing') return 'none-there';
  if (!isStale) return 'nothing';
  if (slot.kind === 'terminating') return 'none-there';
  return stuckBy === undefined ? 'a-slot' : 'stuck';
}

/** How many pods may go. */
interface Allowance {
  readonly slots: number;
  readonly slotsOfStuck: number;
  /** Of all kinds. */
  readonly most: number;
}

/** Returns the first places of `held` that the partition may pass: none is left out, as it lets all go that are above it. */
function walkDown(held: readonly Place[], allowance: Allowance): readonly Place[] {
  const spent = { nothing: 0, 'none-there': 0, stuck: 0, 'a-slot': 0 };
  const end = held.findIndex((place) => {
    const cost = costOf(place);
    spent[cost] += 1;
    const all = spent['none-there'] + spent.stuck + spent['a-slot'];
    const isWithin = spent['a-slot'] <= allowance.slots && spent.stuck <= allowance.slotsOfStuck;
    return cost !== 'nothing' && !(isWithin && all <= allowance.most);
  });
  const passed = end === -1 ? held : held.slice(0, end);
  // No further than its batch: what is new below that is passed with the next one.
  const last = passed.findLastIndex((place) => costOf(place) !== 'nothing');
  return last === -1 ? passed : passed.slice(0, last + 1);
}

function lowering({ pass, target, partition }: Pinned, passed: readonly Place[]): Step {
  const { set } = target;
  const { progress, now } = pass;
  const to = passed.at(-1)?.index ?? partition;
  const batch = passed.filter((place) => costOf(place) !== 'nothing');
  const setting = settingPartition(set, to);
  const said = batch.length === 0 ? 'all above it are new' : `${namesOf(batch)} may go`;
  return {
    phase: 'RollingOut',
    because: because('PartitionLowered', `${set.name} from ${partition} to ${to}: ${said}`),
    action: setting.action,
    changes: {
      ...setting.changes,
      ...(batch.length > 0 && {
        rotated: new Set([...progress.rotated, ...batch.map(({ name }) => name)]),
        batch: podsOf(batch).map(({ name, uid }) => ({ name, uid })),
        lastEviction: now,
      }),
    },
  };
}

/**
 * Returns what is left to do with a set that pins pods, once all pods of the target are new and healthy: the partition rests
 * closed where all are. Undefined where nothing is.
 */
export function planPinnedEnd(
  pass: RolloutPass,
  target: RolledSet,
  places: readonly Place[],
): Step | undefined {
  const pinned = pinnedOf(pass, target, places);
  const { set } = target;
  const coming = pass.progress.batch.filter(({ name }) => isComing(name, pinned));
  if (pass.spec.isLeakRepaired && coming.length > 0) {
    const message = `waiting for ${coming.map(({ name }) => name).join(', ')} to be ready, back on ${set.status.currentRevision}`;
    return { phase: 'WaitingForReady', because: because('AwaitingPods', message) };
  }
  if (!pinned.hasOneRevision && pinned.bottom === 0 && pinned.partition === 0) {
    const message = `the StatefulSet controller has not made ${set.status.updateRevision} the current revision of ${set.name} yet`;
    return { phase: 'WaitingForReady', because: because('AwaitingCurrentRevision', message) };
  }
  return planClosed(pass, target, places);
}

/** Returns the step that pins all pods, where all run the one revision that there is; undefined where it is done, or they do not. */
export function planClosed(
  pass: RolloutPass,
  target: RolledSet,
  places: readonly Place[],
): Step | undefined {
  const { set } = target;
  const { hasOneRevision } = pinnedOf(pass, target, places);
  if (!hasOneRevision || set.spec.partition >= places.length) return undefined;
  if (places.some(({ pod, isStale }) => pod === undefined || isStale)) return undefined;
  const message = `${set.name} from ${set.spec.partition} to ${places.length}: all are new, and nothing moves until more is wanted`;
  return {
    phase: 'WaitingForReady',
    because: because('PartitionRaised', message),
    ...settingPartition(set, places.length),
  };
}
