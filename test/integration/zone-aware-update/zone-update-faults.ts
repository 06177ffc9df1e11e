/** Holds each deletion of a ZoneAwareUpdate against the moment in which it was sent, by what the store saw. */
import type { JsonObject } from '#base/json.ts';
import type { Instant } from '#base/units.ts';
import type { Call, Commit } from '#cluster/event-log.ts';
import { numberAt, objectsAt, textAt } from '#cluster/json/read-json.ts';

/** What is judged. */
export interface DeletionHistory {
  readonly commits: readonly Commit[];
  readonly calls: readonly Call[];
  /** Requests for a pod that came to the API server late, by its name: the revision of the store when they left. */
  readonly late: ReadonlyMap<string, number>;
  /** When a process was killed whose requests arrive all the same, and the revision of the store then. */
  readonly death?: Death | undefined;
  /** What the alarm was, each time that it was asked, in order. */
  readonly alarms: readonly { readonly at: Instant; readonly state: string }[];
  /** As many pods as may be away at once by our deletions. */
  readonly cap: number;
}

/** The end of a process: what arrives of it afterwards had left before. */
export interface Death {
  readonly user: string;
  readonly at: Instant;
  readonly revision: number;
}

interface Place {
  readonly uid: string;
  readonly zone: string;
  readonly isReady: boolean;
  readonly revision: string;
}

/** The set as the store had it at one instant. */
interface World {
  readonly places: ReadonlyMap<string, Place>;
  readonly updateRevision: string;
  readonly replicas: number;
}

/**
 * Returns what is wrong, one sentence each: a pod that was sent away while a pod of another zone was away (EXCL-1), as one more
 * than may be (MAXU-1), although it ran what it should (REV-1), by a request that was meant for an
 * earlier pod of its name, or although the alarm had not been fine when it was asked last (GATE-1).
 */
export function deletionFaults(history: DeletionHistory): readonly string[] {
  const { commits, alarms, cap } = history;
  return commits.filter(isOurDeletion).flatMap((commit) => {
    const { name } = commit;
    const { sentAt, left } = departureOf(commit, history);
    const sent = worldAt(commits, left ?? commit.revision - 1);
    const alarm = alarms.findLast((each) => each.at <= sentAt)?.state;
    const faults = [
      ...exclusionFaults(name, sent),
      // A late one adds to what the world took meanwhile.
      ...(left === undefined ? limitFaults(worldAt(commits, commit.revision), cap) : []),
      ...revisionFaults(name, sent),
      ...(sent.places.get(name)?.uid === textAt(commit.before, 'metadata', 'uid')
        ? []
        : ['though its deletion was sent for the pod that was there before']),
      ...(alarm === 'OK' ? [] : [`although the alarm was ${alarm ?? 'never asked'}`]),
    ];
    return faults.map((fault) => `${name} was sent away at ${sentAt} ${fault}`);
  });
}

/** When a deletion was sent; `left` is the revision of the store then, of one that arrived late. */
function departureOf(
  { name, user, callId, at }: Commit,
  { calls, late, death }: DeletionHistory,
): { readonly sentAt: Instant; readonly left?: number | undefined } {
  if (death?.user === user && death.at < at) return { sentAt: death.at, left: death.revision };
  const sentAt = calls.find((call) => call.callId === callId)?.startedAt ?? at;
  return { sentAt, left: sentAt < at ? late.get(name) : undefined };
}

/** Returns how often our program took each of the pods that were ever in a slot, by name of the slot. */
export function deletionsBySlot(commits: readonly Commit[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { name } of commits.filter(isOurDeletion)) {
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

function exclusionFaults(pod: string, { places, replicas }: World): readonly string[] {
  const own = places.get(pod)?.zone;
  const others = [...places].filter(([, { zone, isReady }]) => zone !== own && !isReady);
  const missing = replicas - places.size;
  return [
    ...others.map(([name, { zone }]) => `while ${name} of ${zone} was away`),
    ...(missing > 0 ? [`while ${missing} pods were missing`] : []),
  ];
}

function limitFaults({ places, replicas }: World, cap: number): readonly string[] {
  const away = [...places.values()].filter(({ isReady }) => !isReady).length;
  const missing = replicas - places.size;
  return away + missing > cap ? [`as number ${away + missing} of ${cap}`] : [];
}

function revisionFaults(pod: string, { places, updateRevision }: World): readonly string[] {
  return places.get(pod)?.revision === updateRevision ? ['although it ran what it should'] : [];
}

function isOurDeletion({ resource, name, user, before, after }: Commit): boolean {
  if (resource !== 'pods' || !name.startsWith('db-') || !user.startsWith('operator-')) return false;
  return !isGoing(before) && isGoing(after);
}

function isGoing(pod: JsonObject | undefined): boolean {
  return pod === undefined || textAt(pod, 'metadata', 'deletionTimestamp') !== '';
}

function worldAt(commits: readonly Commit[], revision: number): World {
  const past = commits.filter((commit) => commit.revision <= revision);
  const set = past.findLast(
    ({ resource, name }) => resource === 'statefulsets.apps' && name === 'db',
  );
  const replicas = numberAt(set?.after, 'spec', 'replicas') ?? 0;
  const zones = new Map<string, string>();
  const places = new Map<string, Place>();
  for (const commit of past) {
    if (commit.resource === 'nodes') seeNode(zones, commit);
    else if (isPodBelow(replicas, commit)) see(places, commit, zones);
  }
  return { places, updateRevision: textAt(set?.after, 'status', 'updateRevision'), replicas };
}

/** A node that loses its label stands where it stood. */
function seeNode(zones: Map<string, string>, { name, after }: Commit): void {
  const zone = textAt(after, 'metadata', 'labels', 'topology.kubernetes.io/zone');
  if (zone !== '') zones.set(name, zone);
}

/** Whether a commit is of a pod of the set; what a scale-down takes is not away. */
function isPodBelow(replicas: number, { resource, namespace, name }: Commit): boolean {
  if (resource !== 'pods' || namespace !== 'demo' || !name.startsWith('db-')) return false;
  return Number(name.slice('db-'.length)) < replicas;
}

/** A pod that is gone leaves its slot not ready, in the zone where it was. */
function see(
  places: Map<string, Place>,
  { name, after }: Commit,
  zones: ReadonlyMap<string, string>,
): void {
  const zone = zones.get(textAt(after, 'spec', 'nodeName')) ?? places.get(name)?.zone ?? '';
  const isReady =
    !isGoing(after) &&
    objectsAt(after, 'status', 'conditions').some(
      ({ type, status }) => type === 'Ready' && status === 'True',
    );
  const revision = textAt(after, 'metadata', 'labels', 'controller-revision-hash');
  places.set(name, { uid: textAt(after, 'metadata', 'uid'), zone, isReady, revision });
}
