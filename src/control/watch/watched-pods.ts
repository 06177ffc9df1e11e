import type { Clock } from '#base/clock.ts';
import { type Instant, type Millis, type Monotonic, millis, seconds } from '#base/units.ts';
import type { Change, Informer } from '#kubernetes/informer/informer.ts';
import type { PodView, Watched } from '#statefulset/view.ts';
import type { SetSnapshot } from './group-sets.ts';

/** One pod as it was last seen, and since when its Ready condition is as it is. */
interface Seen {
  readonly pod: PodView;
  readonly since: Monotonic;
  /** Whether the condition was seen to become what it is, not only to be so. */
  readonly isWitnessed: boolean;
  /** When it was seen to be Ready no more; undefined while it is, or where that was not seen. */
  readonly readyUntil?: Monotonic | undefined;
  /** Since when it has been seen to terminate. */
  readonly leavingSince?: Monotonic | undefined;
}

/** One that was Ready so long ago was not only about to be again. */
const patience = seconds(60);

/**
 * Since when this process has seen each pod's Ready condition as it is now, by the clock that never steps: no time that
 * another client wrote can make a wait shorter than it was, or longer than need be (D-48, D-55). A memory of the process,
 * no state: it begins again with each process, and then waits begin again too.
 */
export class WatchedPods {
  readonly #clock: Clock;
  readonly #seen = new Map<string, Seen>();
  /** Pods that had not served, once they are gone, and when that was seen; by namespace and name, oldest first. */
  readonly #gone = new Map<string, { readonly pod: PodView; readonly at: Monotonic }>();
  readonly #begun: Monotonic;

  /** Begins with the pods that the cache of `pods` has, and follows it. */
  constructor(pods: Pick<Informer<PodView>, 'lister' | 'onChange'>, clock: Clock) {
    this.#clock = clock;
    const since = clock.monotonic();
    this.#begun = since;
    for (const pod of pods.lister.list()) {
      this.#seen.set(pod.uid, { pod, since, isWitnessed: false });
    }
    pods.onChange((change) => this.#changed(change));
  }

  /** Returns how many pods it remembers. */
  get size(): number {
    return this.#seen.size;
  }

  /**
   * What was seen of those pods of `sets` for which it matters how long they are as they are. Where `sets` show a pod
   * otherwise than the cache, nothing was seen of it.
   *
   * @param delay how long pods must have been ready for a budget, whatever their set says
   */
  of(sets: readonly SetSnapshot[], delay: Millis = noDelay): Watched {
    const moment = { now: this.#clock.now(), monotonic: this.#clock.monotonic(), delay };
    const since = new Map<string, Monotonic>();
    const witnessed = new Set<string>();
    const served = new Set<string>();
    for (const { set, pods } of sets) {
      const wait = waitOf(set.spec.minReady, delay);
      for (const pod of pods) {
        if (pod.unready === undefined && wait <= 0) continue;
        const seen = this.#seenAs(pod);
        if (seen === undefined || !matters(seen, pod, { wait, ...moment })) continue;
        since.set(pod.uid, seen.since);
        if (seen.isWitnessed) witnessed.add(pod.uid);
        if (hasServed(seen, moment.monotonic)) served.add(pod.uid);
      }
    }
    const gone = this.#goneOf(sets, moment.monotonic);
    return { now: moment.monotonic, since, witnessed, served, gone, begun: this.#begun };
  }

  /** Returns what was seen of `pod` while its Ready condition is as it is there. */
  #seenAs(pod: PodView): Seen | undefined {
    const seen = this.#seen.get(pod.uid);
    return seen !== undefined && isSameCondition(seen.pod, pod) ? seen : undefined;
  }

  #changed(change: Change<PodView>): void {
    const { object: pod } = change;
    if (change.kind === 'deleted') {
      this.#rememberGone(pod);
      this.#seen.delete(pod.uid);
      return;
    }
    this.#gone.delete(nameOf(pod));
    const old = change.kind === 'updated' ? change.old : undefined;
    if (old !== undefined && old.uid !== pod.uid) this.#seen.delete(old.uid);
    const seen = this.#seen.get(pod.uid);
    const isKept = seen !== undefined && isSameCondition(seen.pod, pod);
    const now = this.#clock.monotonic();
    const kept = isKept
      ? { since: seen.since, isWitnessed: seen.isWitnessed }
      : { since: now, isWitnessed: old !== undefined };
    this.#seen.set(pod.uid, { pod, ...kept, ...endOf(pod, seen, now) });
  }

  #rememberGone(pod: PodView): void {
    const now = this.#clock.monotonic();
    const last = this.#seen.get(pod.uid);
    for (const [name, { at }] of this.#gone) {
      if (now - at < patience) break;
      this.#gone.delete(name);
    }
    if (last === undefined || last.pod.unready === undefined || hasServed(last, now)) return;
    this.#gone.set(nameOf(pod), { pod, at: now });
  }

  #goneOf(sets: readonly SetSnapshot[], now: Monotonic): Watched['gone'] {
    if (this.#gone.size === 0) return nothingGone;
    const uids = new Set<string | undefined>(sets.map(({ set }) => set.uid));
    const mine = [...this.#gone.values()].filter(
      ({ pod, at }) => now - at < patience && uids.has(pod.controllerUid),
    );
    return new Map(mine.map(({ pod, at }) => [pod.name, at]));
  }
}

const noDelay = millis(0);

const nothingGone: Watched['gone'] = new Map();

function nameOf({ namespace, name }: PodView): string {
  return `${namespace}/${name}`;
}

/** Returns when `pod`, which was `seen` before, lost what makes it serve. */
function endOf(
  pod: PodView,
  seen: Seen | undefined,
  now: Monotonic,
): Pick<Seen, 'readyUntil' | 'leavingSince'> {
  const leavingSince = pod.isTerminating ? (seen?.leavingSince ?? now) : undefined;
  if (seen === undefined || pod.unready === undefined) {
    return { readyUntil: undefined, leavingSince };
  }
  const readyUntil = seen.pod.unready === undefined ? now : seen.readyUntil;
  return { readyUntil, leavingSince };
}

/** Reports whether it was seen Ready shortly before it began to terminate, or shortly ago. */
function hasServed({ readyUntil, leavingSince }: Seen, now: Monotonic): boolean {
  return readyUntil !== undefined && (leavingSince ?? now) - readyUntil < patience;
}

/** What decides whether it matters how long a pod is as it is. */
interface WatchedMoment {
  readonly wait: Millis;
  readonly delay: Millis;
  readonly now: Instant;
  readonly monotonic: Monotonic;
}

/** Returns how long a pod must have been ready for both; at its very end a delay is not over yet. */
function waitOf(minReady: Millis, delay: Millis): Millis {
  return delay > 0 ? millis(Math.max(minReady, delay + 1)) : minReady;
}

/** Reports whether `seen` can change what is said of `pod`: it is not ready, or may not be for `wait` yet. */
function matters(
  { since, isWitnessed }: Seen,
  pod: PodView,
  { wait, delay, now, monotonic }: WatchedMoment,
): boolean {
  if (pod.unready !== undefined) return true;
  if (delay > 0 && pod.readyTime !== undefined) return true;
  if (pod.readySince === undefined || now - pod.readySince < wait) return true;
  return isWitnessed && monotonic - since < wait;
}

/** Reports whether the Ready condition is what it was: a condition that came back in between has another time. */
function isSameCondition(one: PodView, other: PodView): boolean {
  return (
    one.readySince === other.readySince &&
    one.unready?.condition === other.unready?.condition &&
    one.unready?.since === other.unready?.since &&
    (one.unready === undefined) === (other.unready === undefined)
  );
}
