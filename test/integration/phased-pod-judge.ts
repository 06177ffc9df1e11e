/** Holds partitions that fell against the pods of the set, by what the store saw and nothing else (MAXU-1). */
import type { JsonObject } from '#base/json.ts';
import { numberAt, objectAt, objectsAt, textAt } from '#embedded-cluster/controllers/read-json.ts';
import type { Call, Commit } from '#embedded-cluster/event-log.ts';

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
 * than 10 s when the request left. Pods that go back to what ran before are waited for by nobody.
 */
export function lostPodFaults({ commits, calls, name }: LostPodHistory): readonly string[] {
  const sentAt = new Map(calls.map(({ callId, startedAt }) => [callId, startedAt]));
  const sets = commits.filter(
    (commit) => commit.resource === 'statefulsets.apps' && commit.name === name,
  );
  return sets.filter(isLowered).flatMap(({ before, after, callId, at }) => {
    const sent = sentAt.get(callId) ?? at;
    const replicas = numberAt(before, 'spec', 'replicas') ?? 1;
    const pods = Array.from({ length: replicas }, (_, ordinal) => `${name}-${ordinal}`);
    return pods
      .filter((pod) => awaySince(commits, pod, sent) < sent - longestUnseen)
      .map((pod) => `at ${at} the partition fell to ${partitionOf(after)} while ${pod} was away`);
  });
}

function isLowered({ before, after, user }: Commit): boolean {
  if (before === undefined || after === undefined || !user.startsWith('operator-')) return false;
  const replicas = numberAt(after, 'spec', 'replicas') ?? 1;
  return !isSteady(before) && partitionOf(after) < Math.min(partitionOf(before), replicas);
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
