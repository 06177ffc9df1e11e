import type { Clock } from '#base/clock.ts';
import type { Millis } from '#base/units.ts';
import type { Conflicts } from '#control/plan/group-moment.ts';
import type { SetSnapshot } from '#control/watch/group-sets.ts';
import type { WatchedPods } from '#control/watch/watched-pods.ts';
import type { ScaleWrites } from '#control/write/scale-writes.ts';
import type { Client } from '#kubernetes/client.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import type { NoteState, PreparationNotes } from './delayed-downscale/preparation-notes.ts';
import type { PodPreparations } from './delayed-downscale/prepare-pods.ts';
import type { References } from './references/references.ts';
import type { WritePaces } from './scale/write-pace.ts';
import { SeenDownscales } from './seen-downscales.ts';
import type { CoordinationSnapshot, Pace, Preparations } from './snapshot.ts';
import { ZoneTrackers } from './zone-tracker.ts';

/** Where what a plan needs besides sets and pods is known. */
export interface CoordinationSources {
  readonly client: Client;
  readonly clock: Clock;
  readonly references: References;
  readonly preparations: PodPreparations;
  readonly notes: PreparationNotes;
  readonly writes: ScaleWrites;
  readonly watched: WatchedPods;
  readonly paces: WritePaces;
  /** How long a pod is not ready without a break before that alone makes it stuck; undefined: never. */
  readonly stuckAfter: Millis | undefined;
  /** Name of the ConfigMap of zone-tracker mode; undefined when it is off (D-23). */
  readonly zoneTracker: string | undefined;
  /** How soon a read that failed is repeated. */
  readonly retry: Millis;
}

/** The sets of a group with their pods, at one instant. */
export interface CoordinatedSets {
  readonly sets: readonly SetSnapshot[];
  /** uids of pods with a deletion that was sent and is not yet seen, or has no answer (D-7). */
  readonly leaving: ReadonlySet<string>;
  /** What else names a set, by its uid: no controller moves it then (D-63). */
  readonly conflicts: Conflicts;
}

/**
 * What is known of the replicas of groups. What has to be asked of servers is asked beforehand; a snapshot is then taken
 * in one synchronous step, as often as a plan is made (D-49).
 */
export class CoordinationObserver {
  readonly #sources: CoordinationSources;
  readonly #zoneTrackers: ZoneTrackers;
  readonly #seen = new SeenDownscales();

  constructor(sources: CoordinationSources) {
    this.#sources = sources;
    this.#zoneTrackers = new ZoneTrackers(sources);
  }

  /** Asks for what snapshots of the group `key` need and is not known any more. A new pass begins with this. */
  async refresh(key: string, sets: readonly SetSnapshot[], signal: AbortSignal): Promise<void> {
    this.#zoneTrackers.begin(key);
    await this.#sources.references.refresh(key, sets, signal);
  }

  /** Reads when zones were last scaled down, which only a plan that shrinks a set asks for (D-23). */
  async readZoneTracker(key: string, signal: AbortSignal): Promise<void> {
    await this.#zoneTrackers.read(key, signal);
  }

  /** Returns all that is known of the group `key` now, as plain data that never changes. */
  snapshotOf(key: string, { sets, leaving, conflicts }: CoordinatedSets): CoordinationSnapshot {
    const { clock, references, preparations, notes, writes, paces, watched, stuckAfter } =
      this.#sources;
    const takenAt = clock.monotonic();
    const zoneTracker = this.#zoneTrackers.of(key);
    return {
      takenAt,
      sets,
      leaving,
      conflicts,
      references: references.statesOf(sets),
      zoneTracker,
      seenDownscales: this.#seen.of({ sets, zoneTracker }, { now: clock.now(), takenAt }),
      preparations: byUid<readonly Preparations[]>(sets, ({ uid }) => preparations.of(uid)),
      notes: byUid<NoteState>(sets, (set) => notes.of(set)),
      paces: byUid<Pace>(sets, ({ uid }) => paces.of(uid, takenAt)),
      unanswered: writes.open(sets.map(({ set }) => set)),
      stuckAfter,
      watched: watched.of(sets),
    };
  }

  /** Forgets the group `key`, which is gone, or of which nothing is coordinated any more. */
  release(key: string): void {
    this.#zoneTrackers.forget(key);
    this.#sources.references.release(key);
  }

  /** Forgets the set `uid`, which is gone. */
  forgetSet(uid: string): void {
    this.#seen.forget(uid);
  }
}

function byUid<T>(
  sets: readonly SetSnapshot[],
  find: (set: StatefulSetView) => T | undefined,
): ReadonlyMap<string, T> {
  const found = new Map<string, T>();
  for (const { set } of sets) {
    const each = find(set);
    if (each !== undefined) found.set(set.uid, each);
  }
  return found;
}
