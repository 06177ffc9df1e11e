import { assertNever } from '#base/assert-never.ts';
import { type Monotonic, minutes, monotonic, seconds } from '#base/units.ts';
import { compareRevisions } from '#kubernetes/revision.ts';
import type { PodView } from '#statefulset/view.ts';
import type { PodRef } from '../decision/decision.ts';

/** How long a deletion without an answer may still happen (D-7). */
const answerHorizon = seconds(120);

/** How long an answer is awaited before that is reported (D-53). */
export const answerPatience = seconds(10);

/** How long the name of a pod that was taken away is remembered. */
const memory = minutes(5);

type Answer =
  | { readonly kind: 'sent' }
  /** The answer never came: the server may have acted. */
  | { readonly kind: 'unanswered' }
  /** Accepted, without a revision to wait for: the pod went at once, or was going already. */
  | { readonly kind: 'accepted' }
  | { readonly kind: 'answered'; readonly revision: string };

interface Taken {
  readonly pod: PodRef;
  readonly sentAt: Monotonic;
  /** The pod that was made just like it, and when that was noticed. */
  again: { readonly uid: string; readonly since: Monotonic } | undefined;
}

interface OpenDisruption {
  readonly pod: PodRef;
  readonly sentAt: Monotonic;
  readonly answer: Answer;
}

/** What says whether a deletion has become visible. */
export interface PodSight {
  readonly now: Monotonic;
  /** Returns the pod in the cache under this name, whatever its uid. */
  find(pod: PodRef): PodView | undefined;
  /** Reports whether the pod cache shows `revision` or a newer one. */
  hasSeen(revision: string): boolean;
}

/**
 * Deletions of ours that the cache may not show yet (D-7, and D-5 for what proves it). Such a pod counts as leaving. A
 * request under way is a connection, not state: the next process waits for as long as it may arrive (D-50).
 *
 * One for all groups: a set that moves to another group takes what is open in it along.
 */
export class OpenDisruptions {
  readonly #open = new Map<string, OpenDisruption>();
  /** Which pod was taken away last, and when, by namespace and name; oldest first. */
  readonly #taken = new Map<string, Taken>();

  /** Notes that the deletion of `pod` is handed to the connection now. */
  sent(pod: PodRef, sentAt: Monotonic): void {
    this.#remember(pod, sentAt);
    // Oldest first, also where one is sent again.
    this.#open.delete(pod.uid);
    this.#open.set(pod.uid, { pod, sentAt, answer: { kind: 'sent' } });
  }

  /** Notes that the server accepted it; the pod's going is committed at `revision`. */
  answered(pod: PodRef, revision: string): void {
    this.#update(pod, { kind: 'answered', revision });
  }

  /** Notes that the server accepted it, and named no revision of the pod's going. */
  accepted(pod: PodRef): void {
    this.#update(pod, { kind: 'accepted' });
  }

  /** Notes that no answer will come. */
  unanswered(pod: PodRef): void {
    this.#update(pod, { kind: 'unanswered' });
  }

  /** Notes that the server refused it, or it was never sent: it has no effect. */
  void(pod: PodRef): void {
    this.#open.delete(pod.uid);
    this.#taken.delete(nameOf(pod));
  }

  /**
   * Returns the time from which it is known that a pod of this name was taken away in the last minutes, and `pod` was made instead on
   * the same revision; undefined when it was not. If that is to go, too, then perhaps what we believe of its set is what is
   * outdated, so that only a view that was proven after this time may be acted on (REV-3).
   */
  madeAgainSince(pod: PodRef, now: Monotonic): Monotonic | undefined {
    const taken = this.#taken.get(nameOf(pod));
    if (taken === undefined || now - taken.sentAt >= memory) return undefined;
    if (taken.pod.uid === pod.uid || taken.pod.revision !== pod.revision) return undefined;
    if (taken.again?.uid !== pod.uid) taken.again = { uid: pod.uid, since: now };
    return taken.again.since;
  }

  /** Reports whether a pod of this name was taken away in the last minutes. */
  wasTaken(pod: Pick<PodRef, 'namespace' | 'name'>, now: Monotonic): boolean {
    const taken = this.#taken.get(nameOf(pod));
    return taken !== undefined && now - taken.sentAt < memory;
  }

  #remember(pod: PodRef, sentAt: Monotonic): void {
    for (const [key, taken] of this.#taken) {
      if (sentAt - taken.sentAt < memory) break;
      this.#taken.delete(key);
    }
    const name = nameOf(pod);
    this.#taken.delete(name);
    this.#taken.set(name, { pod, sentAt, again: undefined });
  }

  #update(pod: PodRef, answer: Answer): void {
    const open = this.#open.get(pod.uid);
    if (open !== undefined) this.#open.set(pod.uid, { ...open, answer });
  }

  /** Returns uids of the pods that may be leaving although the cache does not say so; forgets what `sight` settles. */
  leaving(sight: PodSight): ReadonlySet<string> {
    for (const [uid, open] of this.#open) {
      if (isSettled(open, sight)) this.#open.delete(uid);
    }
    return new Set(this.#open.keys());
  }

  /** Reports whether the deletion of the pod was sent, and does not show yet. */
  has(uid: string): boolean {
    return this.#open.has(uid);
  }

  /** Returns all pods whose deletion was sent, and does not show yet. */
  pods(): readonly PodRef[] {
    return [...this.#open.values()].map(({ pod }) => pod);
  }

  /** Returns those of the pods for which `isMine` holds whose deletion got no answer, and may still happen. */
  unansweredPods(isMine: (pod: PodRef) => boolean = () => true): readonly PodRef[] {
    return [...this.#open.values()]
      .filter((open) => open.answer.kind === 'unanswered' && isMine(open.pod))
      .map((open) => open.pod);
  }

  /** Returns those of the pods for which `isMine` holds whose deletion has been under way for 10 s at `now`. */
  slowPods(now: Monotonic, isMine: (pod: PodRef) => boolean): readonly PodRef[] {
    return [...this.#open.values()]
      .filter((open) => open.answer.kind === 'sent' && now - open.sentAt >= answerPatience)
      .map((open) => open.pod)
      .filter(isMine);
  }

  /** Returns when the next deletion, of a pod for which `isMine` holds, will be one of {@link slowPods}; undefined: none will. */
  nextSlow(now: Monotonic, isMine: (pod: PodRef) => boolean): Monotonic | undefined {
    const next = [...this.#open.values()].find(
      ({ answer, sentAt, pod }) =>
        answer.kind === 'sent' && now - sentAt < answerPatience && isMine(pod),
    );
    return next === undefined ? undefined : monotonic(next.sentAt + answerPatience);
  }

  /**
   * Returns when the first deletion without an answer, of a pod for which `isMine` holds, is settled by time alone;
   * undefined when there is none.
   */
  nextHorizon(isMine: (pod: PodRef) => boolean = () => true): Monotonic | undefined {
    let earliest: number | undefined;
    for (const { answer, sentAt, pod } of this.#open.values()) {
      // Whose it is costs a look at the whole group: only what has a horizon is asked about.
      if (answer.kind !== 'unanswered' && answer.kind !== 'accepted') continue;
      if (isMine(pod)) earliest = Math.min(earliest ?? Infinity, sentAt);
    }
    return earliest === undefined ? undefined : monotonic(earliest + answerHorizon);
  }
}

function nameOf({ namespace, name }: Pick<PodRef, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`;
}

function isSettled(open: OpenDisruption, sight: PodSight): boolean {
  switch (open.answer.kind) {
    case 'sent':
      return false;
    case 'answered':
      return sight.hasSeen(open.answer.revision);
    case 'accepted':
    case 'unanswered':
      return isDecided(open, sight);
    default:
      return assertNever(open.answer);
  }
}

/**
 * Reports whether it can no longer happen unseen: the cache shows a newer state than the one that the request named, or time
 * has run out. An older state, as a watch that began again may show, decides nothing (D-52).
 */
function isDecided(open: OpenDisruption, sight: PodSight): boolean {
  if (sight.now - open.sentAt >= answerHorizon) return true;
  const { resourceVersion } = open.pod;
  const pod = sight.find(open.pod);
  if (pod === undefined) return sight.hasSeen(resourceVersion);
  return compareRevisions(pod.resourceVersion, resourceVersion) > 0;
}
