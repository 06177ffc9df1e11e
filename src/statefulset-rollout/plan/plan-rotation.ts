import { podsText } from '#base/text/pods-text.ts';
import { formatUtcSeconds } from '#base/time/utc-seconds.ts';
import { after, type Instant, type Millis, seconds } from '#base/units.ts';
import { podRef, setRef } from '#control/decision/refs.ts';
import type { PodView } from '#statefulset/view.ts';
import type { RolledSet } from '../snapshot.ts';
import { type Parallelism, parallelismOf, roomOf } from './plan-budget.ts';
import type { RolloutAction } from './plan-decision.ts';
import { discoveryHold } from './plan-discovery.ts';
import { because, leftOf, type RolloutPass, type Step } from './plan-outcome.ts';
import { candidatesOf, isCandidate, namesOf, type Place } from './plan-places.ts';
import { withAdvice } from './plan-unready.ts';

/** How often it is looked whether others are done. */
const lookedAfter = seconds(5);

/** Why no pod goes now. */
type Obstacle = Pick<Step, 'because' | 'until'>;

/** Who could go, and how many of them may. */
export interface Rotation {
  readonly pass: RolloutPass;
  readonly target: RolledSet;
  readonly places: readonly Place[];
  /** In the order in which they go; at least one. */
  readonly candidates: readonly Place[];
  readonly parallelism: Parallelism;
}

/**
 * Returns the next pods to go, or why none does; undefined where none is left to go at the wanted percentage.
 *
 * @param places of the set, the highest ordinal first
 */
export function planRotation(
  pass: RolloutPass,
  target: RolledSet,
  places: readonly Place[],
): Step | undefined {
  const candidates = candidatesOf(places);
  if (candidates.length === 0) return undefined;
  const rotation = rotationOf(pass, target, { places, candidates });
  const broken = planBroken(rotation);
  if (broken !== undefined) return broken;
  const obstacle = obstacleOf(pass);
  if (obstacle !== undefined) {
    return { phase: phaseWhile(places), ...withAdvice(obstacle, rotation) };
  }
  const pods = nextOf(rotation);
  if (pods.length > 0) return evicting(rotation, pods);
  return { phase: phaseWhile(places), ...withAdvice(noRoom(rotation), rotation) };
}

/** Returns which of `candidates` could go, and what limits them. */
export function rotationOf(
  pass: RolloutPass,
  target: RolledSet,
  { places, candidates }: Pick<Rotation, 'places' | 'candidates'>,
): Rotation {
  const { spec, snapshot } = pass;
  const { replicas } = target.set.spec;
  const parallelism = parallelismOf(snapshot.budgets, replicas, spec.parallelWithoutBudget);
  return { pass, target, places, candidates, parallelism };
}

/** Returns what is waited for while old pods are still there: new ones first. */
export function phaseWhile(places: readonly Place[]): Step['phase'] {
  const coming = places.filter(({ isRotated, isHealthy }) => isRotated && !isHealthy);
  if (coming.length === 0) return 'RollingOut';
  return coming.every(isUndiscovered) ? 'WaitingForServiceDiscovery' : 'WaitingForReady';
}

/** Reports whether it is new and available, and only service discovery does not pass it. */
function isUndiscovered({ slot, isStale, isHealthy }: Place): boolean {
  return slot.kind === 'available' && !isStale && !isHealthy;
}

/**
 * Returns the step that deletes the pods of a version that is given up and cannot become ready, all at once: under the usual policy of budgets they
 * could not be evicted, as the application is below its budget by them.
 */
export function planBroken({ pass, target, places }: Rotation): Step | undefined {
  const { progress, spec, snapshot, now } = pass;
  if (!progress.isRollback || spec.unreadyPodsOfRollback === 'Evict') return undefined;
  if (snapshot.holds.length > 0) return undefined;
  const broken = places.filter((each) => isCandidate(each) && each.stuckBy !== undefined);
  if (broken.length === 0) return undefined;
  const pods = podsOf(broken);
  return {
    phase: 'WaitingForReady',
    because: because(
      'BrokenPodDeleted',
      `${podsText(pods.length)} of the version that is taken back cannot become ready: ${namesOf(broken)}`,
    ),
    action: { kind: 'delete-pods', set: setRef(target.set), pods: pods.map(podRef) },
    changes: { ...batchOf(pods, progress.rotated), lastEviction: now },
  };
}

/** Returns why no pod may be let go now; undefined where one may, as far as the budget lets. */
export function obstacleOf(pass: RolloutPass): Obstacle | undefined {
  return refusalOf(pass) ?? waitOf(pass) ?? discoveryTroubleOf(pass);
}

/** Returns why not even a pod may be evicted now that has been let go. */
export function obstacleOfReleased(pass: RolloutPass): Obstacle | undefined {
  return refusalOf(pass) ?? discoveryTroubleOf(pass);
}

function refusalOf({ snapshot, now }: RolloutPass): Obstacle | undefined {
  const [hold] = snapshot.holds;
  if (hold !== undefined) return hold;
  const refused = snapshot.evictions?.refused;
  if (refused !== undefined && refused.until > now) {
    return { because: because(refused.reason, refused.message), until: refused.until };
  }
  return undefined;
}

/** Returns how far pods are to go apart. */
export function intervalOf({ progress, spec }: Pick<RolloutPass, 'progress' | 'spec'>): Millis {
  return progress.isRollback ? spec.rollbackInterval : spec.evictionInterval;
}

function waitOf(pass: RolloutPass): Obstacle | undefined {
  const { progress, now } = pass;
  const interval = intervalOf(pass);
  const left = leftOf(interval, progress.lastEviction, now);
  if (left > 0) {
    const until = after(now, left);
    const message = `the next pod goes ${interval / 1_000} s after the one before, at ${formatUtcSeconds(until)}`;
    return { because: because('AwaitingInterval', message), until };
  }
  return undefined;
}

function discoveryTroubleOf({ snapshot: { discovery } }: RolloutPass): Obstacle | undefined {
  const held = discoveryHold(discovery);
  return held && { because: held };
}

/** Returns those that go now: first what costs nothing, as it cannot become ready by itself; then as many as the budget leaves. */
export function nextOf({ pass, places, candidates, parallelism }: Rotation): readonly Place[] {
  const stuck = candidates.filter(({ stuckBy }) => stuckBy !== undefined);
  const others = candidates.filter(({ stuckBy }) => stuckBy === undefined);
  const { slots, slotsOfStuck } = slotsFor({ places, parallelism });
  const going = [...stuck.slice(0, slotsOfStuck), ...others.slice(0, slots)];
  return intervalOf(pass) > 0 ? going.slice(0, 1) : going;
}

/** Returns how many pods may go now, and how many besides that cannot become ready by themselves. */
export function slotsFor({ places, parallelism }: Pick<Rotation, 'places' | 'parallelism'>): {
  readonly slots: number;
  readonly slotsOfStuck: number;
} {
  const room = roomOf(parallelism, places.filter(({ isUnavailable }) => isUnavailable).length);
  return {
    slots: room.kind === 'room' ? room.slots : 0,
    slotsOfStuck: roomForStuck(places, parallelism),
  };
}

/**
 * Returns how many pods may go in addition to those that controllers take of other sets: the status of the budget does not say of them
 * in time, and nothing asks it for them.
 */
export function slotsBeside({ pass, target, places, parallelism }: Rotation): number {
  if (parallelism.kind !== 'budget') return places.length;
  const { budgets, elsewhere } = pass.snapshot;
  const replicas = target.set.spec.replicas + elsewhere.replicas;
  const all = parallelismOf(budgets, replicas, pass.spec.parallelWithoutBudget);
  const away = places.filter(({ isUnavailable }) => isUnavailable).length;
  const most = all.kind === 'many-budgets' ? 0 : all.most;
  return Math.max(0, most - away - elsewhere.count);
}

/** Returns that those are waited for. */
export function waitBeside({ pass, parallelism, candidates }: Rotation): Obstacle {
  const name = parallelism.kind === 'budget' ? parallelism.name : '';
  const sets = pass.snapshot.elsewhere.sets.join(', ');
  const message = `waiting for pods of ${sets} that are let go under budget ${name}, too; ${podsText(candidates.length)} to go`;
  // Changes of other sets cause a pass here only through the status of the budget.
  return { because: because('AwaitingPods', message), until: after(pass.now, lookedAfter) };
}

/**
 * Returns the room for stuck pods. They take no room from the others, but no more of them than the budget has are recreated
 * at once: their successors may be no better. Where nothing is ready there is nothing to lose.
 */
function roomForStuck(places: readonly Place[], parallelism: Parallelism): number {
  if (parallelism.kind === 'many-budgets') return 0;
  const isAllLost = places.every(
    ({ slot, stuckBy }) =>
      slot.kind !== 'available' && slot.kind !== 'settling' && stuckBy !== undefined,
  );
  if (isAllLost && parallelism.most > 0) return places.length;
  const underWay = places.filter(isUnderWay).length;
  return Math.max(0, parallelism.most - underWay);
}

/** Reports whether it is being recreated. */
function isUnderWay({ slot, isStale }: Place): boolean {
  if (slot.kind === 'missing' || slot.kind === 'terminating') return true;
  return !isStale && slot.kind !== 'available';
}

/** Returns why the budget lets none of them go now. */
export function noRoom(rotation: Rotation): Obstacle {
  const { pass, places, parallelism } = rotation;
  const away = places.filter(({ isUnavailable }) => isUnavailable);
  const room = roomOf(parallelism, away.length);
  if (room.kind === 'many-budgets') {
    const message = `no pod that ${room.names.join(' and ')} select can be evicted, as the API server accepts at most one budget`;
    return { because: because('MultipleBudgets', message) };
  }
  if (room.kind === 'unknown') {
    const message = `the status of budget ${room.budget} describes an older version of it`;
    return { because: because('AwaitingBudgetStatus', message) };
  }
  return { because: awaitingRoom(rotation, away), ...settlesAt(away, pass.now) };
}

function awaitingRoom(
  { parallelism, candidates }: Rotation,
  away: readonly Place[],
): Obstacle['because'] {
  const left = podsText(candidates.length);
  const most = parallelism.kind === 'many-budgets' ? 0 : parallelism.most;
  if (away.length > 0 && away.length >= most) {
    const rest = `${left} to go, ${most} at a time`;
    if (away.every(isUndiscovered)) {
      const message = `waiting for service discovery to pass ${namesOf(away)}; ${rest}`;
      return because('AwaitingServiceDiscovery', message);
    }
    const message = `waiting for ${namesOf(away)} to be ready${troubleOf(away)}; ${rest}`;
    return because('AwaitingPods', message);
  }
  const name = parallelism.kind === 'budget' ? parallelism.name : '';
  return because('PDBBlocked', `0 disruptions allowed by budget ${name}; ${left} to go`);
}

/** Returns when the first of those is available that only have to stay ready; nothing where time brings none on. */
export function settlesAt(places: readonly Place[], now: Instant): Pick<Step, 'until'> {
  let first: Instant | undefined;
  for (const { slot } of places) {
    if (slot.kind !== 'settling' || slot.availableFrom === 'unknown') continue;
    const at = slot.availableFrom < now ? now : slot.availableFrom;
    if (first === undefined || at < first) first = at;
  }
  return first === undefined ? {} : { until: first };
}

/** Returns the step that evicts `going`. */
export function evicting({ pass, target, candidates }: Rotation, going: readonly Place[]): Step {
  const pods = podsOf(going);
  const action: RolloutAction = {
    kind: 'evict',
    set: setRef(target.set),
    pods: pods.map(podRef),
  };
  const isStuck = going.every(({ stuckBy }) => stuckBy !== undefined);
  const left = candidates.length - going.length;
  const rest = left === 0 ? 'the last of them' : `${podsText(left)} to go after that`;
  return {
    phase: 'WaitingForReady',
    because: because(isStuck ? 'StuckPodReplaced' : 'PodsEvicted', `${namesOf(going)}, ${rest}`),
    action,
    changes: { ...batchOf(pods, pass.progress.rotated), lastEviction: pass.now },
  };
}

/** Returns the pods that are there. */
export function podsOf(places: readonly Place[]): readonly PodView[] {
  return places.flatMap(({ pod }) => (pod === undefined ? [] : [pod]));
}

function batchOf(
  pods: readonly PodView[],
  rotated: ReadonlySet<string>,
): Pick<RolloutPass['progress'], 'batch' | 'rotated'> {
  return {
    batch: pods.map(({ name, uid }) => ({ name, uid })),
    rotated: new Set([...rotated, ...pods.map(({ name }) => name)]),
  };
}

/** Returns what keeps the first of the pods that has a trouble, as the end of a clause; empty where none has. */
export function troubleOf(places: readonly Place[]): string {
  const troubled = places.find(({ pod }) => pod?.trouble !== undefined);
  return troubled === undefined ? '' : `; ${troubled.name} has ${troubled.pod?.trouble}`;
}
