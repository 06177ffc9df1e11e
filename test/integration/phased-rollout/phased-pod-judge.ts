/** Holds partitions that fell against the pods of the set, by what the store saw and nothing else (MAXU-1). */
import type { JsonObject } from '#base/json.ts';
import type { Call, Commit } from '#cluster/event-log.ts';
import { numberAt, objectAt, objectsAt, textAt } from '#cluster/json/read-json.ts';

/** What a judgement is made on. */
export interface LostPodHistory {
  readonly commits: readonly Commit[];
  readonly calls: readonly Call[];
  /** Of the set. */
  readonly name: string;
}

/** What a view may not know yet. */
const longestUnseen = 10_000;

/**
 * Returns what is wrong, one sentence each: a partition that a program lowered although a pod of the set had been away for more
 * than 10 s when the request left; in a set that wants one revision only, where pods on another one go back to it, also a
 * partition below all of those. Such a pod that is not ready is waited for by nobody: that may be why all go back.
 */
export function lostPodFaults({ commits, calls, name }: LostPodHistory): readonly string[] {
  const sentAt = new Map(calls.map(({ callId, startedAt }) => [callId, startedAt]));
  const sets = commits.filter(
    (commit) => commit.resource === 'statefulsets.apps' && commit.name === name,
  );
  return sets.flatMap((commit) => {
    const lowered = loweringOf(commit);
    if (lowered === undefined) return [];
    const { at, callId } = commit;
    const sent = sentAt.get(callId) ?? at;
    return faultsOf({ commits, name, at, sent, ...lowered });
  });
}

/** A partition that a program lowered below what blocks every pod. */
interface Lowering {
  /** As the set stood before. */
  readonly set: JsonObject;
  readonly partition: number;
}

function loweringOf({ before, after, user }: Commit): Lowering | undefined {
  if (before === undefined || after === undefined || !user.startsWith('operator-'))
    return undefined;
  const replicas = numberAt(after, 'spec', 'replicas') ?? 1;
  const partition = partitionOf(after);
  const isLowered = partition < Math.min(partitionOf(before), replicas);
  return isLowered ? { set: before, partition } : undefined;
}

interface JudgedLowering extends Lowering, Pick<LostPodHistory, 'commits' | 'name'> {
  readonly at: number;
  /** When the request left. */
  readonly sent: number;
}

function faultsOf({ commits, name, at, sent, set, partition }: JudgedLowering): readonly string[] {
  const replicas = numberAt(set, 'spec', 'replicas') ?? 1;
  const start = numberAt(set, 'spec', 'ordinals', 'start') ?? 0;
  // A partition counts pods, wherever their ordinals begin.
  const pods = Array.from({ length: replicas }, (_, index) => `${name}-${start + index}`);
  const goingBack = isSteady(set)
    ? pods.filter((pod) => isOnAnother(storedAt(commits, pod, sent), set))
    : undefined;
  const isBelow =
    goingBack !== undefined && !goingBack.some((pod) => pods.indexOf(pod) <= partition);
  const away = pods
    .filter((pod) => goingBack === undefined || !goingBack.includes(pod))
    .filter((pod) => awaySince(commits, pod, sent) < sent - longestUnseen);
  const fell = `at ${at} the partition fell to ${partition}`;
  return [
    ...(isBelow ? [`${fell} although no pod from there down goes back`] : []),
    ...away.map((pod) => `${fell} while ${pod} was away`),
  ];
}

function isOnAnother(pod: JsonObject | undefined, set: JsonObject): boolean {
  if (pod === undefined) return false;
  const revision = textAt(pod, 'metadata', 'labels', 'controller-revision-hash');
  return revision !== textAt(set, 'status', 'updateRevision');
}

/** The pod as it was stored at `until`; undefined where there was none. */
function storedAt(commits: readonly Commit[], pod: string, until: number): JsonObject | undefined {
  return commits.findLast(
    ({ resource, name, at }) => resource === 'pods' && name === pod && at <= until,
  )?.after;
}

/** Whether nothing is being rolled out, and the controller knows of the newest template. */
export function isSteady(set: JsonObject): boolean {
  const observed = numberAt(set, 'status', 'observedGeneration') ?? 0;
  const generation = numberAt(set, 'metadata', 'generation') ?? 0;
  const status = objectAt(set, 'status');
  return (
    observed >= generation && textAt(status, 'currentRevision') === textAt(status, 'updateRevision')
  );
}

function partitionOf(set: JsonObject | undefined): number {
  return numberAt(set, 'spec', 'updateStrategy', 'rollingUpdate', 'partition') ?? 0;
}

/** Since when the pod is away or not ready at `until`; infinity where it is ready, or never was there. */
function awaySince(commits: readonly Commit[], pod: string, until: number): number {
  let since = Number.POSITIVE_INFINITY;
  for (const { resource, name, after, at } of commits) {
    if (resource !== 'pods' || name !== pod || at > until) continue;
    since = isReady(after) ? Number.POSITIVE_INFINITY : Math.min(since, at);
  }
  return since;
}

/** Whether a stored pod is ready, and not about to go. */
export function isReady(pod: JsonObject | undefined): boolean {
  if (textAt(pod, 'metadata', 'deletionTimestamp') !== '') return false;
  return objectsAt(objectAt(pod, 'status'), 'conditions').some(
    (each) => textAt(each, 'type') === 'Ready' && textAt(each, 'status') === 'True',
  );
}
