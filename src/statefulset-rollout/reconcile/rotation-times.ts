import { type Millis, type Monotonic, millis } from '#base/units.ts';
import type { Place } from '../plan/plan-places.ts';

/** A pod that went, and whose successor is awaited. */
interface Gone {
  readonly uid: string;
  readonly at: Monotonic;
}

/** Measures how long it takes from the eviction of a pod until its successor is healthy; of pods that this process evicted. */
export class RotationTimes {
  /** By uid of the resource, and then by the name of the pod. */
  readonly #gone = new Map<string, Map<string, Gone>>();

  /** Notes that the pod `name`, which had `uid`, goes now. */
  begin(owner: string, pod: { readonly name: string; readonly uid: string }, at: Monotonic): void {
    const gone = this.#gone.get(owner) ?? new Map<string, Gone>();
    gone.set(pod.name, { uid: pod.uid, at });
    this.#gone.set(owner, gone);
  }

  /** Returns how long it took for each whose successor is healthy by now, once; those that nothing awaits any more go. */
  ended(owner: string, places: readonly Place[], now: Monotonic): readonly Millis[] {
    const gone = this.#gone.get(owner);
    if (gone === undefined) return [];
    const found = new Map(places.map((place) => [place.name, place]));
    const spans: Millis[] = [];
    for (const [name, { uid, at }] of gone) {
      const place = found.get(name);
      const isBack = place !== undefined && isSucceeded(place, uid);
      if (isBack) spans.push(millis(now - at));
      if (isBack || place?.isRotated !== true) gone.delete(name);
    }
    if (gone.size === 0) this.#gone.delete(owner);
    return spans;
  }

  forget(owner: string): void {
    this.#gone.delete(owner);
  }
}

/** Reports whether a healthy pod is there in place of the one with `uid`. */
function isSucceeded({ isHealthy, pod }: Place, uid: string): boolean {
  return isHealthy && pod?.uid !== uid;
}
