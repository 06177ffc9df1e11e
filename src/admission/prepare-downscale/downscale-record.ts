import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import { parseTimestamp } from '#base/time/timestamp.ts';
import { type Instant, seconds } from '#base/units.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { LAST_DOWNSCALE, parseZoneEntry } from '#statefulset/last-downscale.ts';
import type { PreparedSet } from '../downscale/prepared-set.ts';
import { callOf, type Deadline } from '../review/deadline.ts';
import { denyForFailure } from '../review/dependency.ts';
import { deny, type ReviewDecision } from '../review/review.ts';
import { minimumTimeProblem, type SiblingTime, type TimeProblem } from './minimum-time.ts';
import type { Sibling } from './siblings.ts';
import { wholeSeconds } from './time-text.ts';
import type { ZoneMap, ZoneTracker } from './zone-tracker.ts';

/** One down-scale, as the record of down-scales sees it. */
export interface RecordedDownscale {
  readonly namespace: string;
  readonly name: string;
  readonly set: PreparedSet;
  /** Empty outside of a group. */
  readonly siblings: readonly Sibling[];
  /** Makes the whole sentence of a refusal. */
  readonly refusal: (tail: string) => string;
}

/** Where the times of the last down-scales are kept: annotations, or the ConfigMap of the zone tracker. */
export interface DownscaleRecord {
  /** Returns why the zone has to wait, or the record cannot be read; undefined when it may go on. */
  check(downscale: RecordedDownscale, deadline: Deadline): Promise<ReviewDecision | undefined>;
  /** Notes the down-scale, after the pods were prepared. @returns why it may not happen after all */
  note(downscale: RecordedDownscale, deadline: Deadline): Promise<ReviewDecision | undefined>;
}

/** What the records work with. */
export interface DownscaleRecordOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A last-downscale annotation that is younger is not written again (D-26). */
const justWritten = seconds(60);

const unreadableAnnotations = 'parsing downscale annotations failed.';
const unwrittenAnnotation = 'adding an annotation to the statefulset failed.';
const unloadedZones = 'loading zones failed.';
const unreadableZones = 'parsing parsing downscale timestamps from the zone ConfigMap failed.';
const unwrittenZones = 'setting downscale timestamp in the zone ConfigMap failed.';

/** Returns the record of times in the annotation `grafana.com/last-downscale` of each set. */
export function annotationRecord(options: DownscaleRecordOptions): DownscaleRecord {
  const { client, clock, log } = options;
  return {
    async check({ siblings, refusal }) {
      const times = siblings.map(({ name, minimum, lastDownscale: last }) => ({
        name,
        minimum,
        last,
      }));
      const problem = minimumTimeProblem(times, clock.now());
      return problem && decisionOf(problem, { refusal, log, unreadable: unreadableAnnotations });
    },
    async note({ namespace, name, set, refusal }, deadline) {
      const now = clock.now();
      if (isJustWritten(set.lastDownscale, now)) return undefined;
      const annotations = { [LAST_DOWNSCALE]: wholeSeconds(now) };
      const body = { kind: 'strategic', document: { metadata: { annotations } } } as const;
      try {
        const write = { body, ...callOf(deadline) };
        await client.patch(resourceTypes.statefulSets, { namespace, name }, write);
        return undefined;
      } catch (error) {
        log.error('the last downscale cannot be noted', { namespace, name, err: errorOf(error) });
        return denyForFailure(refusal(unwrittenAnnotation), error);
      }
    },
  };
}

/** Writing again would move the set's version under the very request that is being answered. */
function isJustWritten(last: string | undefined, now: Instant): boolean {
  const at = last === undefined ? undefined : parseTimestamp(last, LAST_DOWNSCALE);
  return at?.kind === 'valid' && Math.abs(now - at.value) < justWritten;
}

function decisionOf(
  problem: TimeProblem,
  {
    refusal,
    log,
    unreadable,
  }: Pick<RecordedDownscale, 'refusal'> & {
    readonly log: Logger;
    readonly unreadable: string;
  },
): ReviewDecision {
  if (problem.kind === 'waits') return deny(refusal(problem.tail));
  const { sibling, why } = problem;
  log.error('the last downscale of a zone cannot be read', { statefulset: sibling, err: why });
  return deny(refusal(unreadable), 'Unreadable');
}

/** Returns the record of times in the ConfigMap of the zone tracker. */
export function zoneTrackerRecord(
  tracker: ZoneTracker,
  options: DownscaleRecordOptions,
): DownscaleRecord {
  const { log } = options;
  const zones = new Zones(tracker, options);
  return {
    async check(downscale, deadline) {
      if (downscale.set.group === '') return undefined;
      return zones.check(downscale, deadline);
    },
    async note(downscale, deadline) {
      try {
        return await zones.note(downscale, deadline);
      } catch (error) {
        log.error('the last downscale cannot be noted', {
          namespace: downscale.namespace,
          name: downscale.name,
          err: errorOf(error),
        });
        return denyForFailure(downscale.refusal(unwrittenZones), error);
      }
    },
  };
}

class Zones {
  readonly #tracker: ZoneTracker;
  readonly #options: DownscaleRecordOptions;

  constructor(tracker: ZoneTracker, options: DownscaleRecordOptions) {
    this.#tracker = tracker;
    this.#options = options;
  }

  async check(
    downscale: RecordedDownscale,
    deadline: Deadline,
  ): Promise<ReviewDecision | undefined> {
    const { namespace, name, siblings, refusal } = downscale;
    const { log } = this.#options;
    let map: ZoneMap;
    try {
      const sets = [name, ...siblings.map((sibling) => sibling.name)];
      map = await this.#tracker.load(namespace, sets, deadline);
    } catch (error) {
      log.error('the zone ConfigMap cannot be loaded', { namespace, err: errorOf(error) });
      return denyForFailure(refusal(unloadedZones), error);
    }
    const decision = this.#problemIn(map, downscale);
    if (decision !== undefined) await this.#repair(map, downscale, deadline);
    return decision;
  }

  async note(
    downscale: RecordedDownscale,
    deadline: Deadline,
  ): Promise<ReviewDecision | undefined> {
    const { namespace, name } = downscale;
    const from = await this.#tracker.read(namespace, deadline);
    let decision = this.#problemIn(from, downscale);
    if (decision !== undefined) return decision;
    const mayWrite = (map: ZoneMap): boolean => {
      decision = this.#problemIn(map, downscale);
      return decision === undefined;
    };
    await this.#tracker.note({ namespace, set: name }, deadline, { from, mayWrite });
    return decision;
  }

  /**
   * Returns why a zone has to wait by the entries of its own group; those of others are none of our business, however they
   * look.
   */
  #problemIn(map: ZoneMap, { siblings, refusal }: RecordedDownscale): ReviewDecision | undefined {
    const { log, clock } = this.#options;
    const corrupt = siblings.find(({ name }) => isCorrupt(map, name));
    if (corrupt !== undefined) {
      log.error('the zone ConfigMap has an entry that is not JSON', { statefulset: corrupt.name });
      return deny(refusal(unloadedZones), 'Unreadable');
    }
    const problem = minimumTimeProblem(timesIn(map, siblings), clock.now());
    return problem && decisionOf(problem, { refusal, log, unreadable: unreadableZones });
  }

  /** Sets an entry that cannot be read to now: its zone is waited for once, and then the group goes on (LIVE-3). */
  async #repair(
    map: ZoneMap,
    { namespace, siblings }: RecordedDownscale,
    deadline: Deadline,
  ): Promise<void> {
    const sets = siblings.map(({ name }) => name).filter((name) => isUnreadable(map, name));
    if (sets.length === 0) return;
    const { log } = this.#options;
    try {
      await this.#tracker.repair(namespace, { map, sets }, deadline);
      log.warn('unreadable entries of the zone ConfigMap were set to now', { statefulsets: sets });
    } catch (error) {
      log.warn('the zone ConfigMap cannot be repaired', { namespace, err: errorOf(error) });
    }
  }
}

function isCorrupt({ entries }: ZoneMap, name: string): boolean {
  const text = entries.get(name);
  return text !== undefined && parseZoneEntry(text).kind === 'corrupt';
}

function isUnreadable({ entries }: ZoneMap, name: string): boolean {
  const text = entries.get(name);
  if (text === undefined) return false;
  const entry = parseZoneEntry(text);
  return entry.kind === 'corrupt' || parseTimestamp(entry.at ?? '', name).kind === 'invalid';
}

function timesIn({ entries }: ZoneMap, siblings: readonly Sibling[]): readonly SiblingTime[] {
  return siblings.map(({ name, minimum }) => {
    const text = entries.get(name);
    const entry = text === undefined ? undefined : parseZoneEntry(text);
    return { name, minimum, last: entry?.kind === 'noted' ? (entry.at ?? '') : undefined };
  });
}
