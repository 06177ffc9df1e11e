import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import { isJsonObject, type JsonValue } from '#base/json.ts';
import type { Parsed } from '#base/parsed.ts';
import { invalid } from '#base/parsed.ts';
import { parseTimestamp } from '#base/timestamp.ts';
import { after, type Instant, type Millis } from '#base/units.ts';
import { isNotFound } from '#kubernetes/api-error.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { parseZoneEntry } from '#statefulset/last-downscale.ts';
import type { ZoneTracker } from './snapshot.ts';

/** Where the times of the last down-scales are kept in zone-tracker mode. */
export interface ZoneTrackerOptions {
  readonly client: Client;
  readonly clock: Clock;
  /** Name of the ConfigMap in the namespace of the sets. */
  readonly configMapName: string;
  /** How soon a read that failed is tried again. */
  readonly retry: Millis;
}

/** Reads the ConfigMap in which a webhook notes when each zone was last scaled down (D-23); never written here. */
export async function readZoneTracker(
  namespace: string,
  options: ZoneTrackerOptions,
  signal: AbortSignal,
): Promise<ZoneTracker> {
  const { client, clock, configMapName: name, retry } = options;
  try {
    const { data } = await client.get(resourceTypes.configMaps, { namespace, name }, { signal });
    const entries = isJsonObject(data) ? Object.entries(data) : [];
    return {
      kind: 'read',
      times: new Map(entries.map(([set, entry]) => [set, parseEntry(entry, { set, name })])),
    };
  } catch (error) {
    // Nobody has been scaled down yet.
    if (isNotFound(error)) return { kind: 'read', times: new Map() };
    const message = errorOf(error).message;
    return { kind: 'unreadable', message, until: after(clock.now(), retry) };
  }
}

/** The time in one entry. */
function parseEntry(
  entry: JsonValue | undefined,
  { set, name }: { readonly set: string; readonly name: string },
): Parsed<Instant> {
  const path = `data["${set}"] of ConfigMap "${name}"`;
  const said = typeof entry === 'string' ? parseZoneEntry(entry) : undefined;
  if (said?.kind === 'noted' && said.at !== undefined) return parseTimestamp(said.at, path);
  return invalid(
    path,
    `must be {"lastDownscaled":"<RFC 3339 time>"}: got ${JSON.stringify(entry)}`,
  );
}
