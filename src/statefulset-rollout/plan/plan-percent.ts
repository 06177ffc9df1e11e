/**
 * Returns how many pods of `replicas` run the new version at `percent`, 0 to 100: rounded up, so that the least percentage has
 * one, and short of 100 never all of them where there are two or more, so that "partial" leaves an old pod.
 */
export function targetReplicas(replicas: number, percent: number): number {
  // Whole numbers: 0.07 × 100 is more than 7.
  const rounded = Math.ceil((replicas * percent) / 100);
  const most = percent < 100 && replicas >= 2 ? replicas - 1 : replicas;
  return Math.min(rounded, most);
}

/** Returns which percentage of `replicas` so many healthy pods of the new version are, rounded down; at most `percent`. */
export function percentDeployed(healthy: number, replicas: number, percent: number): number {
  if (replicas === 0) return percent;
  return Math.min(percent, Math.floor((100 * healthy) / replicas));
}
