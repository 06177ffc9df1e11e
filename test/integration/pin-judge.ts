/** Holds the history of the set `db` against its partition, by what the store saw and nothing else. */
import type { JsonObject } from '#base/json.ts';
import { numberAt, objectAt, objectsAt, textAt } from '#embedded-cluster/controllers/read-json.ts';
import type { Commit } from '#embedded-cluster/event-log.ts';
import { isReady } from './phased-pod-judge.ts';

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
  const faults: string[] = [];
  let set: JsonObject | undefined;
  for (const commit of commits) {
    const { resource, name, before, after } = commit;
    if (isOfSet(commit)) {
      const isNew = textOf(before) !== textOf(after) && before !== undefined;
      const closed = numberAt(after, 'spec', 'replicas') ?? 0;
      const partition = partitionOf(after);
      if (isNew && partition !== undefined && partition < closed)
        faults.push(`the template was written with partition ${partition} of ${closed}`);
      set = after;
    }
    const isMade = resource === 'pods' && before === undefined && after !== undefined;
    const partition = partitionOf(set);
    if (!isMade || partition === undefined || Number(name.slice('db-'.length)) >= partition)
      continue;
    const runs = textAt(after, 'metadata', 'labels', revisionLabel);
    const held = textAt(set, 'status', 'currentRevision');
    if (runs !== held) faults.push(`${name} was made on ${runs} below partition ${partition}`);
  }
  return faults;
}

/**
 * Faults of partitions that are lowered: more than `most` pods are away then, or may be taken by the controller at once, as it
 * takes whatever is old above the partition.
 */
export function loweringFaults(commits: readonly Commit[], most: number): readonly string[] {
  const faults: string[] = [];
  const pods = new Map<string, JsonObject>();
  for (const commit of commits) {
    const { resource, name, before, after } = commit;
    if (resource === 'pods' && after !== undefined) pods.set(name, after);
    else if (resource === 'pods') pods.delete(name);
    const [from, to] = [partitionOf(before), partitionOf(after)];
    if (!isOfSet(commit) || from === undefined || to === undefined || to >= from) continue;
    const target = textAt(after, 'status', 'updateRevision');
    const count = numberAt(after, 'spec', 'replicas') ?? 0;
    const gone = Array.from({ length: count }, (_, ordinal) => ordinal).filter((ordinal) => {
      const pod = pods.get(`db-${ordinal}`);
      if (pod === undefined || !isReady(pod)) return true;
      return ordinal >= to && textAt(pod, 'metadata', 'labels', revisionLabel) !== target;
    });
    if (gone.length > most) faults.push(`partition ${to}: ${gone.join(', ')} may be away`);
  }
  return faults;
}

function textOf(set: JsonObject | undefined): string {
  return JSON.stringify(objectAt(set, 'spec', 'template'));
}
