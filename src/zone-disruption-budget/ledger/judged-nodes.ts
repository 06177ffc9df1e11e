import type { Standing } from '#disruption/standing.ts';
import type { PodView } from '#statefulset/view.ts';

/** Returns the names of the nodes of `pod` and of all pods that are away: by their zones is judged whether it may go. */
export function judgedNodes({ nodeName }: PodView, { places }: Standing): ReadonlySet<string> {
  const away = [...places.values()].filter(({ obstacle }) => obstacle !== undefined);
  const nodes = away.flatMap(({ pod }) => pod?.nodeName ?? []);
  return new Set(nodeName === undefined ? nodes : [nodeName, ...nodes]);
}
