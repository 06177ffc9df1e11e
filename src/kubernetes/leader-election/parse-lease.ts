import { isJsonObject, type JsonValue } from '#base/json.ts';
import { type Millis, seconds } from '#base/units.ts';
import type { KubernetesObject } from '../object.ts';
import { ENDED_TERM, type LeaseRecord } from './lease-record.ts';

/** Returns what `object` says as a Lease; a field that is missing or of another kind counts as absent, and nothing throws. */
export function parseLease(object: KubernetesObject): LeaseRecord {
  const { uid, resourceVersion, annotations } = object.metadata;
  const spec = isJsonObject(object['spec']) ? object['spec'] : {};
  return {
    object,
    uid,
    resourceVersion,
    holder: text(spec['holderIdentity']),
    transitions: count(spec['leaseTransitions']),
    duration: duration(spec['leaseDurationSeconds']),
    endedTerm: isJsonObject(annotations) ? text(annotations[ENDED_TERM]) : undefined,
    fingerprint: JSON.stringify([uid, spec]),
  };
}

function text(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function count(value: JsonValue | undefined): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}

function duration(value: JsonValue | undefined): Millis | undefined {
  return typeof value === 'number' && value > 0 ? seconds(value) : undefined;
}
