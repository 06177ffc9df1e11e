import { isJsonObject, type JsonObject, type JsonValue, jsonIn } from '#base/json.ts';
import type { AnnotationKey, LabelKey } from './known-keys.ts';

/** Annotation of a StatefulSet: when it was last scaled down, as a webhook noted it (IN-17). */
export const LAST_DOWNSCALE = 'grafana.com/last-downscale' satisfies AnnotationKey;

/**
 * Annotation of a StatefulSet: the Go duration that must lie between the down-scales of two zones (IN-16). Up to v0.38 the peer
 * read a label of that name.
 */
export const MINIMUM_TIME = 'grafana.com/min-time-between-zones-downscale' satisfies AnnotationKey &
  LabelKey;

/** The text of a minimum time, and the field that it is in. */
export interface MinimumTimeText {
  readonly map: 'annotations' | 'labels';
  readonly path: string;
  readonly text: string;
}

/** Chooses between the `annotation` and the `label` of a set: one that is empty says as little as one that is not there. */
export function minimumTimeText(
  annotation: string | undefined,
  label: string | undefined,
): MinimumTimeText | undefined {
  if (annotation !== undefined && annotation !== '') return textIn('annotations', annotation);
  return label === undefined ? undefined : textIn('labels', label);
}

function textIn(map: MinimumTimeText['map'], text: string): MinimumTimeText {
  return { map, path: `metadata.${map}["${MINIMUM_TIME}"]`, text };
}

/** What the ConfigMap of the zone tracker says of one set. */
export type ZoneEntry =
  /** RFC 3339, or what is there; undefined where the member is missing or null. */
  | { readonly kind: 'noted'; readonly at: string | undefined }
  /** No JSON object with a text. */
  | { readonly kind: 'corrupt' };

/** Reads the value of one key, `{"lastDownscaled":"<RFC 3339>"}` with its member in any letter case. */
export function parseZoneEntry(text: string): ZoneEntry {
  const value = jsonIn(text);
  if (value === null) return { kind: 'noted', at: undefined };
  if (!isJsonObject(value)) return { kind: 'corrupt' };
  const at = memberOf(value) ?? undefined;
  return at === undefined || typeof at === 'string' ? { kind: 'noted', at } : { kind: 'corrupt' };
}

function memberOf(value: JsonObject): JsonValue | undefined {
  return Object.entries(value).find(([key]) => key.toLowerCase() === 'lastdownscaled')?.[1];
}
