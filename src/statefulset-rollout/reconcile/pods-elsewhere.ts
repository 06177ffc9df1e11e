import type { Instant, Monotonic } from '#base/units.ts';
import type { ConsistentReads } from '#control/consistent-read/consistent-reads.ts';
import { namedSet } from '#control/resource/resource-moment.ts';
import type { WatchedPods } from '#control/watch/watched-pods.ts';
import type { Informer } from '#kubernetes/informer/informer.ts';
import { slotsOf } from '#statefulset/slot.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import { nothingElsewhere, type PodsElsewhere } from '../snapshot.ts';
import type { PartitionWrites } from '../statefulset/partition-writes.ts';
import { rolloutAnnotation } from '../statefulset/wanted-set.ts';
import { type NativeBudgetView, selectingBudgets } from './native-budget.ts';

/** What other sets are looked at through. */
export interface ElsewherePorts {
  readonly statefulSets: Pick<Informer<StatefulSetView>, 'lister'>;
  readonly pods: Pick<Informer<PodView>, 'lister'>;
  readonly budgets: Pick<Informer<NativeBudgetView>, 'lister'>;
  readonly reads: Pick<ConsistentReads, 'over'>;
  readonly watched: Pick<WatchedPods, 'of'>;
  readonly partitions: PartitionWrites;
}

/** The present of both clocks. */
interface Now {
  readonly now: Instant;
  readonly monotonic: Monotonic;
}

/**
 * Returns which pods of other pinned sets are away, or may be shortly, as their controllers take them by themselves:
 * those above a partition. No budget is asked for these, and its status reports them only once they have gone.
 *
 * @param set whose budgets count
 */
export function podsElsewhere(set: StatefulSetView, at: Now, ports: ElsewherePorts): PodsElsewhere {
  const all = [...ports.budgets.lister.list()].filter(
    ({ namespace }) => namespace === set.namespace,
  );
  const own = all.filter((each) => selectingBudgets([each], set.spec.templateLabels).length > 0);
  if (own.length === 0) return nothingElsewhere;
  const others = [...ports.statefulSets.lister.list()].filter(
    (each) =>
      each.namespace === set.namespace &&
      each.uid !== set.uid &&
      isPinning(each) &&
      selectingBudgets(own, each.spec.templateLabels).length > 0,
  );
  const counted = others
    .map((each) => ({ ...each, count: goingIn(each, at, ports) }))
    .filter(({ count }) => count > 0);
  return {
    count: counted.reduce((sum, { count }) => sum + count, 0),
    replicas: others.reduce((sum, { spec }) => sum + spec.replicas, 0),
    sets: counted.map(({ name }) => name),
  };
}

/** Whether a rollout of ours has it roll by itself. */
function isPinning({ annotations, spec }: StatefulSetView): boolean {
  return spec.updateStrategy === 'RollingUpdate' && annotations[rolloutAnnotation] !== undefined;
}

function goingIn(set: StatefulSetView, { now, monotonic }: Now, ports: ElsewherePorts): number {
  const { sets } = namedSet(set.namespace, set.name, ports);
  const [found] = sets;
  if (found === undefined) return 0;
  if (ports.partitions.isUnseen(found.set, monotonic)) return Number.POSITIVE_INFINITY;
  const { partition, ordinalsStart } = found.set.spec;
  const leaving = new Set<string>();
  return slotsOf({ ...found, leaving, watched: ports.watched.of(sets) }, now)
    .filter(({ ordinal }) => ordinal - ordinalsStart >= partition)
    .filter(
      (slot) => slot.kind !== 'available' || slot.pod.revision !== found.set.status.updateRevision,
    ).length;
}
