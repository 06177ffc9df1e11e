import { type Monotonic, monotonic } from '#base/units.ts';
import type { Informer } from '#kubernetes/informer/informer.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import type { Plan } from '../decision/decision.ts';
import { isWished } from '../decision/reasons.ts';

/** The caches that a group is seen through. */
export interface WatchedViews {
  readonly pods: Informer<PodView>;
  readonly statefulSets: Informer<StatefulSetView>;
}

/** Reports whether a group is on its way: something is done, or waited for without a user's wish. */
export function isUnderWay({ decisions }: Plan): boolean {
  return decisions.some(
    ({ kind, because }) => kind !== 'warn' && (kind !== 'hold' || !isWished(because.reason)),
  );
}

/** Returns why what is seen of any group may not be what there is (D-54); undefined while the caches are kept up to date. */
export function stalenessOf({ pods, statefulSets }: WatchedViews): string | undefined {
  return (pods.staleness ?? statefulSets.staleness)?.message;
}

/** Returns when it is next worth asking whether the server still answers, as nothing was delivered for long. */
export function nextProbeOf({ pods, statefulSets }: WatchedViews): Monotonic {
  return monotonic(Math.min(pods.nextProbe, statefulSets.nextProbe));
}

/** Asks the server about each cache that has delivered nothing for long. {@link stalenessOf} reports the result. */
export async function probe(
  { pods, statefulSets }: WatchedViews,
  signal: AbortSignal,
): Promise<void> {
  await Promise.all([pods.probe(signal), statefulSets.probe(signal)]);
}
