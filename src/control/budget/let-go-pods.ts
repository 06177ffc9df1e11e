import type { Clock } from '#base/clock.ts';
import { type Monotonic, seconds } from '#base/units.ts';
import type { Informer } from '#kubernetes/informer/informer.ts';
import { outdatedPods } from '#statefulset/revision.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import { indexes as setIndexes } from '../watch/group-sets.ts';
import type { OpenDisruptions } from '../write/open-disruptions.ts';
import type { BegunDisruption, DisruptionsUnderWay } from './group-budgets.ts';

/** What {@link LetGoPods} reads. */
export interface LetGoPorts {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly statefulSets: Pick<Informer<StatefulSetView>, 'lister'>;
  readonly pods: Pick<Informer<PodView>, 'lister'>;
  readonly open: OpenDisruptions;
  /** Reports whether the partition of a set is written by the capability whose pods these are. */
  readonly isOurs: (set: StatefulSetView) => boolean;
}

/** By then the cache shows the partition, or the request has come to nothing (D-50). */
const horizon = seconds(120);

/**
 * The pods that were let go and have not gone yet, by what the sets show: a partition is a permission that holds until its
 * pod has been replaced, however long the controller takes, and whichever process lowered it.
 */
export class LetGoPods implements DisruptionsUnderWay {
  readonly #ports: LetGoPorts;
  /** Pods that a partition which was sent lets go, and when that left, by uid; oldest first. */
  readonly #sent = new Map<string, { readonly pod: PodView; readonly at: Monotonic }>();

  constructor(ports: LetGoPorts) {
    this.#ports = ports;
  }

  /** Notes that a partition leaves now that lets `pod` go. */
  sent(pod: PodView): void {
    this.#sent.delete(pod.uid);
    this.#sent.set(pod.uid, { pod, at: this.#ports.clock.monotonic() });
  }

  isUnderWay(uid: string): boolean {
    return this.begun().some(({ pod }) => pod.uid === uid);
  }

  begun(): readonly BegunDisruption[] {
    const { open, clock, statefulSets } = this.#ports;
    const now = clock.monotonic();
    for (const [uid, { at }] of this.#sent) {
      if (now - at < horizon) break;
      this.#sent.delete(uid);
    }
    const pods = new Map([...this.#sent].map(([uid, { pod }]) => [uid, pod]));
    for (const set of statefulSets.lister.list()) {
      const pod = this.#shownBy(set);
      if (pod !== undefined) pods.set(pod.uid, pod);
    }
    return [...open.pods(), ...pods.values()].map((pod) => ({ pod, by: 'rollout' }));
  }

  #shownBy(set: StatefulSetView): PodView | undefined {
    const { partition, replicas, updateStrategy } = set.spec;
    if (!this.#ports.isOurs(set)) return undefined;
    if (updateStrategy !== 'RollingUpdate' || partition >= replicas) return undefined;
    const pods = this.#ports.pods.lister.by(setIndexes.controller, set.uid);
    const [next] = outdatedPods(set, pods, set.status.updateRevision);
    return next !== undefined && next.index >= partition ? next.pod : undefined;
  }
}
