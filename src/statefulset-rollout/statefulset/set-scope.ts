import type { SetScope } from '#control/watch/group-sets.ts';

/** Returns the set of `name`, as consistent reads look at it. */
export function scopeOf(namespace: string, name: string): SetScope {
  return { namespace, name, matchLabels: new Map() };
}
