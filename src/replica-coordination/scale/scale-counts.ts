import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';

/** What a Scale says. */
export interface ScaleCounts {
  /** `spec.replicas`. */
  readonly wanted: number;
  /** `status.replicas`. */
  readonly reported: number;
  /** The revision of the object that is scaled. */
  readonly revision: string;
}

/**
 * Returns the counts of a Scale; an absent number is 0, as Go leaves zero out. Undefined where it is no whole Scale: that is
 * no zero (SCAL-1).
 */
export function countsOf(scale: JsonValue | undefined): ScaleCounts | undefined {
  if (!isJsonObject(scale)) return undefined;
  const { metadata, spec, status, kind } = scale;
  if (kind !== 'Scale' || !isJsonObject(spec)) return undefined;
  const revision = isJsonObject(metadata) ? metadata['resourceVersion'] : undefined;
  const wanted = countAt(spec);
  const reported = countAt(status);
  if (typeof revision !== 'string' || wanted === undefined || reported === undefined)
    return undefined;
  return { wanted, reported, revision };
}

function countAt(part: JsonObject[string]): number | undefined {
  if (part === undefined) return 0;
  if (!isJsonObject(part)) return undefined;
  const count = part['replicas'] ?? 0;
  return typeof count === 'number' && Number.isInteger(count) && count >= 0 ? count : undefined;
}
