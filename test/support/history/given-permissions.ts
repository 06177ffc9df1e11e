import type { Commit } from '#cluster/event-log.ts';
import type { Asker } from './budget-facts.ts';
import { budgetKey } from './budget-history.ts';
import { ordinalIn, type PodFacts, type SetFacts } from './facts.ts';
import { type History, type View, viewAt } from './history.ts';
import { type ReservationFacts, reservationsIn } from './ledger-facts.ts';

/** A pod that a ledger gave away. */
export interface GivenPermission {
  readonly namespace: string;
  readonly uid: string;
  readonly pod: string;
  readonly askers: readonly Asker[];
  /** Undefined where the name of the pod is that of no set. */
  readonly set: SetFacts | undefined;
  readonly ordinal: number | undefined;
  /** The commit that stored it. */
  readonly commit: Commit;
}

/** Returns the set of whose slots `podName` could be one, as `view` shows it. */
export function setOfPod(
  history: History,
  { namespace, podName }: { readonly namespace: string; readonly podName: string },
  view: View,
): SetFacts | undefined {
  return history.set(namespace, podName.slice(0, Math.max(0, podName.lastIndexOf('-'))), view);
}

/** Returns what is given away by `reservation`, which `commit` stored first. */
export function permissionOf(
  history: History,
  commit: Commit,
  { uid, pod, claims }: ReservationFacts,
): GivenPermission {
  const { namespace } = commit;
  const view = viewAt(commit.revision - 1, commit.at);
  const set = setOfPod(history, { namespace, podName: pod }, view);
  const ordinal = set === undefined ? undefined : ordinalIn(pod, set.name);
  return { namespace, uid, pod, askers: claims.map(({ by }) => by), set, ordinal, commit };
}

/**
 * Reports whether there is evidence just before `commit` that `given` has come to its end: another pod was available in its
 * slot at any time since, or the slot is gone. What a ledger says is none.
 */
export function hasEnded(history: History, given: GivenPermission, commit: Commit): boolean {
  const { set, ordinal, uid } = given;
  if (set === undefined || ordinal === undefined) return true;
  const view = viewAt(commit.revision - 1, commit.at);
  if (history.isSlotGone(set.uid, ordinal, view)) return true;
  const current = history.setByUid(set.uid, view) ?? set;
  const span = { since: given.commit.at, until: commit };
  return [...history.availableVersions(current, given.pod, span)].some((pod) => pod.uid !== uid);
}

/** Returns the pod that was given away, where it is still there just before `commit`, and is not going. */
function stillStanding(
  history: History,
  { namespace, pod, uid }: Pick<GivenPermission, 'namespace' | 'pod' | 'uid'>,
  commit: Commit,
): PodFacts | undefined {
  const found = history.pod(namespace, pod, commit.revision - 1);
  return found?.uid === uid && !found.isTerminating ? found : undefined;
}

/** Permissions under way, by the rules alone; ledgers are taken in commit by commit, in order. */
export class GivenPermissions {
  readonly #history: History;
  readonly #open = new Map<string, readonly GivenPermission[]>();

  constructor(history: History) {
    this.#history = history;
  }

  /**
   * Takes in what `commit` stored: those that are new, each with what was under way besides it. One that is taken out
   * while its pod is there is void; one that is taken out while its pod is going, or gone, stays under way.
   */
  *take(commit: Commit): Generator<readonly [GivenPermission, readonly GivenPermission[]]> {
    const key = budgetKey(commit);
    const [before, stored] = [reservationsIn(commit.before), reservationsIn(commit.after)];
    const has = (list: readonly ReservationFacts[], uid: string): boolean =>
      list.some((each) => each.uid === uid);
    const open = (this.#open.get(key) ?? []).filter((given) => {
      if (hasEnded(this.#history, given, commit)) return false;
      return has(stored, given.uid) || !stillStanding(this.#history, given, commit);
    });
    for (const reservation of stored) {
      if (has(before, reservation.uid)) continue;
      const given = permissionOf(this.#history, commit, reservation);
      yield [given, open.filter(({ uid }) => uid !== given.uid)];
      open.push(given);
    }
    this.#open.set(key, open);
  }
}
