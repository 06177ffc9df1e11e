import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import { isJsonObject, type JsonValue } from '#base/json.ts';
import type { Parsed } from '#base/parsed.ts';
import { invalid } from '#base/parsed.ts';
import { quoted } from '#base/text/quoted.ts';
import { parseTimestamp } from '#base/time/timestamp.ts';
import { type Instant, type Millis, type Monotonic, monotonic } from '#base/units.ts';
import { maxDecisionAge } from '#control/consistent-read/basis.ts';
import { isGivenUp } from '#control/write/unless-sent.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { isNotFound } from '#kubernetes/transport/api-error.ts';
import { parseGroupKey } from '#statefulset/group.ts';
import { parseZoneEntry } from '#statefulset/last-downscale.ts';
import type { ZoneTrackerReading } from './snapshot.ts';

/** Where the times of the last down-scales are kept in zone-tracker mode. */
export interface ZoneTrackerPorts {
  readonly client: Client;
  readonly clock: Clock;
  /** Name of the ConfigMap in the namespace of the sets; undefined when the mode is off (D-23). */
  readonly zoneTracker: string | undefined;
  /** How soon a read that failed is tried again. */
  readonly retry: Millis;
}

interface Reading {
  readonly tracker: ZoneTrackerReading;
  /** When it was asked for. */
  readonly at: Monotonic;
}

/** The ConfigMap in which a webhook notes when each zone was last scaled down (D-23); never written here. */
export class ZoneTrackers {
  readonly #ports: ZoneTrackerPorts;
  /** Keyed by the key of the group. */
  readonly #readings = new Map<string, Reading>();

  constructor(ports: ZoneTrackerPorts) {
    this.#ports = ports;
  }

  /** Returns what is known of it for the group `key`; too old to act on counts as not read (D-3). */
  of(key: string): ZoneTrackerReading {
    if (this.#ports.zoneTracker === undefined) return { kind: 'off' };
    const reading = this.#readings.get(key);
    if (reading === undefined) return { kind: 'unread' };
    const now = this.#ports.clock.monotonic();
    if (isRefused(reading, now)) return reading.tracker;
    const isYoung = now - reading.at <= maxDecisionAge;
    return isYoung && reading.tracker.kind === 'read' ? reading.tracker : { kind: 'unread' };
  }

  /** Reads it for the group `key`. */
  async read(key: string, signal: AbortSignal): Promise<void> {
    const { clock } = this.#ports;
    const at = clock.monotonic();
    const tracker = await this.#read(parseGroupKey(key).namespace, signal);
    const took = clock.monotonic() - at;
    const isLate = tracker.kind === 'read' && took > maxDecisionAge;
    const message = `it took ${Math.round(took / 1_000)} s to be read, and is too old to act on`;
    this.#readings.set(key, { tracker: isLate ? this.#refused(message) : tracker, at });
  }

  /** Begins a new pass: what was read is read again, and what could not be read not before its time. */
  begin(key: string): void {
    const reading = this.#readings.get(key);
    const isKept = reading !== undefined && isRefused(reading, this.#ports.clock.monotonic());
    if (!isKept) this.#readings.delete(key);
  }

  /** Forgets the group, which is gone. */
  forget(key: string): void {
    this.#readings.delete(key);
  }

  async #read(namespace: string, signal: AbortSignal): Promise<ZoneTrackerReading> {
    const { client, zoneTracker: name = '' } = this.#ports;
    try {
      const { data } = await client.get(resourceTypes.configMaps, { namespace, name }, { signal });
      const entries = isJsonObject(data) ? Object.entries(data) : [];
      return {
        kind: 'read',
        times: new Map(entries.map(([set, entry]) => [set, parseEntry(entry, { set, name })])),
      };
    } catch (error) {
      if (isGivenUp(error, signal)) throw error;
      // No zone has been scaled down yet.
      if (isNotFound(error)) return { kind: 'read', times: new Map() };
      return this.#refused(errorOf(error).message);
    }
  }

  #refused(message: string): ZoneTrackerReading {
    const { clock, retry } = this.#ports;
    return { kind: 'unreadable', message, lookAgainAt: monotonic(clock.monotonic() + retry) };
  }
}

/** Reports whether it could not be read, and is not asked for again yet. */
function isRefused({ tracker }: Reading, now: Monotonic): boolean {
  return tracker.kind === 'unreadable' && (tracker.lookAgainAt ?? now) > now;
}

/** Returns the time in one entry. */
function parseEntry(
  entry: JsonValue | undefined,
  { set, name }: { readonly set: string; readonly name: string },
): Parsed<Instant> {
  const path = `data["${set}"] of ConfigMap "${name}"`;
  const said = typeof entry === 'string' ? parseZoneEntry(entry) : undefined;
  if (said?.kind === 'noted' && said.at !== undefined) return parseTimestamp(said.at, path);
  const seen = typeof entry === 'string' ? quoted(entry) : JSON.stringify(entry);
  return invalid(path, `must be {"lastDownscaled":"<RFC 3339 time>"}: got ${seen}`);
}
