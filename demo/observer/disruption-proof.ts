import type { ZoneView } from './zone-view.ts';

/** What was seen of one zone. */
export interface ZoneRecord {
  readonly zone: string;
  readonly limit: number;
  /** The most pods that were unavailable at the same commit. */
  readonly mostUnavailable: number;
}

/**
 * What the demo promises, counted at every commit from the moment when all zones were complete: how many pods of a zone
 * were unavailable at once, and how many zones had such pods at once.
 */
export class DisruptionProof {
  #hasBegun = false;
  #isSuspended = false;
  #mostZones = 0;
  #deletions = 0;
  readonly #zones = new Map<string, ZoneRecord>();
  /** Names of pods that were created with an image, by image and by name of the set. */
  readonly #reached = new Map<string, Map<string, Set<string>>>();

  /** Reports whether all zones have been complete. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Returns the most zones that had an unavailable pod at the same commit. */
  get mostZonesDown(): number {
    return this.#mostZones;
  }

  /** Returns how many pods the operator deleted. */
  get deletions(): number {
    return this.#deletions;
  }

  /** Returns the records of zones by name of the set. */
  get zones(): readonly ZoneRecord[] {
    return [...this.#zones.values()];
  }

  /** Counts the state after a commit. @param isComplete whether no pod of any zone is unavailable */
  observe(zones: readonly ZoneView[], isComplete: boolean): void {
    if (isComplete) this.#hasBegun = true;
    if (!this.#hasBegun || this.#isSuspended) return;
    const down = zones.filter(({ unavailable }) => unavailable > 0).length;
    this.#mostZones = Math.max(this.#mostZones, down);
    for (const { set, zone, limit, unavailable } of zones) {
      const before = this.#zones.get(set);
      if (before !== undefined && before.mostUnavailable >= unavailable && before.limit === limit) {
        continue;
      }
      const mostUnavailable = Math.max(unavailable, before?.mostUnavailable ?? 0);
      this.#zones.set(set, { zone, limit, mostUnavailable });
    }
  }

  /** Counts a pod that the operator deleted. */
  deleted(): void {
    this.#deletions += 1;
  }

  /** Suspends the proof: what is unavailable from now on is not counted. */
  suspend(): void {
    this.#isSuspended = true;
  }

  /** Counts again what is unavailable. */
  resume(): void {
    this.#isSuspended = false;
  }

  /** Counts a pod that was created with `image`. */
  created(pod: string, image: string): void {
    const set = pod.slice(0, pod.lastIndexOf('-'));
    const sets = this.#reached.get(image) ?? new Map<string, Set<string>>();
    const pods = sets.get(set) ?? new Set<string>();
    this.#reached.set(image, sets.set(set, pods.add(pod)));
  }

  /** Returns how many pods `image` reached, one number for each zone that it reached. */
  reach(image: string): readonly number[] {
    return [...(this.#reached.get(image)?.values() ?? [])].map(({ size }) => size);
  }

  /** Starts again, for a further rollout. */
  reset(): void {
    this.#mostZones = 0;
    this.#deletions = 0;
    this.#zones.clear();
    this.#reached.clear();
  }
}
