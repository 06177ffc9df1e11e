import type { Clock } from '#base/clock.ts';
import type { Millis } from '#base/units.ts';
import type { Informer } from '#kubernetes/informer/informer.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import type { ConsistentReads } from '../consistent-read/consistent-reads.ts';
import type { HoldPorts } from '../plan/set-holds.ts';
import type { SetScope } from '../watch/group-sets.ts';
import type { WatchedPods } from '../watch/watched-pods.ts';
import type { OpenDisruptions } from '../write/open-disruptions.ts';

/** What moments of a resource that rolls out one set are made of, whatever its kind. */
export interface ResourceMomentPorts extends HoldPorts {
  readonly clock: Clock;
  readonly statefulSets: Informer<StatefulSetView>;
  readonly pods: Informer<PodView>;
  readonly reads: ConsistentReads;
  readonly open: OpenDisruptions;
  readonly watched: WatchedPods;
  readonly stuckAfter: Millis | undefined;
}

/** What the set of a name is read through. */
interface SetPorts {
  readonly statefulSets: Pick<Informer<StatefulSetView>, 'lister'>;
  readonly pods: Pick<Informer<PodView>, 'lister'>;
  readonly reads: Pick<ConsistentReads, 'over'>;
}

/** Returns the set of `name`, as consistent reads look at it. */
export function namedScope(namespace: string, name: string): SetScope {
  return { namespace, name, matchLabels: new Map() };
}

/** Returns the set of `name` with its pods, and by what that view is proven; nothing of either where there is no name. */
export function namedSet(
  namespace: string,
  name: string | undefined,
  { reads, statefulSets, pods }: SetPorts,
): ReturnType<ConsistentReads['over']> {
  if (name === undefined) return { sets: [], proof: { pods: undefined, statefulSets: undefined } };
  const listers = { statefulSets: statefulSets.lister, pods: pods.lister };
  return reads.over(namedScope(namespace, name), listers);
}
