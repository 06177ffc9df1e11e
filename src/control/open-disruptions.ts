import { assertNever } from '#base/assert-never.ts';
import { type Monotonic, minutes, monotonic, seconds } from '#base/units.ts';
import type { PodView } from '#statefulset/view.ts';
import type { PodRef } from './decision.ts';

/** How long a deletion without an answer may still happen (D-7). */
const answerHorizon = seconds(120);

/** How long the name of a pod that was taken away is remembered. */
const memory = minutes(5);

type Answer =
  | { readonly kind: 'sent' }
  /** The answer never came: the server may have acted. */
  | { readonly kind: 'unanswered' }
  /** Accepted, without a revision to wait for: the pod went at once, or was going already. */
  | { readonly kind: 'accepted' }
  | { readonly kind: 'answered'; readonly revision: string };

interface OpenDisruption {
  readonly pod: PodRef;
  readonly sentAt: Monotonic;
  readonly answer: Answer;
}

/** What tells whether a deletion has become visible. */
export interface PodSight {
  readonly now: Monotonic;
  /** The pod in the cache under this name, whatever its uid. */
  find(pod: PodRef): PodView | undefined;
  /** Whether the pod cache shows `revision` or a newer one. */
  hasSeen(revision: string): boolean;
}

/**
 * Deletions of ours that the cache may not show yet (D-7, reliability.md rule 4). Such a pod counts as leaving. A
 * request under way is a connection, not state: after a restart, fencing takes its place (D-8).
 *
 * One for all groups: a set that moves to another group takes what is open in it along.
 */
export class OpenDisruptions {
  readonly #open = new Map<string, OpenDisruption>();
  /** When a pod was taken away last, by namespace and name; oldest first. */
  readonly #taken = new Map<string, Monotonic>();

  /** The deletion of `pod` is handed to the connection now. */
  sent(pod: PodRef, sentAt: Monotonic): void {
    this.#remember(pod, sentAt);
    this.#open.set(pod.uid, { pod, sentAt, answer: { kind: 'sent' } });
  }

  /** The server accepted it; the pod's going is committed at `revision`. */
  answered(pod: PodRef, revision: string): void {
    this.#update(pod, { kind: 'answered', revision });
  }

  /** The server accepted it, and named no revision of the pod's going. */
  accepted(pod: PodRef): void {
    this.#update(pod, { kind: 'accepted' });
  }

  /** No answer will come. */
  unanswered(pod: PodRef): void {
    this.#update(pod, { kind: 'unanswered' });
  }

  /** The server refused it, or it was never sent: it has no effect. */
  void(pod: PodRef): void {
    this.#open.delete(pod.uid);
    this.#taken.delete(nameOf(pod));
  }

  /**
   * Whether a pod of this name was taken away in the last minutes. If the one that was made instead is outdated as well,
   * then perhaps what we believe of its set is what is outdated (REV-3).
   */
  wasTaken(pod: PodRef, now: Monotonic): boolean {
    const at = this.#taken.get(nameOf(pod));
    return at !== undefined && now - at < memory;
  }

  #remember(pod: PodRef, sentAt: Monotonic): void {
    for (const [key, at] of this.#taken) {
      if (sentAt - at < memory) break;
      this.#taken.delete(key);
    }
    const name = nameOf(pod);
    this.#taken.delete(name);
    this.#taken.set(name, sentAt);
  }

  #update(pod: PodRef, answer: Answer): void {
    const open = this.#open.get(pod.uid);
    if (open !== undefined) this.#open.set(pod.uid, { ...open, answer });
  }

  /** uids of the pods that may be leaving although the cache does not say so; forgets what `sight` settles. */
  leaving(sight: PodSight): ReadonlySet<string> {
    for (const [uid, open] of this.#open) {
      if (isSettled(open, sight)) this.#open.delete(uid);
    }
    return new Set(this.#open.keys());
  }

  /** Those of the pods for which `isMine` holds whose deletion has no answer; touching them settles it (D-8). */
  unansweredPods(isMine: (pod: PodRef) => boolean = () => true): readonly PodRef[] {
    return [...this.#open.values()]
      .filter((open) => open.answer.kind === 'unanswered' && isMine(open.pod))
      .map((open) => open.pod);
  }

  /**
   * When the first deletion without an answer, of a pod for which `isMine` holds, is settled by time alone;
   * undefined when there is none.
   */
  nextHorizon(isMine: (pod: PodRef) => boolean = () => true): Monotonic | undefined {
    let earliest: number | undefined;
    for (const { answer, sentAt, pod } of this.#open.values()) {
      if (!isMine(pod)) continue;
      if (answer.kind === 'unanswered' || answer.kind === 'accepted')
        earliest = Math.min(earliest ?? Infinity, sentAt);
    }
    return earliest === undefined ? undefined : monotonic(earliest + answerHorizon);
  }
}

function nameOf({ namespace, name }: PodRef): string {
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

/** Whether it can no longer happen unseen: the pod is gone, has moved past the precondition, or time has run out. */
function isDecided(open: OpenDisruption, sight: PodSight): boolean {
  const pod = sight.find(open.pod);
  const hasMoved =
    pod === undefined ||
    pod.uid !== open.pod.uid ||
    pod.resourceVersion !== open.pod.resourceVersion;
  return hasMoved || sight.now - open.sentAt >= answerHorizon;
}
