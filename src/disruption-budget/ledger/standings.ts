import type { Clock } from '#base/clock.ts';
import { type Instant, type Millis, type Monotonic, millis, seconds } from '#base/units.ts';
import type { ProvenStanding } from '#control/ledger/ledger-questions.ts';
import type { SetScope, SetSnapshot } from '#control/watch/group-sets.ts';
import type { WatchedPods } from '#control/watch/watched-pods.ts';
import type { Budget } from '#disruption/budget.ts';
import { type Standing, standingOf } from '#disruption/standing.ts';
import type { Cached } from '#kubernetes/informer/informer.ts';
import type { GovernedSets, GovernedView } from './governed-sets.ts';

/** What {@link Standings} are made from. */
export interface StandingPorts {
  readonly clock: Clock;
  readonly sets: Pick<GovernedSets, 'view'>;
  readonly watched: Pick<WatchedPods, 'of'>;
}

interface Kept extends Pick<GovernedView, 'sets' | 'left'> {
  readonly standing: Standing;
  /** When it was made, by both clocks. */
  readonly now: Instant;
  readonly monotonic: Monotonic;
  /** Whether it rests on how long pods have been as they are. */
  readonly isTimed: boolean;
}

/** How long a standing is kept that rests on times: our own clock may end a wait that the wall clock does not (D-55). */
const timedFor = seconds(1);

/** What we take away ourselves has a reservation in the ledger, and needs no second mention. */
const nothingLeaving: ReadonlySet<string> = new Set();

/**
 * How budgets stand at this instant; worked out once for all who ask while nothing has changed, as a flood of evictions asks
 * a thousand times what a look at every pod answers.
 */
export class Standings {
  readonly #ports: StandingPorts;
  /** Goes with the budget, of which there is one object a generation. */
  readonly #kept = new WeakMap<Budget, Kept>();

  constructor(ports: StandingPorts) {
    this.#ports = ports;
  }

  /** Returns how `budget` over the sets of `scope` stands at `now`, the wall-clock time of this instant. */
  of(budget: Budget, scope: SetScope, now: Instant): ProvenStanding {
    const { sets, left, provenAt } = this.#ports.sets.view(scope);
    const monotonic = this.#ports.clock.monotonic();
    const kept = this.#kept.get(budget);
    if (kept !== undefined && holds(kept, now, monotonic) && isSame(kept, { sets, left })) {
      return { standing: kept.standing, provenAt };
    }
    const delay = delayOf(budget);
    const watched = this.#ports.watched.of(sets, delay);
    const standing = standingOf(budget, { sets, left, leaving: nothingLeaving, watched }, now);
    const isTimed = delay > 0 || sets.some(({ set }) => set.spec.minReady > 0);
    this.#kept.set(budget, { sets, left, standing, now, monotonic, isTimed });
    return { standing, provenAt };
  }
}

/** Reports whether time alone has not ended it; a wall clock that was set back ends it, too. */
function holds(
  { standing: { changesAt }, isTimed, ...made }: Kept,
  now: Instant,
  monotonic: Monotonic,
): boolean {
  if (changesAt !== undefined && now >= changesAt) return false;
  return !isTimed || (now >= made.now && monotonic - made.monotonic < timedFor);
}

/** Returns how long pods of other zones must have been ready under `budget`. */
function delayOf({ mode }: Budget): Millis {
  return mode.kind === 'partitions' ? mode.crossZoneDelay : millis(0);
}

type Shown = Pick<GovernedView, 'sets' | 'left'>;

/** Reports whether both show the same states of the same objects. */
function isSame(one: Shown, other: Shown): boolean {
  const areLeftSame = areSame(
    one.left.map(({ pod }) => pod),
    other.left.map(({ pod }) => pod),
  );
  return areLeftSame && areSameSets(one.sets, other.sets);
}

function areSameSets(one: readonly SetSnapshot[], other: readonly SetSnapshot[]): boolean {
  if (one === other) return true;
  if (one.length !== other.length) return false;
  return one.every(({ set, pods }, index) => {
    const { set: otherSet, pods: otherPods = [] } = other[index] ?? {};
    return isSameState(set, otherSet) && areSame(pods, otherPods);
  });
}

/** While a read stands in for a cache, lists are recreated, and objects may be; states are not. */
function areSame(one: SetSnapshot['pods'], other: SetSnapshot['pods']): boolean {
  if (one === other) return true;
  return one.length === other.length && one.every((pod, index) => isSameState(pod, other[index]));
}

function isSameState(one: Cached, other: Cached | undefined): boolean {
  if (one === other) return true;
  return one.uid === other?.uid && one.resourceVersion === other.resourceVersion;
}
