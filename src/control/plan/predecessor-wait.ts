import type { Clock } from '#base/clock.ts';
import { type Millis, type Monotonic, monotonic, seconds } from '#base/units.ts';
import { parseObjectKey } from '#kubernetes/object-key.ts';
import { groupKey } from '#statefulset/group.ts';
import type { Plan } from '../decision/decision.ts';
import { type AnnouncedRequest, parseAnnounced } from '../write/announced-request.ts';
import { type GroupMoment, hasUnavailable } from './group-moment.ts';

/** What is known of the process that reconciled before this one. */
export type PredecessorEnd =
  /** No Lease was there: nothing of ours ran, but another program may have. */
  | { readonly kind: 'none' }
  /** It wrote down that all its requests had been answered. */
  | { readonly kind: 'ended' }
  /** It is unknown what it has under way; `countedFrom` is when it can have sent the last of it. */
  | {
      readonly kind: 'unclean';
      readonly countedFrom: Monotonic;
      /** The only requests that it can have under way, as its Lease names them; absent where it does not say. */
      readonly requests?: readonly string[];
    };

/** What is asked whether it has to wait, and what an instant shows of it. */
export interface AwaitingView extends Pick<GroupMoment, 'key' | 'monotonic' | 'sets'> {
  /** The sets that a resource is about, also those that are not there; absent for groups. */
  readonly setNames?: readonly string[];
}

/** What the wait for a predecessor goes by. */
export interface PredecessorWaitOptions {
  readonly clock: Clock;
  readonly predecessor: PredecessorEnd;
  /** How long a request may arrive after its sender has died (D-50). */
  readonly horizon: Millis;
  /** When this process began to reconcile. */
  readonly startedAt: Monotonic;
}

/** How soon after a first start all ledgers have been begun. */
const firstFor = seconds(30);

/**
 * Until when nothing is disrupted, as a request of an earlier process may still arrive (D-50). No request can be called
 * back, so it is waited out; a predecessor that ended in good order has none, and where nothing of ours ran before only
 * the groups wait that were in motion when they were first seen.
 */
export class PredecessorWait {
  readonly #options: PredecessorWaitOptions;
  /** Whether a group was in motion when it was first seen by a proven view, by key. */
  readonly #wasInMotion = new Map<string, boolean>();
  /** The only requests that may still arrive; undefined where they are not known. */
  readonly #requests: readonly AnnouncedRequest[] | undefined;

  constructor(options: PredecessorWaitOptions) {
    this.#options = options;
    this.#requests = requestsOf(options.predecessor);
  }

  /**
   * Notes whether the group of `moment`, which led to `plan`, is in motion when it is first seen; `plan` must rest on all
   * that capabilities read of other objects.
   *
   * @param isNew whether its sets were made after this process began, so that no earlier one set it in motion
   */
  see(
    moment: GroupMoment,
    { plan, isNew }: { readonly plan: Plan; readonly isNew: boolean },
  ): void {
    const { key, proof } = moment;
    if (proof.pods === undefined || proof.statefulSets === undefined) return;
    this.note(key, () => !isNew && isInMotion(moment, plan));
  }

  /** Notes whether `key` is in motion when it is first seen. */
  note(key: string, isInMotion: () => boolean): void {
    if (this.#options.predecessor.kind !== 'none' || this.#wasInMotion.has(key)) return;
    this.#wasInMotion.set(key, isInMotion());
  }

  /**
   * Returns until when what `view` shows must not be disrupted; undefined when it may be, with a view that is proven
   * {@link neededSince}.
   */
  until(view: AwaitingView): Monotonic | undefined {
    const { kind } = this.#options.predecessor;
    const { key, monotonic: now } = view;
    if (kind === 'ended') return undefined;
    if (kind === 'none' && this.#wasInMotion.get(key) === false) return undefined;
    if (this.#requests?.some((each) => isAbout(each, view) && !isSettled(each, view)) === false)
      return undefined;
    return now < this.overAt ? this.overAt : undefined;
  }

  /**
   * Since when a view has to be proven: an older one may not show what the predecessor did last, also where that had its answer, and
   * where it ended in good order.
   */
  get neededSince(): Monotonic {
    return this.#options.startedAt;
  }

  /** Returns from when on nothing that was sent before this process led can arrive any more, whatever group it is about. */
  get overAt(): Monotonic {
    const { predecessor, horizon, startedAt } = this.#options;
    if (predecessor.kind === 'ended' || this.#requests?.length === 0) return startedAt;
    const from = predecessor.kind === 'unclean' ? predecessor.countedFrom : startedAt;
    return monotonic(from + horizon);
  }

  /**
   * Returns from when on nothing that an earlier process of ours sent can arrive any more: where there was no Lease, none of
   * ours ran. What another program sent shows in no ledger anyway.
   */
  get ownOverAt(): Monotonic {
    return this.#options.predecessor.kind === 'none' ? this.#options.startedAt : this.overAt;
  }

  /**
   * Returns until when it is certain that no process of ours has given anything away, where there was no Lease; undefined where there
   * was one. Later another replica may have, and what it wrote may have been deleted.
   */
  get firstUntil(): Monotonic | undefined {
    const { predecessor, startedAt } = this.#options;
    return predecessor.kind === 'none' ? monotonic(startedAt + firstFor) : undefined;
  }

  /**
   * Reports whether one of the groups `keys` may still have to wait, so that this process has not outlived its predecessor
   * yet.
   */
  isPending(keys: Iterable<string>): boolean {
    const { clock, predecessor } = this.#options;
    if (clock.monotonic() >= this.overAt) return false;
    // A group that was never looked at may have been in motion.
    return (
      predecessor.kind === 'unclean' ||
      [...keys].some((key) => this.#wasInMotion.get(key) !== false)
    );
  }
}

function requestsOf(predecessor: PredecessorEnd): readonly AnnouncedRequest[] | undefined {
  if (predecessor.kind !== 'unclean' || predecessor.requests === undefined) return undefined;
  const requests = predecessor.requests.map(parseAnnounced);
  const known = requests.filter((each) => each !== undefined);
  // One that cannot be read may be about anything.
  return known.length === requests.length ? known : undefined;
}

/** Reports whether `request` is about a set of `view`, or about one that was in its group. */
function isAbout(
  { namespace, statefulSet, group }: AnnouncedRequest,
  { key, sets, setNames }: AwaitingView,
): boolean {
  if (group !== undefined && groupKey(namespace, group) === key) return true;
  if (parseObjectKey(key).namespace !== namespace) return false;
  const names = setNames ?? sets.map(({ set }) => set.name);
  return names.includes(statefulSet);
}

/**
 * Reports whether `request` can change nothing that `view` shows: its pod is gone or terminating. A change of a set may arrive as long as
 * any request may.
 */
function isSettled(request: AnnouncedRequest, { sets }: AwaitingView): boolean {
  const found = sets.find(({ set }) => set.name === request.statefulSet);
  if (request.kind !== 'pod' || found === undefined) return false;
  const isThere = found.pods.some(
    ({ uid, isTerminating }) => uid === request.uid && !isTerminating,
  );
  return !isThere && !found.orphans.includes(request.pod);
}

/** What is decided also about a group in which nothing moves: to report its replicas, or that something about it is odd. */
const restful: ReadonlySet<Plan['decisions'][number]['kind']> = new Set(['warn', 'write-back']);

/**
 * Reports whether anything is done or waited for, or a slot has no available pod: a user may have been at work on the
 * group.
 */
function isInMotion(moment: GroupMoment, plan: Plan): boolean {
  return plan.decisions.some(({ kind }) => !restful.has(kind)) || hasUnavailable(moment);
}
