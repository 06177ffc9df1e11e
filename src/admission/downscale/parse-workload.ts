import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { invalid, type Parsed, problemText, valid } from '#base/parsed.ts';
import { isKnownKind } from '../review/known-kinds.ts';
import { formatKind, kindOf, unknownKindText } from '../review/object-kind.ts';
import type { GroupVersionKind } from '../review/review.ts';
import { type ReviewedObject, type WorkloadKind, workloadKindOf } from './workload.ts';

const maxReplicas = 2 ** 31 - 1;

/** Reads `request.object` or `request.oldObject`. Total; only members that a webhook reads are looked at. */
export function parseWorkload(value: JsonValue | undefined): ReviewedObject {
  if (value === undefined || value === null) {
    return { kind: 'absent', text: 'there is no object to decode' };
  }
  if (!isJsonObject(value)) return malformed('the object is not a JSON object', undefined);
  const kind = kindOf(value);
  // It may be a Scale, whose labels are not those of what is scaled.
  if (kind.kind === 'invalid') return malformed(kind.problem.message, undefined);
  const is = workloadKindOf(kind.value);
  return is === undefined ? foreign(kind.value) : parseKnown(value, is);
}

function malformed(text: string, labels: ReadonlyMap<string, string> | undefined): ReviewedObject {
  return { kind: 'malformed', text, labels };
}

/**
 * Returns what is reviewed of another type. The peer tells types that it knows, but not here, from types that it cannot
 * decode.
 */
function foreign(kind: GroupVersionKind): ReviewedObject {
  const text = isKnownKind(kind) ? unsupportedTypeText(kind) : unknownKindText(kind);
  return { kind: 'foreign', text };
}

/** Returns what the peer says of a type without replicas; the name in brackets is that of its type. */
function unsupportedTypeText(kind: GroupVersionKind): string {
  return `unsupported type ${formatKind(kind)} (go type *${kind.version}.${kind.kind})`;
}

function parseKnown(raw: JsonObject, is: WorkloadKind): ReviewedObject {
  const labels = labelsOf(raw);
  if (labels.kind === 'invalid') return malformed(problemText(labels.problem), undefined);
  const replicas = replicasOf(raw, is);
  if (replicas.kind === 'invalid') {
    return malformed(problemText(replicas.problem), is === 'Scale' ? undefined : labels.value);
  }
  return { kind: 'workload', is, replicas: replicas.value, labels: labels.value, raw };
}

const none: ReadonlyMap<string, string> = new Map();

/** Returns the labels of an object; absent and null count as none. */
export function labelsOf(raw: JsonObject): Parsed<ReadonlyMap<string, string>> {
  return textMap(raw, 'labels');
}

/** Returns the annotations of an object; absent and null count as none. */
export function annotationsOf(raw: JsonObject): Parsed<ReadonlyMap<string, string>> {
  return textMap(raw, 'annotations');
}

function textMap(
  raw: JsonObject,
  member: 'labels' | 'annotations',
): Parsed<ReadonlyMap<string, string>> {
  const { metadata } = raw;
  if (isAbsent(metadata)) return valid(none);
  if (!isJsonObject(metadata)) return invalid('metadata', 'must be an object');
  const map = metadata[member];
  if (isAbsent(map)) return valid(none);
  if (!isJsonObject(map)) return invalid(`metadata.${member}`, 'must be an object');
  const texts = new Map<string, string>();
  for (const key of Object.keys(map)) {
    // Go reads null as an empty text.
    const value = map[key] ?? '';
    if (typeof value !== 'string') {
      return invalid(`metadata.${member}[${JSON.stringify(key)}]`, 'must be a string');
    }
    texts.set(key, value);
  }
  return valid(texts);
}

function isAbsent(value: JsonValue | undefined): boolean {
  return value === undefined || value === null;
}

function replicasOf(raw: JsonObject, is: WorkloadKind): Parsed<number | null> {
  const { spec } = raw;
  const absent = is === 'Scale' ? 0 : null;
  if (isAbsent(spec)) return valid(absent);
  if (!isJsonObject(spec)) return invalid('spec', 'must be an object');
  const { replicas } = spec;
  if (isCount(replicas)) return valid(replicas);
  if (isAbsent(replicas)) return valid(absent);
  return invalid('spec.replicas', `must be an integer from 0 to ${maxReplicas}`);
}

/** The API server refuses negative counts only after it has asked mutating webhooks. */
function isCount(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= maxReplicas;
}
