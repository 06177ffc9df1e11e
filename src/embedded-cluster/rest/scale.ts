import { isJsonObject, type JsonObject } from '#base/json.ts';
import {
  arrayField,
  metadataOf,
  numberField,
  objectField,
  textField,
  textMapField,
  textsField,
} from '#embedded-cluster/json-fields.ts';
import { conflict, invalid, staleResourceVersion } from '#embedded-cluster/status-errors.ts';
import type { ApiCall } from './server-context.ts';

const SCALE_METADATA = [
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'creationTimestamp',
] as const;

/** The `autoscaling/v1` Scale of `parent`: its metadata without labels, its counts and its selector as text (SU-1). */
export function scaleOf(parent: JsonObject): JsonObject {
  const stored = metadataOf(parent);
  const metadata: Record<string, JsonObject[string]> = {};
  for (const member of SCALE_METADATA) {
    if (stored[member] !== undefined) metadata[member] = stored[member];
  }
  const selector = selectorText(objectField(objectField(parent, 'spec'), 'selector'));
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata,
    spec: { replicas: numberField(objectField(parent, 'spec'), 'replicas') ?? 0 },
    status: {
      replicas: numberField(objectField(parent, 'status'), 'replicas') ?? 0,
      ...(selector === '' ? {} : { selector }),
    },
  };
}

/** `stored` with the replicas of `scale`. @throws {StatusError} 409 for a foreign uid or version, 422 for a negative count */
export function withScale(call: ApiCall, stored: JsonObject, scale: JsonObject): JsonObject {
  const { row, name } = call.route;
  const given = metadataOf(scale);
  const version = textField(given, 'resourceVersion');
  const resourceVersion = textField(metadataOf(stored), 'resourceVersion');
  const uid = textField(metadataOf(stored), 'uid');
  if (version !== '' && version !== resourceVersion) throw staleResourceVersion(row, name);
  const givenUid = textField(given, 'uid');
  if (givenUid !== '' && givenUid !== uid) {
    throw conflict(
      row,
      name,
      `Precondition failed: UID in precondition: ${givenUid}, UID in object meta: ${uid}`,
    );
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
  return { ...stored, spec: { ...objectField(stored, 'spec'), replicas } };
}

const OPERATORS: Readonly<Record<string, string>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: '',
  DoesNotExist: '!',
};

/** A LabelSelector in its text form, requirements in the order of their keys. */
export function selectorText(selector: JsonObject): string {
  const labels = Object.entries(textMapField(selector, 'matchLabels')).map(
    ([key, value]) => [key, `${key}=${value}`] as const,
  );
  const expressions = arrayField(selector, 'matchExpressions')
    .filter(isJsonObject)
    .map((expression) => [textField(expression, 'key'), expressionText(expression)] as const);
  return [...labels, ...expressions]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, text]) => text)
    .join(',');
}

function expressionText(expression: JsonObject): string {
  const key = textField(expression, 'key');
  const operator = OPERATORS[textField(expression, 'operator')] ?? '';
  if (operator === '' || operator === '!') return `${operator}${key}`;
  return `${key} ${operator} (${textsField(expression, 'values').toSorted().join(',')})`;
}
