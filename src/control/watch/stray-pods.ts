import type { Clock } from '#base/clock.ts';
import type { Change, Informer } from '#kubernetes/informer/informer.ts';
import { GROUP_LABEL, groupKey, groupKeyOf, parseGroupKey } from '#statefulset/group.ts';
import { parseOrdinal } from '#statefulset/parse-ordinal.ts';
import { slotsOf } from '#statefulset/slot.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import type { OpenDisruptions } from '../write/open-disruptions.ts';
import { indexes, type SetSnapshot } from './group-sets.ts';

/** What {@link StrayPods} looks at. */
export interface StrayPodPorts {
  readonly clock: Pick<Clock, 'monotonic' | 'now'>;
  readonly pods: Pick<Informer<PodView>, 'lister'>;
  readonly statefulSets: Pick<Informer<StatefulSetView>, 'lister' | 'onChange'>;
  readonly open: Pick<OpenDisruptions, 'has' | 'wasTaken'>;
}

/** A set that has left a group: it was deleted, or its label was changed. */
interface FormerSet {
  /** The group that it left. */
  readonly key: string;
  readonly set: StatefulSetView;
  /** Names of the pods that we had taken, and that were not back when it left. */
  readonly awaited: ReadonlySet<string>;
}

/** Names of pods, and what is the matter with them. */
interface Lacking {
  readonly names: readonly string[];
  readonly clause: string;
}

/** So many pods a clause names. */
const mostNamed = 6;

/**
 * Pods that keep a group from losing others although no set of the group has them, or not for long: those of a set that is being deleted,
 * or was, with or without them, until they are gone or a set adopts them; pods without a controller that carry the label of the group; and those that we
 * took, until they are back, of a set that was moved out of the group meanwhile. What sets have left is a memory of the process.
 */
export class StrayPods {
  readonly #ports: StrayPodPorts;
  /** Keyed by the uid of the set. */
  readonly #former = new Map<string, FormerSet>();

  /** Begins to remember which sets leave their groups. */
  constructor(ports: StrayPodPorts) {
    this.#ports = ports;
    ports.statefulSets.onChange((change) => this.#changed(change));
  }

  /**
   * Returns what keeps the group `key`, whose sets are `sets`, from losing pods that serve: a clause for each cause, such as
   * `a-1, a-2 are left of a, which was deleted`; none where nothing does.
   */
  of(key: string, sets: readonly SetSnapshot[]): readonly string[] {
    const leaving = sets.filter(({ set }) => set.isDeleting).map(beingDeleted);
    const left = this.#leftFrom(key, sets).map((former) => this.#lackingIn(former, sets));
    const said = new Set(left.flatMap(({ names }) => names));
    const names = this.#labelled(key).filter((name) => !said.has(name));
    const labelled: Lacking = {
      names,
      clause: 'carry the label of the group, and no StatefulSet controls them',
    };
    return [...leaving, ...left, labelled].flatMap(textOf);
  }

  /** Returns the keys of the groups of which `pod` may be one. */
  keysOf(pod: PodView): readonly string[] {
    const keys = [...this.#former.values()].filter((each) => mayBeOf(pod, each));
    const label = pod.controllerUid === undefined ? pod.labels[GROUP_LABEL] : undefined;
    const labelled = label === undefined ? [] : [groupKey(pod.namespace, label)];
    return [...labelled, ...keys.map(({ key }) => key)];
  }

  #changed(change: Change<StatefulSetView>): void {
    this.#forgetOver();
    if (change.kind === 'deleted') this.#left(change.object);
    if (change.kind !== 'updated') return;
    const { old, object } = change;
    if (old.uid !== object.uid) this.#left(old);
    else if (groupKeyOf(old) !== groupKeyOf(object)) this.#left(old);
  }

  #left(set: StatefulSetView): void {
    const key = groupKeyOf(set);
    if (key === undefined) return;
    const { clock, open } = this.#ports;
    const now = clock.monotonic();
    const taken = this.#unavailable(set).filter((name) =>
      open.wasTaken({ namespace: set.namespace, name }, now),
    );
    this.#former.set(set.uid, { key, set, awaited: new Set(taken) });
  }

  /** Also those that a read shows to have left, while the cache does not. */
  #leftFrom(key: string, sets: readonly SetSnapshot[]): readonly FormerSet[] {
    const present = new Set(sets.map(({ set }) => set.uid));
    const shown = this.#ports.statefulSets.lister
      .by(indexes.group, key)
      .map((set): FormerSet => ({ key, set, awaited: new Set() }));
    const known = [...this.#former.values()].filter((each) => each.key === key);
    return [...known, ...shown].filter(({ set }) => !present.has(set.uid));
  }

  /** Returns the pods that `former` left behind, or those that we took and that are not back. */
  #lackingIn(former: FormerSet, sets: readonly SetSnapshot[]): Lacking {
    const { set, awaited } = former;
    const { pods, statefulSets } = this.#ports;
    const [live] = statefulSets.lister.by(indexes.uid, set.uid);
    if (live !== undefined && groupKeyOf(live) !== former.key) {
      const names = this.#unavailable(live).filter((name) => awaited.has(name));
      return { names, clause: `of ${set.name}, which has left the group, are not back` };
    }
    const controlled = pods.lister.by(indexes.controller, set.uid);
    // The slots of a set that was made again say what becomes of orphans.
    const isMadeAgain = sets.some((each) => each.set.name === set.name);
    const orphans = isMadeAgain ? [] : pods.lister.by(indexes.orphan, set.namespace);
    const left = orphans.filter(({ name }) => parseOrdinal(name, set.name) !== undefined);
    const names = [...controlled, ...left].map(({ name }) => name);
    return { names, clause: `are left of ${set.name}, which was deleted` };
  }

  #labelled(key: string): readonly string[] {
    const { namespace, group } = parseGroupKey(key);
    return this.#ports.pods.lister
      .by(indexes.orphan, namespace)
      .filter(({ labels, phase }) => labels[GROUP_LABEL] === group && phase !== 'Succeeded')
      .map(({ name }) => name);
  }

  #unavailable(set: StatefulSetView): readonly string[] {
    const { clock, pods, open } = this.#ports;
    const controlled = pods.lister.by(indexes.controller, set.uid);
    const leaving = new Set(controlled.map(({ uid }) => uid).filter((uid) => open.has(uid)));
    return slotsOf({ set, pods: controlled, leaving }, clock.now())
      .filter(({ kind }) => kind !== 'available')
      .map(({ ordinal }) => `${set.name}-${ordinal}`);
  }

  /** Forgets sets of which nothing is left, or that are back in their groups. */
  #forgetOver(): void {
    const { lister } = this.#ports.statefulSets;
    for (const [uid, former] of this.#former) {
      const [live] = lister.by(indexes.uid, uid);
      const isBack = live !== undefined && groupKeyOf(live) === former.key;
      if (isBack || this.#lackingIn(former, []).names.length === 0) this.#former.delete(uid);
    }
  }
}

function beingDeleted({ set, pods }: SetSnapshot): Lacking {
  const names = pods.map(({ name }) => name);
  return { names, clause: `are of ${set.name}, which is being deleted` };
}

function textOf({ names, clause }: Lacking): readonly string[] {
  if (names.length === 0) return [];
  const named = names.toSorted().slice(0, mostNamed).join(', ');
  const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : '';
  return [`${named}${more} ${clause}`];
}

function mayBeOf(pod: PodView, { set, awaited }: FormerSet): boolean {
  if (pod.namespace !== set.namespace) return false;
  if (pod.controllerUid === set.uid || awaited.has(pod.name)) return true;
  return pod.controllerUid === undefined && parseOrdinal(pod.name, set.name) !== undefined;
}
