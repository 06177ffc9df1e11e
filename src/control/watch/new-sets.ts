import type { Informer } from '#kubernetes/informer/informer.ts';
import { isMadeOver } from '#statefulset/revision.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import type { SetSnapshot } from './group-sets.ts';

/** What {@link NewSets} looks at. */
export interface NewSetPorts {
  readonly statefulSets: Pick<Informer<StatefulSetView>, 'freshness' | 'hasSynced' | 'onChange'>;
}

/**
 * The StatefulSets that were made after this process had seen all that there were: no earlier process can have disrupted a pod of
 * theirs, unless the pod is older than its set.
 */
export class NewSets {
  readonly #uids = new Set<string>();

  /** Begins to remember which sets are made. */
  constructor({ statefulSets }: NewSetPorts) {
    statefulSets.onChange(({ kind, object: { uid } }) => {
      // What a first list shows may have been made at any time.
      const isListed = statefulSets.hasSynced && statefulSets.freshness.seen !== undefined;
      if (kind === 'added' && isListed) this.#uids.add(uid);
      if (kind === 'deleted') this.#uids.delete(uid);
    });
  }

  /** Reports whether all of `sets` are new, and made their pods themselves. */
  areAll(sets: readonly SetSnapshot[]): boolean {
    return sets.every(
      ({ set, pods }) => this.#uids.has(set.uid) && !pods.some((pod) => isMadeOver(set, pod)),
    );
  }
}
