import { type Instant, type Monotonic, millis } from '#base/units.ts';
import type { SetSnapshot } from '#control/watch/group-sets.ts';
import { lastDownscaleOf } from './api.ts';
import type { SeenTime, ZoneTrackerReading } from './snapshot.ts';

/** What is known of the sets of one group. */
interface Stored {
  readonly sets: readonly SetSnapshot[];
  readonly zoneTracker: ZoneTrackerReading;
}

/** One instant on both clocks. */
interface SeenMoment {
  readonly now: Instant;
  readonly takenAt: Monotonic;
}

/**
 * Since when this process has known the times that others stored, so that a wait that counts from one goes on as it was
 * when this process first saw it, whatever the wall clock does meanwhile (D-55).
 */
export class SeenDownscales {
  /** Keyed by the uid of the set. */
  readonly #seen = new Map<string, readonly SeenTime[]>();

  /** Returns the times that `stored` has for each set, by its name; one that is new has been known since `moment`. */
  of({ sets, zoneTracker }: Stored, moment: SeenMoment): ReadonlyMap<string, readonly SeenTime[]> {
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
      const seen = merged([...kept, ...times.map((at) => seenSince(at, before, moment))]);
      if (seen.length === 0 && before.length === 0) continue;
      this.#seen.set(set.uid, seen);
      found.set(set.name, seen);
    }
    return found;
  }

  /** Forgets the set, which is gone. */
  forget(uid: string): void {
    this.#seen.delete(uid);
  }
}

function seenSince(at: Instant, before: readonly SeenTime[], moment: SeenMoment): SeenTime {
  const known = before.find((each) => each.at === at);
  if (known !== undefined) return known;
  return { at, since: moment.takenAt, elapsedThen: millis(Math.max(0, moment.now - at)) };
}

/** Returns the times of both, each once. */
function merged(times: readonly SeenTime[]): readonly SeenTime[] {
  return [...new Map(times.map((each) => [each.at, each])).values()];
}
