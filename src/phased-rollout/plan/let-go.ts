import type { Clock } from '#base/clock.ts';
import { type Monotonic, seconds } from '#base/units.ts';
import type { BegunDisruption, DisruptionsUnderWay } from '#control/budget/group-budgets.ts';
import { indexes as setIndexes } from '#control/watch/group-sets.ts';
import type { OpenDisruptions } from '#control/write/open-disruptions.ts';
import type { Informer } from '#kubernetes/informer/informer.ts';
import { parseOrdinal } from '#statefulset/parse-ordinal.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import { ownerAnnotation } from '../parse-resource.ts';
import type { TargetSet } from '../snapshot.ts';
import { isRollback, type RolloutStatus } from '../status.ts';
import { isToBeChecked } from './made-again.ts';

/** What {@link LetGoPods} reads. */
export interface LetGoPorts {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly statefulSets: Pick<Informer<StatefulSetView>, 'lister'>;
  readonly pods: Pick<Informer<PodView>, 'lister'>;
  readonly open: OpenDisruptions;
}

/** By then the cache shows the partition, or the request has come to nothing (D-50). */
const horizon = seconds(120);

/**
 * Returns the pod that goes when the partition of `target` is lowered next; undefined where none does. The controller takes
 * the highest ordinal first, one at a time.
 */
export function nextToGo(
  target: Pick<TargetSet, 'set' | 'pods'>,
  status: RolloutStatus,
): PodView | undefined {
  const { set, pods } = target;
  const { currentRevision, updateRevision } = set.status;
  const isAgain = isToBeChecked(target, status);
  if (!isAgain && isRollback(status.step?.status)) return podToGoBack(target);
  const outdated = outdatedOf(set, pods, updateRevision);
  // Pods that go back to what ran before are let go together.
  if (currentRevision === updateRevision && !isAgain) return outdated[0]?.pod;
  return outdated.find(({ index }) => index === set.spec.partition - 1)?.pod;
}

/**
 * Returns the pod that is replaced next while all go back to the current revision: one that is not ready before those
 * that are, then the highest ordinal; undefined where none runs another revision, but for those that are going.
 */
export function podToGoBack({ set, pods }: Pick<TargetSet, 'set' | 'pods'>): PodView | undefined {
  const others = outdatedOf(set, pods, set.status.currentRevision)
    .map(({ pod }) => pod)
    .filter(({ isTerminating }) => !isTerminating);
  return others.find(({ readySince }) => readySince === undefined) ?? others[0];
}

interface Indexed {
  readonly pod: PodView;
  /** From the first ordinal. */
  readonly index: number;
}

/** Returns the pods on another revision than `wanted`, the highest ordinal first. */
function outdatedOf(
  set: StatefulSetView,
  pods: readonly PodView[],
  wanted: string,
): readonly Indexed[] {
  const { ordinalsStart, replicas } = set.spec;
  return pods
    .filter(({ revision }) => revision !== wanted)
    .map((pod) => ({ pod, index: (parseOrdinal(pod.name, set.name) ?? -1) - ordinalsStart }))
    .filter(({ index }) => index >= 0 && index < replicas)
    .toSorted((one, other) => other.index - one.index);
}

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
    if (set.annotations[ownerAnnotation] === undefined) return undefined;
    if (updateStrategy !== 'RollingUpdate' || partition >= replicas) return undefined;
    const pods = this.#ports.pods.lister.by(setIndexes.controller, set.uid);
    const [next] = outdatedOf(set, pods, set.status.updateRevision);
    return next !== undefined && next.index >= partition ? next.pod : undefined;
  }
}
