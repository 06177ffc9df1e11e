/**
 * What a Lease says, and what is written into one: client-go's fields, our label and our annotation. Nothing here
 * decides who holds it; that is `plan-lease.ts`.
 */
import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { Instant, Millis } from '#base/units.ts';
import type { KubernetesObject } from '../object.ts';

/** Says which term ended in good order: `<uid>/<leaseTransitions>/<id>`; only ever set together with an empty holder. */
export const ENDED_TERM = 'rollout-operator/ended-term';
/**
 * Says which requests the holder may have under way, as JSON: `{"term": …, "renewTime": …, "requests": […]}`. It holds for that term and that
 * renewal alone: one that somebody has put back says nothing.
 */
export const UNDER_WAY = 'rollout-operator/under-way';
/** Says which namespaces are served under a Lease, so that two Leases for the same ones can be found. */
export const SCOPE_LABEL = 'rollout-operator/scope';
/** The value of {@link SCOPE_LABEL} for all namespaces; no namespace may have capitals. */
export const ALL_NAMESPACES = 'AllNamespaces';

/** The largest number that the API stores in `leaseTransitions`. */
const longestCount = 2 ** 31 - 1;

/** One holder's stay: no other process, and no other stay of the same process, has the same three. */
export interface Term {
  /** The uid of the Lease: one that was deleted and made again starts again. */
  readonly uid: string;
  /** `leaseTransitions` while it lasts, >= 0. */
  readonly transitions: number;
  /** The random identity of the process. */
  readonly id: string;
}

/** One reading of the Lease. What cannot be read counts as absent, never as an error. */
export interface LeaseRecord {
  /** As it was read: a replace keeps all that is not ours. */
  readonly object: KubernetesObject;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Undefined where it has no holder. */
  readonly holder: string | undefined;
  /** `leaseTransitions`; 0 where it is absent or unreadable. */
  readonly transitions: number;
  /** `leaseDurationSeconds`, > 0; undefined where it is absent or unreadable. */
  readonly duration: Millis | undefined;
  /** `renewTime`; undefined where it is absent or unreadable. */
  readonly renewedAt: Instant | undefined;
  /** The value of {@link ENDED_TERM}. */
  readonly endedTerm: string | undefined;
  /** The only requests that its holder may have under way, by {@link UNDER_WAY}; undefined where the holder does not say. */
  readonly underWay: readonly string[] | undefined;
  /** The same text as long as no process renews or takes it; labels and annotations do not count. */
  readonly fingerprint: string;
}

/** What a write puts into the Lease. */
export interface Holding {
  readonly id: string;
  readonly leaseDuration: Millis;
  /** See {@link SCOPE_LABEL}. */
  readonly scope: string;
  readonly now: Instant;
  /** The requests that may be under way; undefined: the Lease says nothing of them. */
  readonly underWay: readonly string[] | undefined;
}

/** Returns `term` as the annotation has it. */
export function termText({ uid, transitions, id }: Term): string {
  return `${uid}/${transitions}/${id}`;
}

/** Reports whether `record` is of `term`. */
export function isOfTerm(record: LeaseRecord, { uid, transitions, id }: Term): boolean {
  return record.uid === uid && record.transitions === transitions && record.holder === id;
}

/** `leaseTransitions` of the next holder; starts again at 1 behind the largest number that the API stores. */
export function nextTransitions(record: LeaseRecord): number {
  return record.transitions >= longestCount ? 1 : record.transitions + 1;
}

/** Returns the Lease that is created where there is none; its first holder has 0 transitions, as client-go's. */
export function createdLease(name: string, holding: Holding): JsonObject {
  const at = microTime(holding.now);
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, labels: { [SCOPE_LABEL]: holding.scope } },
    spec: { ...heldBy(holding), acquireTime: at, renewTime: at, leaseTransitions: 0 },
  };
}

/** Returns `record` taken over: a new term, and no word of an earlier one's end. */
export function acquiredLease(record: LeaseRecord, holding: Holding): JsonObject {
  const at = microTime(holding.now);
  const leaseTransitions = nextTransitions(record);
  const times = { acquireTime: at, renewTime: at, leaseTransitions };
  return changed(record, holding, { times, transitions: leaseTransitions });
}

/** Returns `record` renewed: only the time of renewal moves, and it always does. */
export function renewedLease(record: LeaseRecord, holding: Holding): JsonObject {
  const at = microTime(holding.now);
  // A clock that was set back may give the same text twice, and followers would see no renewal.
  const isRepeated = specOf(record)['renewTime'] === at;
  const times = { renewTime: isRepeated ? at.replace('000Z', '001Z') : at };
  return changed(record, holding, { times, transitions: record.transitions });
}

/** Returns `record` given up in good order: it has no holder, and `term` is said to have ended, in one update. */
export function endedLease(record: LeaseRecord, term: Term, now: Instant): JsonObject {
  const { metadata } = record.object;
  const { [UNDER_WAY]: _underWay, ...others } = metadata.annotations ?? {};
  const annotations = { ...others, [ENDED_TERM]: termText(term) };
  const spec = { ...specOf(record), holderIdentity: '', renewTime: microTime(now) };
  return { ...record.object, metadata: { ...metadata, annotations }, spec };
}

function changed(
  record: LeaseRecord,
  holding: Holding,
  { times, transitions }: { readonly times: JsonObject; readonly transitions: number },
): JsonObject {
  const { metadata } = record.object;
  const { [ENDED_TERM]: _ended, [UNDER_WAY]: _before, ...others } = metadata.annotations ?? {};
  const { id, underWay: requests } = holding;
  const term = termText({ uid: record.uid, transitions, id });
  const annotations = {
    ...others,
    ...(requests !== undefined && {
      [UNDER_WAY]: JSON.stringify({ term, renewTime: times['renewTime'], requests }),
    }),
  };
  const labels = { ...metadata.labels, [SCOPE_LABEL]: holding.scope };
  const spec = { ...specOf(record), ...heldBy(holding), ...times };
  return { ...record.object, metadata: { ...metadata, labels, annotations }, spec };
}

function heldBy({ id, leaseDuration }: Pick<Holding, 'id' | 'leaseDuration'>): JsonObject {
  // Rounded up: a follower with other flags must not believe in less than we do.
  return { holderIdentity: id, leaseDurationSeconds: Math.ceil(leaseDuration / 1_000) };
}

function specOf({ object }: LeaseRecord): JsonObject {
  const spec = object['spec'];
  return isJsonObject(spec) ? spec : {};
}

/** `at` as a MicroTime, such as `2026-01-01T00:00:00.250000Z`: six digits, of which we know three. */
function microTime(at: Instant): string {
  return new Date(at).toISOString().replace('Z', '000Z');
}
