import type { JsonObject } from '#base/json.ts';
import { integerAt, objectAt, stringAt } from '#statefulset/parse-fields.ts';
import type { RolloutView } from '../parse-resource.ts';
import type { SetDiff } from './set-diff.ts';
import { onDelete } from './wanted-set.ts';

/** Returns the strategy that pins the `partition` lowest pods; undefined: none. */
export function strategyOf(partition: number | undefined): JsonObject {
  if (partition === undefined) return onDelete;
  // One at a time: what the controller takes itself is always one of those that are let go.
  return { type: 'RollingUpdate', rollingUpdate: { partition, maxUnavailable: null } };
}

/** Returns the strategy of a live set where it pins pods for `rollout`; undefined where it does not. */
export function pinningOf(
  { progress }: Pick<RolloutView, 'progress'>,
  live: JsonObject,
): JsonObject | undefined {
  const strategy = objectAt(objectAt(live, 'spec'), 'updateStrategy');
  const isRolling = (stringAt(strategy, 'type') ?? 'RollingUpdate') === 'RollingUpdate';
  return progress.partition !== undefined && isRolling ? strategy : undefined;
}

/**
 * Returns what the partition is to be once `diff` is written: closed with another template, so that nothing moves by it, and where
 * it is closed at rest; undefined where it stays.
 *
 * @param live a set that pins pods
 */
export function partitionFor(
  live: JsonObject,
  wanted: JsonObject,
  { paths }: Pick<SetDiff, 'paths'>,
): number | undefined {
  const spec = objectAt(live, 'spec');
  const replicas = integerAt(spec, 'replicas') ?? 1;
  const next = integerAt(objectAt(wanted, 'spec'), 'replicas') ?? replicas;
  if (paths.some((path) => path.startsWith('spec.template'))) return next;
  const strategy = objectAt(spec, 'updateStrategy');
  const partition = integerAt(objectAt(strategy, 'rollingUpdate'), 'partition') ?? 0;
  const { currentRevision, updateRevision } = objectAt(live, 'status');
  const isAtRest = partition >= replicas && currentRevision === updateRevision;
  return isAtRest && next !== replicas ? next : undefined;
}
