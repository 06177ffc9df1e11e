import type { Monotonic } from '#base/units.ts';
import type { Cached, Lister } from '#kubernetes/informer/informer.ts';
import { compareRevisions } from '#kubernetes/revision.ts';
import type { Newer } from './basis.ts';

/** One answered list without resourceVersion. */
export interface Read<View> {
  /** The revision at which it was read. */
  readonly revision: string;
  readonly sentAt: Monotonic;
  /** Keyed by uid. */
  readonly objects: ReadonlyMap<string, View>;
}

/** Objects, and which of them a cache shows newer than the list that they are of. */
export interface Known<View> {
  readonly views: readonly View[];
  readonly newer: Newer;
}

/** Nothing is newer than what was read. */
export const nothingNewer: Newer = Object.freeze({});

/**
 * Returns the objects of `read`, each in its newest state, and those of `cached` that were made after it; what it lacks is
 * gone, and so is what had the name of one that was made since. The newest state may be that of an object which has left
 * what was read: the caller looks at that.
 */
export function overlaid<View extends Cached>(
  read: Read<View>,
  { cached, lister }: { readonly cached: readonly View[]; readonly lister: Lister<View> },
): Known<View> {
  const found = new Map<string, View>();
  const newer: Record<string, string> = {};
  const lay = (view: View): void => {
    const known = read.objects.get(view.uid)?.resourceVersion ?? read.revision;
    if (compareRevisions(view.resourceVersion, known) <= 0) return;
    found.set(view.name, view);
    newer[view.name] = view.resourceVersion;
  };
  for (const view of read.objects.values()) {
    found.set(view.name, view);
    const shown = lister.get(view.namespace, view.name);
    if (shown !== undefined) lay(shown);
  }
  for (const view of cached) lay(view);
  return { views: [...found.values()], newer };
}
