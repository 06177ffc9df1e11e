/**
 * What a ledger of disruption should answer, worked out by going through the whole world for each request, one after the
 * other, from the rules alone. Slow and plain on purpose: the operator's own way of counting is held against it, and shares no
 * line with it. Times are milliseconds.
 */

/** A pod of the world. */
export interface WorldPod {
  readonly uid: string;
  readonly state: 'ready' | 'not-ready' | 'terminating';
  /** When it became ready. */
  readonly readyAt: number;
  /** What its annotation says of that. */
  readonly notedAt: number | undefined;
}

/** A set of the world; it is a zone. Ordinals begin at 0. */
export interface WorldSet {
  readonly name: string;
  /** `spec.replicas`. */
  readonly wanted: number;
  /** `status.replicas`. */
  readonly counted: number;
  readonly minReady: number;
  readonly pods: ReadonlyMap<number, WorldPod>;
  readonly arePodsReadable: boolean;
}

/** All that there is. */
export interface World {
  readonly now: number;
  readonly sets: readonly WorldSet[];
}

/** A budget, in the words of the specification. */
export interface ModelBudget {
  readonly limit: number | `${number}%`;
  readonly isPartitioned: boolean;
  readonly delay: number;
}

/** A request of the model. */
export interface ModelRequest {
  readonly set: string;
  readonly ordinal: number;
  readonly uid: string;
  readonly by: 'rollout' | 'eviction' | 'scale-down';
  readonly term: string;
  readonly override: number | undefined;
  readonly isDryRun: boolean;
}

interface ModelClaim {
  readonly by: ModelRequest['by'];
  readonly term: string;
  at: number;
}

interface ModelReservation {
  readonly uid: string;
  readonly set: string;
  readonly ordinal: number;
  claims: ModelClaim[];
}

/** One slot that counts as disturbed: `unknown` where no pod is seen. */
type Disturbance = 'not ready' | 'unknown';

/** The ledger, answering one request after the other. */
export class SequentialModel {
  readonly #budget: ModelBudget;
  #reservations: ModelReservation[] = [];

  constructor(budget: ModelBudget) {
    this.#budget = budget;
  }

  /** Returns who holds what, in the order in which it was given: `<uid> <asker>+<asker>`. */
  held(): readonly string[] {
    return this.#reservations.map(({ uid, claims }) => {
      const askers = claims.map(({ by }) => by).toSorted();
      return `${uid} ${askers.join('+')}`;
    });
  }

  /**
   * Ends what there is evidence for. `over`: the term that leads, where everything before it is over; `dropped`: uids of
   * pods that the term `leading` does not want away any more, and sent nothing for.
   */
  release(
    world: World,
    {
      over,
      leading,
      dropped,
    }: {
      readonly over: string | undefined;
      readonly leading: string;
      readonly dropped: ReadonlySet<string>;
    },
  ): void {
    const ended = (uid: string, term: string): boolean =>
      term === leading ? dropped.has(uid) : over !== undefined;
    if (world.sets.some(({ arePodsReadable }) => !arePodsReadable)) return;
    for (const reservation of this.#reservations) {
      const set = world.sets.find(({ name }) => name === reservation.set);
      if (set === undefined || isDone(reservation, set, world)) reservation.claims = [];
      reservation.claims = reservation.claims.filter(
        (claim) => set === undefined || !isOver({ reservation, claim, ended }, set, world),
      );
    }
    this.#reservations = this.#reservations.filter(({ claims }) => claims.length > 0);
  }

  /** Returns `allowed`, or the text of the specification. */
  ask(request: ModelRequest, world: World): string {
    const denial = this.#denial(request, world);
    if (denial !== undefined) return denial;
    const held = this.#reservations.find(({ uid }) => uid === request.uid);
    if (held !== undefined) {
      if (!request.isDryRun) this.#repeat(held, request, world.now);
    } else if (!request.isDryRun) {
      const { uid, set, ordinal, by, term } = request;
      this.#reservations.push({ uid, set, ordinal, claims: [{ by, term, at: world.now }] });
    }
    return 'allowed';
  }

  #repeat(held: ModelReservation, { by, term }: ModelRequest, now: number): void {
    const old = held.claims.find((claim) => claim.by === by);
    const isFresh = by === 'eviction' ? now - (old?.at ?? 0) < 30_000 : old?.term === term;
    if (old !== undefined && isFresh) return;
    held.claims = held.claims.filter((claim) => claim !== old);
    held.claims.push({ by, term, at: now });
  }

  #denial(request: ModelRequest, world: World): string | undefined {
    const own = world.sets.find(({ name }) => name === request.set);
    const limit = this.#limit(own) || (request.override ?? 0);
    if (limit === 0) return 'max unavailable = 0';
    if (world.sets.length < 2) return 'minimum number of StatefulSets not found';
    if (own === undefined) return 'the StatefulSet that owns the pod is not selected';
    if (world.sets.some(({ arePodsReadable }) => !arePodsReadable)) {
      return 'unable to determine pod status in related StatefulSet';
    }
    if (own.pods.get(request.ordinal)?.uid !== request.uid) {
      return 'the pod is not among those that are seen';
    }
    return this.#budget.isPartitioned
      ? this.#partitionDenial(request, world, limit)
      : this.#zoneDenial(request, world, limit);
  }

  #limit(own: WorldSet | undefined): number {
    const { limit } = this.#budget;
    if (typeof limit === 'number') return limit;
    // A share of a set that is not there: the set is what is to be known.
    if (own === undefined) return 1;
    const replicas = Math.min(own.wanted, own.counted);
    const percent = Number(limit.slice(0, -1));
    if (percent === 0 || replicas === 0) return 0;
    let pods = 0;
    while ((pods + 1) * 100 <= percent * replicas) pods += 1;
    return Math.max(1, pods);
  }

  #zoneDenial(request: ModelRequest, world: World, limit: number): string | undefined {
    for (const set of world.sets) {
      const all = this.#disturbed(world, set, undefined);
      if (set.name !== request.set && all.length > 0) return text(all, set.name);
    }
    const own = world.sets.find(({ name }) => name === request.set);
    if (own === undefined || request.by === 'scale-down') return undefined;
    const others = this.#disturbed(world, own, request.ordinal);
    return others.length >= limit ? text(others, own.name) : undefined;
  }

  #partitionDenial(request: ModelRequest, world: World, limit: number): string | undefined {
    const found = world.sets
      .filter(({ name }) => name !== request.set)
      .flatMap((set) => this.#replicas(request, set, world));
    return found.length >= limit ? text(found, `partition ${request.ordinal}`) : undefined;
  }

  /** Returns what one other zone has against a request: its own replica, and pods of the zone that is not seen. */
  #replicas({ ordinal, by }: ModelRequest, set: WorldSet, world: World): readonly Disturbance[] {
    const notSeen = notSeenIn(set);
    const found = notSeen.map((): Disturbance => 'unknown');
    const isSlot = ordinal < Math.max(set.wanted, set.counted) && !notSeen.includes(ordinal);
    if (isSlot || set.pods.has(ordinal)) {
      const replica = this.#stateOf(world, set, ordinal);
      if (replica !== undefined) return [...found, replica];
      return hasPassed(world, set.pods.get(ordinal), this.#budget)
        ? found
        : [...found, 'not ready'];
    }
    return found.length > 0 || by === 'scale-down' ? found : ['unknown'];
  }

  /** Returns all that is disturbed in a set, but for one slot. */
  #disturbed(world: World, set: WorldSet, but: number | undefined): readonly Disturbance[] {
    const slots = Math.max(set.wanted, set.counted);
    const ordinals = new Set([...Array(slots).keys(), ...set.pods.keys()]);
    return [...ordinals]
      .filter((ordinal) => ordinal !== but)
      .flatMap((ordinal) => this.#stateOf(world, set, ordinal) ?? []);
  }

  #stateOf(world: World, set: WorldSet, ordinal: number): Disturbance | undefined {
    if (!set.pods.has(ordinal)) return 'unknown';
    if (!isAvailable(world, set, ordinal)) return 'not ready';
    const isHeld = this.#reservations.some(
      (each) => each.set === set.name && each.ordinal === ordinal,
    );
    return isHeld ? 'not ready' : undefined;
  }
}

/** Reports whether the slot is gone, or another pod serves in it, which a scale-down may take in its place. */
function isDone({ uid, ordinal, claims }: ModelReservation, set: WorldSet, world: World): boolean {
  const pod = set.pods.get(ordinal);
  if (pod === undefined) return ordinal >= Math.max(set.wanted, set.counted);
  if (claims.some(({ by }) => by === 'scale-down')) return false;
  return pod.uid !== uid && isAvailable(world, set, ordinal);
}

/** Reports whether a claim on a pod that is still there has come to nothing, or another one serves there. */
function isOver(
  {
    reservation: { uid, ordinal },
    claim,
    ended,
  }: {
    readonly reservation: ModelReservation;
    readonly claim: ModelClaim;
    readonly ended: (uid: string, term: string) => boolean;
  },
  set: WorldSet,
  world: World,
): boolean {
  const pod = set.pods.get(ordinal);
  if (pod?.uid !== uid) {
    if (!isAvailable(world, set, ordinal)) return false;
    return claim.by !== 'scale-down' || ended(uid, claim.term);
  }
  if (claim.by === 'eviction') {
    return isAvailable(world, set, ordinal) && world.now - claim.at >= 120_000;
  }
  const isGoing = pod.state === 'terminating' || ordinal >= set.wanted;
  return !isGoing && ended(uid, claim.term);
}

/** Reports whether there is a pod at `ordinal` that serves, and is not about to go. */
export function isAvailable(world: World, set: WorldSet, ordinal: number): boolean {
  const pod = set.pods.get(ordinal);
  if (pod?.state !== 'ready' || ordinal >= set.wanted) return false;
  return set.minReady === 0 || world.now - pod.readyAt >= set.minReady;
}

/** Returns the ordinals beyond what the spec wants where the status counts a pod that is not seen, here or farther beyond. */
function notSeenIn({ wanted, counted, pods }: WorldSet): readonly number[] {
  const empty = [...Array(counted).keys()].filter(
    (ordinal) => ordinal >= wanted && !pods.has(ordinal),
  );
  const beyond = [...pods.keys()].filter((ordinal) => ordinal >= Math.max(wanted, counted));
  return empty.slice(beyond.length);
}

function hasPassed(world: World, pod: WorldPod | undefined, { delay }: ModelBudget): boolean {
  if (delay === 0 || pod === undefined) return true;
  const since = Math.max(pod.readyAt, pod.notedAt ?? pod.readyAt);
  return world.now - Math.min(since, world.now) > delay;
}

function text(found: readonly Disturbance[], where: string): string {
  const parts: string[] = [];
  for (const what of ['not ready', 'unknown'] as const) {
    const pods = found.filter((each) => each === what).length;
    if (pods === 1) parts.push(`1 pod ${what}`);
    if (pods > 1) parts.push(`${pods} pods ${what}`);
  }
  return `${parts.join(', ')} in ${where}`;
}
