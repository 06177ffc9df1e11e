import type { Clock } from '#base/clock.ts';
import type { Instant, Millis, Monotonic } from '#base/units.ts';
import type { Change, Informer } from '#kubernetes/informer.ts';
import type { PodView, Watched } from '#statefulset/view.ts';
import type { SetSnapshot } from './group-sets.ts';

/** One pod as it was last seen, and since when its Ready condition is as it is. */
interface Seen {
  readonly pod: PodView;
  readonly since: Monotonic;
  /** Whether the condition was seen to become what it is, not only to be so. */
  readonly isWitnessed: boolean;
}

/**
 * Since when this process has seen each pod's Ready condition as it is now, by the clock that never steps: no time that
 * somebody else wrote can make a wait shorter than it was, or longer than need be (D-48, D-55). A memory of the process,
 * no state: it begins anew with each process, and then waits begin anew too.
 */
export class WatchedPods {
  readonly #clock: Clock;
  readonly #seen = new Map<string, Seen>();

  /** Begins with the pods that the cache of `pods` has, and follows it. */
  constructor(pods: Pick<Informer<PodView>, 'lister' | 'onChange'>, clock: Clock) {
    this.#clock = clock;
    const since = clock.monotonic();
    for (const pod of pods.lister.list()) {
      this.#seen.set(pod.uid, { pod, since, isWitnessed: false });
    }
    pods.onChange((change) => this.#changed(change));
  }

  /** How many pods it remembers. */
  get size(): number {
    return this.#seen.size;
  }

  /**
   * What was seen of those pods of `sets` for which it matters how long they are as they are. Where `sets` show a pod
   * otherwise than the cache, nothing was seen of it.
   */
  of(sets: readonly SetSnapshot[]): Watched {
    const moment = { now: this.#clock.now(), monotonic: this.#clock.monotonic() };
    const since = new Map<string, Monotonic>();
    const witnessed = new Set<string>();
    for (const { set, pods } of sets) {
      for (const pod of pods) {
        const seen = this.#seen.get(pod.uid);
        if (seen === undefined || !isSameCondition(seen.pod, pod)) continue;
        if (!matters(seen, pod, { minReady: set.spec.minReady, ...moment })) continue;
        since.set(pod.uid, seen.since);
        if (seen.isWitnessed) witnessed.add(pod.uid);
      }
    }
    return { now: moment.monotonic, since, witnessed };
  }

  #changed(change: Change<PodView>): void {
    const { object: pod } = change;
    if (change.kind === 'deleted') {
      this.#seen.delete(pod.uid);
      return;
    }
    const old = change.kind === 'updated' ? change.old : undefined;
    if (old !== undefined && old.uid !== pod.uid) this.#seen.delete(old.uid);
    const seen = this.#seen.get(pod.uid);
    const isKept = seen !== undefined && isSameCondition(seen.pod, pod);
    const kept = isKept
      ? { since: seen.since, isWitnessed: seen.isWitnessed }
      : { since: this.#clock.monotonic(), isWitnessed: old !== undefined };
    this.#seen.set(pod.uid, { pod, ...kept });
  }
}

/** Whether `seen` can change what is said of `pod`: it is not ready, or may not be available yet. */
function matters(
  { since, isWitnessed }: Seen,
  pod: PodView,
  at: { readonly minReady: Millis; readonly now: Instant; readonly monotonic: Monotonic },
): boolean {
  const { minReady, now, monotonic } = at;
  if (pod.unready !== undefined) return true;
  if (minReady <= 0) return false;
  if (pod.readySince === undefined || now - pod.readySince < minReady) return true;
  return isWitnessed && monotonic - since < minReady;
}

/** Whether the Ready condition is what it was: a condition that came back in between has another time. */
function isSameCondition(one: PodView, other: PodView): boolean {
  return (
    one.readySince === other.readySince &&
    one.unready?.condition === other.unready?.condition &&
    one.unready?.since === other.unready?.since &&
    (one.unready === undefined) === (other.unready === undefined)
  );
}
