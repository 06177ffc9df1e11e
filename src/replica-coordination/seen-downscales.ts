import type { Instant, Monotonic } from '#base/units.ts';
import type { SetSnapshot } from '#control/group-sets.ts';
import { lastDownscaleOf } from './api.ts';
import type { SeenTime, ZoneTracker } from './snapshot.ts';

/** What is known of the sets of one group. */
interface Stored {
  readonly sets: readonly SetSnapshot[];
  readonly zoneTracker: ZoneTracker;
}

/**
 * Since when this process has known the times that others stored, so that a wait that counts from one ends at the latest
 * when this process has watched it pass, whatever the wall clock does meanwhile (D-55).
 */
export class SeenDownscales {
  /** By uid of the set. */
  readonly #seen = new Map<string, readonly SeenTime[]>();

  /** The times that `stored` has for each set, by its name; one that is new is known since `now`. */
  of({ sets, zoneTracker }: Stored, now: Monotonic): ReadonlyMap<string, readonly SeenTime[]> {
    const found = new Map<string, readonly SeenTime[]>();
    for (const { set } of sets) {
      const tracked = zoneTracker.kind === 'read' ? zoneTracker.times.get(set.name) : undefined;
      const times = [lastDownscaleOf(set), tracked].flatMap((time) =>
        time?.kind === 'valid' ? [time.value] : [],
      );
      const before = this.#seen.get(set.uid) ?? [];
      // An unread ConfigMap says nothing of what it had: that stays known.
      const isWhole = zoneTracker.kind === 'read' || zoneTracker.kind === 'off';
      const kept = isWhole ? [] : before;
      const seen = merged([...kept, ...times.map((at) => seenSince(at, before, now))]);
      if (seen.length === 0 && before.length === 0) continue;
      this.#seen.set(set.uid, seen);
      found.set(set.name, seen);
    }
    return found;
  }

  /** The set is gone. */
  forget(uid: string): void {
    this.#seen.delete(uid);
  }
}

function seenSince(at: Instant, before: readonly SeenTime[], now: Monotonic): SeenTime {
  return before.find((each) => each.at === at) ?? { at, since: now };
}

/** Each time once. */
function merged(times: readonly SeenTime[]): readonly SeenTime[] {
  return [...new Map(times.map((each) => [each.at, each])).values()];
}
