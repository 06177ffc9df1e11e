import { isJsonObject, type JsonObject, jsonIn } from '#base/json.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { arrayAt, integerAt, objectsIn, stringAt } from '#statefulset/parse-fields.ts';
import { type DeployRecord, type PhaseRecord, recordAnnotation } from './deploy-record.ts';

/** Reads the record that an object carries; undefined where it has none, or one that is broken. */
export function recordOf({ metadata }: KubernetesObject): DeployRecord | undefined {
  const record = jsonIn(metadata.annotations?.[recordAnnotation] ?? '');
  if (!isJsonObject(record)) return undefined;
  const id = stringAt(record, 'id');
  const current = integerAt(record, 'current') ?? -1;
  const phases = objectsIn(arrayAt(record, 'phases')).flatMap(phaseOf);
  if (id === undefined || phases[current] === undefined) return undefined;
  return { id, isAutomatic: record['autoAdvance'] === true, phases, current };
}

function phaseOf(phase: JsonObject): readonly PhaseRecord[] {
  const percent = integerAt(phase, 'percent');
  if (percent === undefined) return [];
  const result = stringAt(phase, 'result');
  const seen = arrayAt(phase, 'seen').filter((each) => typeof each === 'string');
  const isKnown = result === 'success' || result === 'failure';
  const stageId = stringAt(phase, 'stageId');
  return [{ percent, stageId, result: isKnown ? result : undefined, seen }];
}
