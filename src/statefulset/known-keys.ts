/**
 * Whether `key` is an annotation of the rollout family: all that any capability reads from a StatefulSet begin in one of
 * two ways. The rest is not kept in memory.
 */
export function isRolloutKey(key: string): boolean {
  return key.startsWith('grafana.com/') || key.startsWith('rollout-');
}
