import type { Parsed, Problem } from '#base/parsed.ts';
import { valid } from '#base/parsed.ts';
import { type AnnotationKey, type KeptKey, keysOfOthersIn } from '#statefulset/known-keys.ts';
import { isProtected } from '#statefulset/metadata/protective-switch.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import {
  defaultMaxUnavailable,
  type MaxUnavailable,
  parseMaxUnavailable,
} from './max-unavailable.ts';

const MAX_UNAVAILABLE = 'rollout-max-unavailable' satisfies AnnotationKey;
const PAUSED = 'grafana.com/rollout-paused' satisfies AnnotationKey;

/** Read from annotations, and from labels: precomputed, as each pass looks for them on each set. */
const annotationKeys = keysOfOthersIn('annotations');
const labelKeys = keysOfOthersIn('labels');

/** Reports whether the rollout of `set` is paused; a value that cannot be read pauses, too (IN-13). */
export function isPaused(set: StatefulSetView): boolean {
  return isProtected(set.annotations[PAUSED]);
}

/** Returns the limit annotation of `set`, its default when absent, or why it cannot be read (IN-12, IN-25). */
export function maxUnavailableOf(set: StatefulSetView): Parsed<MaxUnavailable> {
  const raw = set.annotations[MAX_UNAVAILABLE];
  return raw === undefined
    ? valid(defaultMaxUnavailable)
    : parseMaxUnavailable(raw, `metadata.annotations["${MAX_UNAVAILABLE}"]`);
}

/** Returns known keys of `set` that are in the wrong map, where they have no effect (KW-24). */
export function misplacedKeys(set: StatefulSetView): readonly Problem[] {
  const found: Problem[] = [];
  findMisplaced(annotationKeys, { set, right: 'annotations', wrong: 'labels' }, found);
  findMisplaced(labelKeys, { set, right: 'labels', wrong: 'annotations' }, found);
  return found;
}

type MapName = 'labels' | 'annotations';

/** Adds to `found` what is in the wrong map only: a list for each set of each pass would be empty nearly always. */
function findMisplaced(
  keys: readonly KeptKey[],
  { set, right, wrong }: { set: StatefulSetView; right: MapName; wrong: MapName },
  found: Problem[],
): void {
  for (const key of keys) {
    if (set[wrong][key] === undefined || set[right][key] !== undefined) continue;
    const path = `metadata.${wrong}["${key}"]`;
    found.push({ path, message: `is read from metadata.${right} only` });
  }
}
