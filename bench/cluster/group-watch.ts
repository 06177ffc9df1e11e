import type { JsonObject } from '#base/json.ts';
import type { Commit } from '#cluster/event-log.ts';

/** What was seen of a rollout at the server, between two calls of {@link GroupWatch.begin}. */
export interface Observation {
  /** Most zones of one group that had an unavailable pod at the same time. */
  readonly zonesDown: number;
  /** Most pods that were unavailable at once, by set. */
  readonly podsDown: Readonly<Record<string, number>>;
  /** Times from a pod's Ready to the delete that it made possible, in ms. */
  readonly sameZone: readonly number[];
  /** Times from the last Ready of a zone to the first delete of the next, in ms. */
  readonly nextZone: readonly number[];
  readonly deletes: number;
}

/** What a watch takes of a commit. */
export type WatchedCommit = Pick<Commit, 'resource' | 'name' | 'before' | 'after'> &
  Partial<Pick<Commit, 'user'>>;

interface SetState {
  readonly group: string;
  readonly replicas: number;
  readonly available: Set<string>;
  mostDown: number;
}

interface GroupState {
  readonly sets: SetState[];
  /** When pods became Ready whose slots no delete has used yet; oldest first. */
  readonly freed: number[];
  /** The set that lost a pod last. */
  rolling: SetState | undefined;
  mostZones: number;
}

interface PodShape {
  readonly metadata: {
    readonly deletionTimestamp?: string;
    readonly ownerReferences?: readonly { readonly name: string }[];
  };
  readonly spec?: { readonly containers: readonly { readonly image: string }[] };
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

/**
 * Counts, at each commit, the pods and zones that are down, and takes the times between a pod's Ready and the
 * delete that follows from it. A pod counts as up while it is Ready and not terminating; what is missing is down.
 */
export class GroupWatch {
  readonly #sets = new Map<string, SetState>();
  readonly #groups = new Map<string, GroupState>();
  readonly #monotonic: () => number;
  readonly #user: string | undefined;
  readonly #sameZone: number[] = [];
  readonly #nextZone: number[] = [];
  /** Pods that the rollout has still to bring up on its image. */
  readonly #waiting = new Set<string>();
  #image = '';
  #deletes = 0;
  #missing = 0;

  /**
   * @param user whose deletions are the rollout's; without it all are, as where commits come without their authors and
   * nothing else deletes pods
   */
  constructor(monotonic: () => number, user?: string) {
    this.#monotonic = monotonic;
    this.#user = user;
  }

  /** Pods that are not up, over all sets. */
  get missing(): number {
    return this.#missing;
  }

  /** Pods that the rollout has still to bring up on its image. */
  get unrolled(): number {
    return this.#waiting.size;
  }

  /** Expects `replicas` pods of set `name`. */
  add({ name, group }: { readonly name: string; readonly group: string }, replicas: number): void {
    const set = { group, replicas, available: new Set<string>(), mostDown: 0 };
    this.#sets.set(name, set);
    const known = this.#groups.get(group);
    if (known !== undefined) known.sets.push(set);
    else this.#groups.set(group, { sets: [set], freed: [], rolling: undefined, mostZones: 0 });
    this.#missing += replicas;
  }

  /** Forgets what was counted: a rollout of `sets` to `image` begins. */
  begin(image: string, sets: readonly string[]): void {
    this.#image = image;
    this.#waiting.clear();
    for (const name of sets) {
      for (const pod of this.#sets.get(name)?.available ?? []) this.#waiting.add(pod);
    }
    for (const set of this.#sets.values()) set.mostDown = 0;
    for (const group of this.#groups.values()) {
      Object.assign(group, { mostZones: 0, rolling: undefined });
      group.freed.length = 0;
    }
    this.#sameZone.length = 0;
    this.#nextZone.length = 0;
    this.#deletes = 0;
  }

  /** What was counted since {@link begin}; of sets that had all their pods up nothing is reported. */
  observation(): Observation {
    const down = [...this.#sets].filter(([, set]) => set.mostDown > 0);
    return {
      zonesDown: Math.max(0, ...[...this.#groups.values()].map(({ mostZones }) => mostZones)),
      podsDown: Object.fromEntries(down.map(([name, set]) => [name, set.mostDown])),
      sameZone: [...this.#sameZone],
      nextZone: [...this.#nextZone],
      deletes: this.#deletes,
    };
  }

  /** Takes one commit of a pod; others are ignored. */
  committed(commit: WatchedCommit): void {
    if (commit.resource !== 'pods') return;
    const owner = ownerOf(commit.after ?? commit.before);
    const set = owner === undefined ? undefined : this.#sets.get(owner);
    const group = set === undefined ? undefined : this.#groups.get(set.group);
    if (set === undefined || group === undefined) return;
    if (this.#isOurs(commit)) this.#removed(commit, set, group);
    if (isUp(commit.after)) {
      if (imageOf(commit.after) === this.#image) this.#waiting.delete(commit.name);
      this.#up(commit.name, set, group);
    } else this.#down(commit.name, set, group);
  }

  #isOurs({ user }: WatchedCommit): boolean {
    return this.#user === undefined || user === this.#user;
  }

  #up(pod: string, set: SetState, group: GroupState): void {
    if (set.available.has(pod)) return;
    set.available.add(pod);
    this.#missing -= 1;
    if (group.rolling !== undefined) group.freed.push(this.#monotonic());
  }

  #down(pod: string, set: SetState, group: GroupState): void {
    if (set.available.delete(pod)) this.#missing += 1;
    set.mostDown = Math.max(set.mostDown, set.replicas - set.available.size);
    const zones = group.sets.filter(({ available, replicas }) => available.size < replicas).length;
    group.mostZones = Math.max(group.mostZones, zones);
  }

  #removed(commit: WatchedCommit, set: SetState, group: GroupState): void {
    const isBeginning =
      !isTerminating(commit.before) && (isTerminating(commit.after) || !commit.after);
    if (!isBeginning) return;
    this.#deletes += 1;
    const now = this.#monotonic();
    if (group.rolling === set) {
      const freed = group.freed.shift();
      if (freed !== undefined) this.#sameZone.push(now - freed);
      return;
    }
    const last = group.freed.at(-1);
    if (last !== undefined && group.rolling !== undefined) this.#nextZone.push(now - last);
    group.freed.length = 0;
    group.rolling = set;
  }
}

function ownerOf(pod: JsonObject | undefined): string | undefined {
  return shapeOf(pod)?.metadata.ownerReferences?.[0]?.name;
}

function isTerminating(pod: JsonObject | undefined): boolean {
  return shapeOf(pod)?.metadata.deletionTimestamp !== undefined;
}

/** Whether a stored pod is Ready and not terminating. */
export function isUp(pod: JsonObject | undefined): boolean {
  const conditions = shapeOf(pod)?.status?.conditions ?? [];
  return (
    !isTerminating(pod) &&
    conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
  );
}

function imageOf(pod: JsonObject | undefined): string | undefined {
  return shapeOf(pod)?.spec?.containers[0]?.image;
}

function shapeOf(pod: JsonObject | undefined): PodShape | undefined {
  return pod as unknown as PodShape | undefined;
}
