/** What a group went through, as the history of its pods shows it. */
import type { JsonObject } from '#base/json.ts';
import { objectsAt, textAt } from '#cluster/json/read-json.ts';
import type { Change, Env } from '../../scenarios/env.ts';
import { type Group, setName } from '../../scenarios/group.ts';

/** A complete group, and all that happens to it. */
export type WatchedGroup = Group & Pick<Env, 'history' | 'until'>;

/** What a rollout took away, whichever replica did it. */
export interface Disruption {
  /** Zones with an unavailable pod at once, at most. */
  readonly zones: number;
  /** Pods of one zone that were unavailable at once, at most. */
  readonly most: number;
  readonly removed: number;
}

/** Returns what the history of the group's pods shows from the change `since` on. */
export function disruption(group: WatchedGroup, since: number): Disruption {
  const { zones, replicas } = group;
  const available = new Set<string>();
  const seen = { zones: 0, most: 0, removed: 0 };
  const unavailableIn = (zone: string): number => {
    const names = Array.from({ length: replicas }, (_, ordinal) => `${setName(zone)}-${ordinal}`);
    return names.filter((name) => !available.has(name)).length;
  };
  for (const [at, change] of group.history().entries()) {
    if (change.resource !== 'pods') continue;
    if (isAvailable(change)) available.add(change.name);
    else available.delete(change.name);
    if (at < since) continue;
    const counts = zones.map(unavailableIn);
    seen.zones = Math.max(seen.zones, counts.filter((count) => count > 0).length);
    seen.most = Math.max(seen.most, ...counts);
    if (change.verb === 'delete') seen.removed += 1;
  }
  return seen;
}

function isAvailable({ after }: Change): boolean {
  return (
    after !== undefined && textAt(after, 'metadata', 'deletionTimestamp') === '' && isReady(after)
  );
}

function isReady(pod: JsonObject): boolean {
  const conditions = objectsAt(pod, 'status', 'conditions');
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}
