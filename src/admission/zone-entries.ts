import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import type { Instant } from '#base/units.ts';
import { wholeSeconds } from './time-text.ts';

/** What the ConfigMap says of one set (Z2). */
export type ZoneEntry =
  /** RFC 3339, or whatever stands there; empty where the member is missing. */
  | { readonly kind: 'noted'; readonly at: string }
  /** No JSON object with a text. */
  | { readonly kind: 'corrupt' };

/** The entry of a set that was scaled down at `at`. */
export function formatZoneEntry(at: Instant): string {
  return JSON.stringify({ lastDownscaled: wholeSeconds(at) });
}

/** Reads the value of one key; the member may be written in any letter case. */
export function parseZoneEntry(text: string): ZoneEntry {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // What it is not is the answer.
    return { kind: 'corrupt' };
  }
  if (value === null) return { kind: 'noted', at: '' };
  if (!isJsonObject(value)) return { kind: 'corrupt' };
  const at = memberOf(value) ?? '';
  return typeof at === 'string' ? { kind: 'noted', at } : { kind: 'corrupt' };
}

function memberOf(value: JsonObject): JsonValue | undefined {
  return Object.entries(value).find(([key]) => key.toLowerCase() === 'lastdownscaled')?.[1];
}

/** The texts of a ConfigMap's `data`, by key: names of sets are free, `constructor` is one. */
export function zoneData(configMap: JsonObject): ReadonlyMap<string, string> {
  const { data } = configMap;
  const entries = isJsonObject(data) ? Object.entries(data) : [];
  return new Map(entries.flatMap(([key, text]) => (typeof text === 'string' ? [[key, text]] : [])));
}
