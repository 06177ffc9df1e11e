/**
 * Returns how many pods of a set with `replicas` may be unavailable, from its `rollout-max-unavailable` annotation (IN-12,
 * IN-25): an integer >= 1, or 1…100 per cent rounded down; at least 1; anything else counts as 1.
 *
 * Written apart from the operator's own rounding, which it checks.
 */
export function limitOf(annotation: string | undefined, replicas: number | undefined): number {
  const text = (annotation ?? '1').trim();
  if (!text.endsWith('%')) return Math.max(1, integer(text) ?? 1);
  const percent = integer(text.slice(0, -1)) ?? 0;
  if (percent < 1 || percent > 100) return 1;
  // In integers: 0.29 * 100 is 28.999…, which rounds down to the wrong pod.
  return Math.max(1, Math.floor(((replicas ?? 0) * percent) / 100));
}

function integer(text: string): number | undefined {
  return /^[+-]?\d+$/.test(text) ? Number(text) : undefined;
}
