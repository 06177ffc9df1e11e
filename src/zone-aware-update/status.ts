import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';

/** What the program keeps in the status of a ZoneAwareUpdate, but for conditions. */
export interface UpdateStatus {
  /** The current revision of the StatefulSet when this was written; empty until then, here and below. */
  readonly currentRevision: string;
  /** Also what the count of steps belongs to. */
  readonly updateRevision: string;
  /** Pods not on the update revision, by zone, before the deletions of the last step. */
  readonly oldReplicas: ReadonlyMap<string, number>;
  /** Steps done in this rollout, and the exponent of the next one; 0 while none is under way. */
  readonly updateStep: number;
  /** Pods that the last step deleted; 0 once the rollout is over. */
  readonly deletedReplicas: number;
  /** Whether the alarm paused the rollout when this was written. */
  readonly isPaused: boolean;
}

/** Reads the status of a stored ZoneAwareUpdate, which any client may have edited: what cannot be read is not written. */
export function parseUpdateStatus({ status }: JsonObject): UpdateStatus {
  const written = isJsonObject(status) ? status : {};
  const { oldReplicas } = written;
  const zones = Object.entries(isJsonObject(oldReplicas) ? oldReplicas : {});
  return {
    currentRevision: textOf(written['currentRevision']),
    updateRevision: textOf(written['updateRevision']),
    oldReplicas: new Map(zones.map(([zone, count]) => [zone, countOf(count)])),
    updateStep: countOf(written['updateStep']),
    deletedReplicas: countOf(written['deletedReplicas']),
    isPaused: written['pausedRollout'] === true,
  };
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function countOf(value: JsonValue | undefined): number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : 0;
}

/** Returns `status` as it is stored: what is empty, 0 or false is left out (ZAU-5). */
export function formatUpdateStatus(status: UpdateStatus): JsonObject {
  const { currentRevision, updateRevision, oldReplicas, updateStep, deletedReplicas, isPaused } =
    status;
  return {
    ...(currentRevision !== '' && { currentRevision }),
    ...(updateRevision !== '' && { updateRevision }),
    ...(oldReplicas.size > 0 && {
      oldReplicas: Object.fromEntries([...oldReplicas].toSorted(byZone)),
    }),
    ...(updateStep > 0 && { updateStep }),
    ...(deletedReplicas > 0 && { deletedReplicas }),
    ...(isPaused && { pausedRollout: true }),
  };
}

/** Orders zones as a map of Go is written. */
function byZone([one]: readonly [string, number], [other]: readonly [string, number]): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

/**
 * Returns `counts` as they are stored after `stored`: a zone that is known stays, with 0 where it has no old pods any more
 * (ZAU-44).
 */
export function mergedCounts(
  stored: ReadonlyMap<string, number>,
  counts: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  const known = [...stored.keys()].map((zone) => [zone, counts.get(zone) ?? 0] as const);
  return new Map([...known, ...counts]);
}
