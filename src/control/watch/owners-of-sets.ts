import { groupOf } from '#statefulset/group.ts';
import type { StatefulSetView } from '#statefulset/view.ts';

/** A kind of resource, or of mark, by which people say what is to roll a StatefulSet out (D-63). */
export interface SetOwners {
  /** Names the kind, such as `PhasedRollout`. */
  readonly kind: string;
  /** Returns what of this kind names `set`, each as users know it, such as `PhasedRollout a`; sorted. */
  naming(set: StatefulSetView): readonly string[];
  /** Why that is not known yet, as a clause; undefined when it is. Absent: it always is. */
  unknown?(): string | undefined;
  /** Calls `wake` with the sets that a change of resources may concern. Absent: sets themselves show it. */
  onChange?(wake: (set: SetName) => void): void;
  /** Calls `wake` when what {@link unknown} says may have changed. */
  onState?(wake: () => void): void;
}

/** Where a StatefulSet is, or would be. */
export type SetName = Pick<StatefulSetView, 'namespace' | 'name'>;

/** What else would move sets, as those see it that look at one kind only. */
export interface OtherOwners {
  /** Returns what of other kinds names `set`; empty where what asks does not name it itself. */
  conflicts(set: StatefulSetView): readonly string[];
  /** Returns why that is not known yet, as a clause; undefined when it is. */
  unknown(): string | undefined;
}

/** Only what asks is there to move sets. */
export const noOtherOwners: OtherOwners = Object.freeze({
  conflicts: () => noNames,
  unknown: () => undefined,
});

const noNames: readonly string[] = Object.freeze([]);

/** The kind of what is rolled out by the label `rollout-group`. */
export const groupKind = 'rollout group';

/** Groups: their label names a set only where its update strategy is OnDelete, as they touch no other. */
export const groupOwners: SetOwners = Object.freeze({
  kind: groupKind,
  naming: (set: StatefulSetView): readonly string[] => {
    const group = groupOf(set);
    if (group === undefined || set.spec.updateStrategy !== 'OnDelete') return noNames;
    return [`${groupKind} ${group === '' ? '""' : group}`];
  },
});

/**
 * All by which people may say what is to roll a StatefulSet out. What two kinds name is moved by none: each would undo, or
 * take for its own, what the other does.
 */
export class OwnersOfSets {
  readonly #kinds: readonly SetOwners[];

  constructor(kinds: readonly SetOwners[]) {
    this.#kinds = kinds;
  }

  /** Returns what others there are, for those that `kind` names. */
  besides(kind: string): OtherOwners {
    const own = this.#kinds.filter((each) => each.kind === kind);
    const others = this.#kinds.filter((each) => each.kind !== kind);
    return {
      conflicts: (set) => {
        const found = others.flatMap((each) => each.naming(set));
        if (found.length === 0) return noNames;
        return own.some((each) => each.naming(set).length > 0) ? found : noNames;
      },
      unknown: () => others.map((each) => each.unknown?.()).find((text) => text !== undefined),
    };
  }

  /** Calls `wake` with the sets whose owners may have changed otherwise than by a change of the set. */
  onChange(wake: (set: SetName) => void): void {
    for (const each of this.#kinds) each.onChange?.(wake);
  }

  /** Calls `wake` when it may have become known, or unknown, what names sets. */
  onState(wake: () => void): void {
    for (const each of this.#kinds) each.onState?.(wake);
  }
}
