/** Holds the history of the set `db` against its partition, by what the store saw and nothing else. */
import type { JsonObject } from '#base/json.ts';
import type { Commit } from '#cluster/event-log.ts';
import { numberAt, objectAt, objectsAt, textAt } from '#cluster/json/read-json.ts';
import { isReady } from '../phased-rollout/phased-pod-judge.ts';

const revisionLabel = 'controller-revision-hash';

function partitionOf(set: JsonObject | undefined): number | undefined {
  const strategy = objectAt(set, 'spec', 'updateStrategy');
  if (textAt(strategy, 'type') !== 'RollingUpdate') return undefined;
  return numberAt(strategy, 'rollingUpdate', 'partition') ?? 0;
}

function isOfSet({ resource, name }: Commit): boolean {
  return resource === 'statefulsets.apps' && name === 'db';
}

/** Image and partition of the set, as in `db:2 4`, each time that one of the two changed; no partition: under OnDelete. */
export function partitionsOf(commits: readonly Commit[]): readonly string[] {
  const said: string[] = [];
  for (const commit of commits.filter(isOfSet)) {
    const [container] = objectsAt(commit.after, 'spec', 'template', 'spec', 'containers');
    const each = `${textAt(container, 'image')} ${partitionOf(commit.after) ?? ''}`;
    const [before] = objectsAt(commit.before, 'spec', 'template', 'spec', 'containers');
    if (each !== `${textAt(before, 'image')} ${partitionOf(commit.before) ?? ''}`) said.push(each);
  }
  return said;
}

/**
 * Faults of a set that pins pods: one that is made below the partition and runs something else than the current revision, and a
 * write of another template that leaves the partition open.
 */
export function pinFaults(commits: readonly Commit[]): readonly string[] {
  let set: JsonObject | undefined;
  return commits.flatMap((commit) => {
    if (isOfSet(commit)) {
      set = commit.after;
      return templateFault(commit);
    }
    const isMade = commit.resource === 'pods' && commit.before === undefined;
    return isMade ? madeFault(commit, set) : [];
  });
}

function templateFault({ before, after }: Commit): readonly string[] {
  if (before === undefined || textOf(before) === textOf(after)) return [];
  const closed = numberAt(after, 'spec', 'replicas') ?? 0;
  const partition = partitionOf(after) ?? closed;
  if (partition >= closed) return [];
  return [`the template was written with partition ${partition} of ${closed}`];
}

function madeFault({ name, after }: Commit, set: JsonObject | undefined): readonly string[] {
  const partition = partitionOf(set) ?? 0;
  const runs = textAt(after, 'metadata', 'labels', revisionLabel);
  const held = textAt(set, 'status', 'currentRevision');
  if (Number(name.slice('db-'.length)) >= partition || runs === held) return [];
  return [`${name} was made on ${runs} below partition ${partition}`];
}

/**
 * Faults of partitions that are lowered: more than `most` pods are away then, or may be taken by the controller at once, as it
 * takes whatever is old above the partition.
 */
export function loweringFaults(commits: readonly Commit[], most: number): readonly string[] {
  const pods = new Map<string, JsonObject>();
  return commits.flatMap((commit) => {
    const { resource, name, before, after } = commit;
    if (resource === 'pods' && after !== undefined) pods.set(name, after);
    else if (resource === 'pods') pods.delete(name);
    const to = partitionOf(after);
    if (!isOfSet(commit) || to === undefined || to >= (partitionOf(before) ?? 0)) return [];
    const gone = goingBy(after, to, pods);
    return gone.length > most ? [`partition ${to}: ${gone.join(', ')} may be away`] : [];
  });
}

/** Ordinals whose pod is away, or old and above the partition. */
function goingBy(
  set: JsonObject | undefined,
  partition: number,
  pods: ReadonlyMap<string, JsonObject>,
): readonly number[] {
  const target = textAt(set, 'status', 'updateRevision');
  const count = numberAt(set, 'spec', 'replicas') ?? 0;
  return Array.from({ length: count }, (_, ordinal) => ordinal).filter((ordinal) => {
    const pod = pods.get(`db-${ordinal}`);
    if (pod === undefined || !isReady(pod)) return true;
    return ordinal >= partition && textAt(pod, 'metadata', 'labels', revisionLabel) !== target;
  });
}

function textOf(set: JsonObject | undefined): string {
  return JSON.stringify(objectAt(set, 'spec', 'template'));
}
