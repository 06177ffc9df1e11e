/** Returns `count` pods in words, such as `1 pod` or `3 pods`. */
export function podsText(count: number): string {
  return count === 1 ? '1 pod' : `${count} pods`;
}

/** Returns the beginning of what is so of `count` pods, such as `1 pod is` or `3 pods are`. */
export function podsAre(count: number): string {
  return `${podsText(count)} ${count === 1 ? 'is' : 'are'}`;
}
