import { isJsonArray, isJsonObject, type JsonValue, jsonIn } from '#base/json.ts';
import { type Instant, instant, type Millis, seconds } from '#base/units.ts';
import type { KubernetesObject } from '../object.ts';
import { ENDED_TERM, type LeaseRecord, termText, UNDER_WAY } from './lease-record.ts';

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
    renewedAt: instantIn(text(spec['renewTime'])),
    underWay: underWay(text(said[UNDER_WAY]), {
      term: termText({ uid, transitions, id: holder ?? '' }),
      renewTime: text(spec['renewTime']),
    }),
    fingerprint: JSON.stringify([uid, spec]),
  };
}

/** Returns the requests that `said` names for the very renewal that the Lease shows; what was said before is of no use. */
function underWay(
  said: string | undefined,
  { term, renewTime }: { readonly term: string; readonly renewTime: string | undefined },
): LeaseRecord['underWay'] {
  const value = said === undefined ? undefined : jsonIn(said);
  if (!isJsonObject(value) || value['term'] !== term || value['renewTime'] !== renewTime)
    return undefined;
  const { requests } = value;
  if (!isJsonArray(requests)) return undefined;
  const names = requests.filter((each) => typeof each === 'string');
  return names.length === requests.length ? names : undefined;
}

function instantIn(stated: string | undefined): Instant | undefined {
  const at = stated === undefined ? Number.NaN : Date.parse(stated);
  return Number.isNaN(at) ? undefined : instant(at);
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
