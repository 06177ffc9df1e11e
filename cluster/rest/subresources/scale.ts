import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { changedUid, invalid, staleResourceVersion } from '../../errors/status-errors.ts';
import { metadataOf, numberField, objectField, textField } from '../../json/json-fields.ts';
import type { ScalePaths } from '../../resource-row.ts';
import { selectorText } from '../../selector/selector-text.ts';
import type { ApiCall } from '../request/server-context.ts';
import type { Lens } from '../verbs/update.ts';

const SCALE_METADATA = [
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'creationTimestamp',
] as const;

/** Returns the `autoscaling/v1` Scale of `parent`: its metadata without labels, its counts and its selector as text (SU-1). */
export function scaleOf(parent: JsonObject, paths?: ScalePaths): JsonObject {
  const stored = metadataOf(parent);
  const metadata: Record<string, JsonObject[string]> = {};
  for (const member of SCALE_METADATA) {
    if (stored[member] !== undefined) metadata[member] = stored[member];
  }
  const counts = paths === undefined ? usualCounts(parent) : countsAt(parent, paths);
  const { selector } = counts;
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata,
    // None at all is left out, as Go leaves out zero.
    spec: counts.wanted === 0 ? {} : { replicas: counts.wanted },
    status: {
      replicas: counts.seen,
      ...(selector === '' ? {} : { selector }),
    },
  };
}

interface ScaleCounts {
  readonly wanted: number;
  readonly seen: number;
  readonly selector: string;
}

function usualCounts(parent: JsonObject): ScaleCounts {
  const spec = objectField(parent, 'spec');
  return {
    wanted: numberField(spec, 'replicas') ?? 0,
    seen: numberField(objectField(parent, 'status'), 'replicas') ?? 0,
    selector: selectorText(objectField(spec, 'selector')),
  };
}

function valueAt(parent: JsonObject, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = parent;
  for (const member of path.split('.').slice(1)) {
    value = isJsonObject(value) ? value[member] : undefined;
  }
  return value;
}

/** Returns the counts; an absent number reads as 0 (SU-2). */
function countsAt(parent: JsonObject, paths: ScalePaths): ScaleCounts {
  const number = (path: string): number => {
    const value = valueAt(parent, path);
    return typeof value === 'number' ? value : 0;
  };
  const selector = paths.selector === undefined ? '' : valueAt(parent, paths.selector);
  return {
    wanted: number(paths.specReplicas),
    seen: number(paths.statusReplicas),
    selector: typeof selector === 'string' ? selector : '',
  };
}

function withNumberAt(object: JsonObject, path: readonly string[], value: number): JsonObject {
  const [member = '', ...rest] = path;
  if (rest.length === 0) return { ...object, [member]: value };
  return { ...object, [member]: withNumberAt(objectField(object, member), rest, value) };
}

/** Returns the object as its Scale, and changed by one (SU-1). */
export function scaleLens(call: ApiCall): Lens {
  const { scalePaths } = call.route.row;
  return {
    shown: (stored) => scaleOf(stored, scalePaths),
    applied: (stored, scale) => withScale(call, stored, scale),
  };
}

/** Returns `scale` with the members that every Scale has. */
export function completeScale(call: ApiCall, scale: JsonObject): JsonObject {
  const { name, namespace } = call.route;
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, ...metadataOf(scale) },
    spec: objectField(scale, 'spec'),
    status: { replicas: 0, ...objectField(scale, 'status') },
  };
}

/**
 * Returns `stored` with the replicas of `scale`.
 *
 * @throws {StatusError} 409 for a foreign uid or version, 422 for a negative count
 */
function withScale(call: ApiCall, stored: JsonObject, scale: JsonObject): JsonObject {
  const { row, name } = call.route;
  const given = metadataOf(scale);
  const version = textField(given, 'resourceVersion');
  const resourceVersion = textField(metadataOf(stored), 'resourceVersion');
  const uid = textField(metadataOf(stored), 'uid');
  if (version !== '' && version !== resourceVersion) throw staleResourceVersion(row, name);
  const givenUid = textField(given, 'uid');
  if (givenUid !== '' && givenUid !== uid) {
    throw changedUid(row, name, { wanted: givenUid, seen: uid });
  }
  const replicas = numberField(objectField(scale, 'spec'), 'replicas') ?? 0;
  if (!Number.isInteger(replicas) || replicas < 0) {
    throw invalid(row, name, [
      {
        reason: 'FieldValueInvalid',
        message: `Invalid value: ${replicas}: must be greater than or equal to 0`,
        field: 'spec.replicas',
      },
    ]);
  }
  const path = row.scalePaths?.specReplicas ?? '.spec.replicas';
  return withNumberAt(stored, path.split('.').slice(1), replicas);
}
