import { isJsonArray, isJsonObject, type JsonValue, jsonIn } from '#base/json.ts';
import { type Millis, seconds } from '#base/units.ts';
import type { KubernetesObject } from '../object.ts';
import { ENDED_TERM, type LeaseRecord, type Term, termText, UNDER_WAY } from './lease-record.ts';

/** Returns what `object` says as a Lease; a field that is missing or of another kind counts as absent, and nothing throws. */
export function parseLease(object: KubernetesObject): LeaseRecord {
  const { uid, resourceVersion, annotations } = object.metadata;
  const spec = isJsonObject(object['spec']) ? object['spec'] : {};
  const said = isJsonObject(annotations) ? annotations : {};
  const holder = text(spec['holderIdentity']);
  const transitions = count(spec['leaseTransitions']);
  return {
    object,
    uid,
    resourceVersion,
    holder,
    transitions,
    duration: duration(spec['leaseDurationSeconds']),
    endedTerm: text(said[ENDED_TERM]),
    underWay: underWay(text(said[UNDER_WAY]), { uid, transitions, id: holder ?? '' }),
    fingerprint: JSON.stringify([uid, spec]),
  };
}

/** Returns the requests that `said` names for `term`; what another term said is of no use. */
function underWay(said: string | undefined, term: Term): LeaseRecord['underWay'] {
  const value = said === undefined ? undefined : jsonIn(said);
  if (!isJsonObject(value) || value['term'] !== termText(term)) return undefined;
  const { requests } = value;
  if (!isJsonArray(requests)) return undefined;
  const names = requests.filter((each) => typeof each === 'string');
  return names.length === requests.length ? names : undefined;
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
