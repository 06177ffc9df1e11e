import type { Instant } from '#base/units.ts';
import { type Slot, slotsOf } from '#statefulset/slot.ts';
import { stuckness } from '#statefulset/stuck.ts';
import type { PodView } from '#statefulset/view.ts';
import type { RolloutProgress } from '../progress.ts';
import type { RolledSet, RolloutSnapshot } from '../snapshot.ts';
import { isDiscovered } from './plan-discovery.ts';
import { targetReplicas } from './plan-percent.ts';

/** One place of the set, and how far the rollout has come with it. */
export interface Place {
  /** Name of the pod that is there, or will be. */
  readonly name: string;
  readonly slot: Slot;
  /** From 0, whatever the ordinals begin with: what a partition counts. */
  readonly index: number;
  /** Undefined where no pod is. */
  readonly pod: PodView | undefined;
  /** Whether the rollout is to reach it at the wanted percentage. */
  readonly isTarget: boolean;
  /** Whether a pod is there that runs another revision than the one that is rolled out. */
  readonly isStale: boolean;
  /** Whether it was let go, or made, on the present version by this rollout. */
  readonly isRotated: boolean;
  /** Whether its pod runs the new version although the rollout has not reached it. */
  readonly isLeaked: boolean;
  /** Whether its pod runs the new revision, is available, and service discovery agrees. */
  readonly isHealthy: boolean;
  /** Whether no client can be served there now. */
  readonly isUnavailable: boolean;
  /** Why its pod cannot become ready by itself; undefined where it may. */
  readonly stuckBy: string | undefined;
}

/** What {@link rolloutPlaces} reads. */
type PlacesSnapshot = Pick<
  RolloutSnapshot,
  'resource' | 'discovery' | 'leaving' | 'watched' | 'stuckAfter'
>;

/** Returns the places as they are once `progress` is stored, the highest ordinal first; none where nothing is known of them. */
export function placesAfter(
  snapshot: RolloutSnapshot,
  progress: RolloutProgress,
  now: Instant,
): readonly Place[] {
  const { resource, target } = snapshot;
  if (target === undefined || resource.spec.kind === 'invalid') return [];
  const seen = { ...snapshot, resource: { ...resource, progress } };
  return rolloutPlaces(target, seen, { percent: resource.spec.value.percent, now });
}

/** Returns the places of a set, by ordinal, the highest first: the order in which they are rotated. */
export function rolloutPlaces(
  target: RolledSet,
  snapshot: PlacesSnapshot,
  { percent, now }: { readonly percent: number; readonly now: Instant },
): readonly Place[] {
  const { set, pods } = target;
  const { leaving, watched } = snapshot;
  const slots = slotsOf({ set, pods, leaving, watched }, now).filter(
    ({ ordinal }) => ordinal < set.spec.ordinalsStart + set.spec.replicas,
  );
  const oldest = slots.length - targetReplicas(slots.length, percent);
  return slots
    .map((slot, index) =>
      placeOf({ slot, index, isTarget: index >= oldest, now }, target, snapshot),
    )
    .toReversed();
}

function placeOf(
  {
    slot,
    index,
    isTarget,
    now,
  }: Pick<Place, 'slot' | 'index' | 'isTarget'> & {
    readonly now: Instant;
  },
  { set }: RolledSet,
  { resource, discovery, watched, stuckAfter }: PlacesSnapshot,
): Place {
  const pod = slot.kind === 'missing' ? undefined : slot.pod;
  const name = pod?.name ?? `${set.name}-${slot.ordinal}`;
  const isStale = pod !== undefined && pod.revision !== set.status.updateRevision;
  const isRotated = resource.progress.rotated.has(name);
  const isPassed = isDiscovered(discovery, pod);
  const isAvailable = slot.kind === 'available';
  const found =
    slot.kind === 'not-ready' ? stuckness(slot.pod, { now, watched, stuckAfter }) : undefined;
  return {
    name,
    slot,
    index,
    pod,
    isTarget,
    isStale,
    isRotated,
    isLeaked: isAhead({ pod, isTarget, isStale, isRotated }, resource.progress),
    isHealthy: isAvailable && !isStale && isPassed,
    // Of a pod that was not rotated discovery is not asked: it may never have known it.
    isUnavailable: !isAvailable || (isRotated && !isPassed),
    stuckBy: causeOf(found),
  };
}

function causeOf(found: ReturnType<typeof stuckness> | undefined): string | undefined {
  if (found === undefined || found.kind === 'not-stuck') return undefined;
  return found.kind === 'stuck-by-cause' ? found.cause : 'not ready for too long';
}

/** Reports whether its pod runs the new version although the rollout has not reached it. */
export function isLeaked(place: Place): boolean {
  return place.isLeaked;
}

/**
 * Reports whether a pod is ahead of its set: a set that has not been seen with the version yet gives it to no pod, and a rollout
 * that has ended well has reached all that it was to reach, also pods that another client adds by scaling the set.
 */
function isAhead(
  { pod, isTarget, isStale, isRotated }: Pick<Place, 'pod' | 'isTarget' | 'isStale' | 'isRotated'>,
  { isWritten, outcome }: RolloutProgress,
): boolean {
  const isReached = isRotated || (isTarget && outcome?.result === 'Done');
  return isWritten && pod !== undefined && !isStale && !isReached;
}

/** Reports whether a pod may be let go: it runs another revision, and has not gone yet. */
export function isCandidate({ isStale, slot }: Place): boolean {
  return isStale && slot.kind !== 'terminating' && slot.kind !== 'missing';
}

/**
 * Returns the pods that the rollout still has to let go, in the order in which they go: those first that cannot become
 * ready by themselves and cost nothing, then the others; in both the highest ordinal first.
 */
export function candidatesOf(places: readonly Place[]): readonly Place[] {
  const left = places.filter((place) => place.isTarget && isCandidate(place));
  return [
    ...left.filter(({ stuckBy }) => stuckBy !== undefined),
    ...left.filter(({ stuckBy }) => stuckBy === undefined),
  ];
}

/** How many are named. */
const mostNamed = 5;

/** Returns the names of the first places, and how many more there are. */
export function namesOf(places: readonly Place[]): string {
  const named = places.slice(0, mostNamed).map(({ name }) => name);
  const more = places.length - named.length;
  return more > 0 ? `${named.join(', ')} and ${more} more` : named.join(', ');
}
