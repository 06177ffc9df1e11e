/**
 * Whether `key` is a label or annotation of the rollout family: all keys that any capability reads from a
 * StatefulSet (IN-10…IN-24) begin in one of two ways. The rest is not kept in memory.
 */
export function isRolloutKey(key: string): boolean {
  return key.startsWith('grafana.com/') || key.startsWith('rollout-');
}
