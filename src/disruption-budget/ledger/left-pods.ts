import { indexes, isInScope, type SetScope } from '#control/watch/group-sets.ts';
import type { LeftPod } from '#disruption/snapshot.ts';
import type { Change, Informer } from '#kubernetes/informer/informer.ts';
import { parseOrdinal } from '#statefulset/parse-ordinal.ts';
import { labelsOf } from '#statefulset/pod-labels.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import { selects } from '../api.ts';

/** The caches that {@link LeftPods} looks at. */
export interface LeftPodPorts {
  readonly pods: Pick<Informer<PodView>, 'lister'>;
  readonly statefulSets: Pick<Informer<StatefulSetView>, 'lister' | 'onChange'>;
}

/** By this label pods of StatefulSets are told from others, which no set will adopt. */
const madeBySet = 'statefulset.kubernetes.io/pod-name';

/**
 * Pods under budgets whose set was deleted: nobody makes them again, so that their zone counts as disturbed until a set adopts them,
 * or they are gone. Which set they had is a memory of the process; without it their labels tell of them.
 */
export class LeftPods {
  readonly #ports: LeftPodPorts;
  /** Deleted sets of which pods may be left, by uid. */
  readonly #deleted = new Map<string, StatefulSetView>();

  /** Begins to remember which sets are deleted. */
  constructor(ports: LeftPodPorts) {
    this.#ports = ports;
    ports.statefulSets.onChange((change) => this.#changed(change));
  }

  /** Returns those of `scope`; the same list where there are none. */
  of(scope: SetScope): readonly LeftPod[] {
    const left = [...this.#controlledIn(scope), ...this.#orphansIn(scope)];
    return left.length === 0 ? none : left;
  }

  #changed(change: Change<StatefulSetView>): void {
    const { pods, statefulSets } = this.#ports;
    for (const { uid, namespace, name } of this.#deleted.values()) {
      const isLeft =
        pods.lister.by(indexes.controller, uid).length > 0 ||
        pods.lister.by(indexes.orphan, namespace).some((pod) => isOf(pod, name));
      if (!isLeft || statefulSets.lister.get(namespace, name) !== undefined) {
        this.#deleted.delete(uid);
      }
    }
    if (change.kind === 'deleted') this.#deleted.set(change.object.uid, change.object);
    if (change.kind === 'updated' && change.old.uid !== change.object.uid) {
      this.#deleted.set(change.old.uid, change.old);
    }
  }

  /** Returns pods that still name a set which is gone: of a cascade, or before the garbage collector has orphaned them. */
  #controlledIn(scope: SetScope): readonly LeftPod[] {
    const { lister } = this.#ports.pods;
    return [...this.#deleted.values()]
      .filter((set) => isInScope(scope, set))
      .flatMap(({ uid, name }) =>
        lister.by(indexes.controller, uid).map((pod): LeftPod => ({ pod, set: name })),
      );
  }

  #orphansIn(scope: SetScope): readonly LeftPod[] {
    return this.#ports.pods.lister
      .by(indexes.orphan, scope.namespace)
      .filter((pod) => pod.labels[madeBySet] !== undefined && selects(scope, labelsOf(pod)))
      .filter(({ phase }) => phase !== 'Succeeded')
      .map((pod): LeftPod => ({ pod, set: this.#formerNameOf(pod) }));
  }

  #formerNameOf(pod: PodView): string | undefined {
    return [...this.#deleted.values()].find(
      ({ namespace, name }) => namespace === pod.namespace && isOf(pod, name),
    )?.name;
  }
}

const none: readonly LeftPod[] = Object.freeze([]);

function isOf(pod: PodView, set: string): boolean {
  return parseOrdinal(pod.name, set) !== undefined;
}
