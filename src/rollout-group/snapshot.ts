import type { Millis } from '#base/units.ts';
import type { Conflicts } from '#control/plan/group-moment.ts';
import type { SetSnapshot } from '#control/watch/group-sets.ts';
import { parseGroupKey } from '#statefulset/group.ts';
import type { Watched } from '#statefulset/view.ts';

/** All that one decision about a group needs to know; immutable. */
export interface GroupSnapshot {
  readonly namespace: string;
  readonly group: string;
  /** Sorted by name, byte order (RC-21). */
  readonly sets: readonly SetSnapshot[];
  /** uids of pods with a deletion that was sent and is not yet seen, or has no answer (D-7). */
  readonly leaving: ReadonlySet<string>;
  /** What else names a set, by its uid: no controller moves it then (D-63). */
  readonly conflicts: Conflicts;
  /** How long a pod is not ready without a break before that alone makes it stuck; undefined: never. */
  readonly stuckAfter: Millis | undefined;
  /** What this process has seen of the pods itself. */
  readonly watched: Watched;
}

/** Returns the snapshot of the group `key`. */
export function snapshotOf(
  key: string,
  sets: readonly SetSnapshot[],
  rest: Pick<GroupSnapshot, 'leaving' | 'conflicts' | 'stuckAfter' | 'watched'>,
): GroupSnapshot {
  return { ...parseGroupKey(key), sets, ...rest };
}
