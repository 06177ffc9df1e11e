import type { PodView, StatefulSetView } from './view.ts';

/**
 * Reports whether `pod` is older than `set`: another set of that name made it, which was deleted without its pods, and `set` has
 * adopted it. Of two that were made in the same second, or whose times cannot be read, nobody can tell: no.
 */
export function isMadeOver(set: Pick<StatefulSetView, 'createdAt'>, pod: PodView): boolean {
  if (set.createdAt === undefined || pod.createdAt === undefined) return false;
  return pod.createdAt < set.createdAt;
}
