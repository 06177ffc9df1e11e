import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { Instant } from '#base/units.ts';
import { wholeSeconds } from './time-text.ts';

/** Returns the entry of a set that was scaled down at `at`. */
export function formatZoneEntry(at: Instant): string {
  return JSON.stringify({ lastDownscaled: wholeSeconds(at) });
}

/** Returns the texts of a ConfigMap's `data`, by key: names of sets are free, `constructor` is one. */
export function zoneData(configMap: JsonObject): ReadonlyMap<string, string> {
  const { data } = configMap;
  const entries = isJsonObject(data) ? Object.entries(data) : [];
  return new Map(entries.flatMap(([key, text]) => (typeof text === 'string' ? [[key, text]] : [])));
}
