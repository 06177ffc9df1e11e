/** How all annotations begin that any capability reads from a StatefulSet. */
const families = [
  'grafana.com/',
  'rollout-',
  'sts.plus/',
  'bedrock.operator.slack.com/rollout',
] as const;

/** Reports whether `key` is an annotation of the rollout family. The rest is not kept in memory. */
export function isRolloutKey(key: string): boolean {
  return families.some((family) => key.startsWith(family));
}
