import type { Parsed, Problem } from '#base/parsed.ts';
import { valid } from '#base/parsed.ts';
import { GROUP_LABEL } from '#statefulset/group.ts';
import { LAST_DOWNSCALE, MINIMUM_TIME } from '#statefulset/last-downscale.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import {
  defaultMaxUnavailable,
  type MaxUnavailable,
  parseMaxUnavailable,
} from './max-unavailable.ts';

const MAX_UNAVAILABLE = 'rollout-max-unavailable';
const PAUSED = 'grafana.com/rollout-paused';

/** Keys of the rollout family that are read from annotations; the rest of the family is read from labels (IN-2). */
const annotationKeys = [
  MAX_UNAVAILABLE,
  PAUSED,
  'grafana.com/rollout-downscale-leader',
  'grafana.com/rollout-upscale-only-when-leader-ready',
  LAST_DOWNSCALE,
  'grafana.com/rollout-force-replicas',
  'grafana.com/rollout-mirror-replicas-from-resource-name',
  'grafana.com/rollout-mirror-replicas-from-resource-kind',
  'grafana.com/rollout-mirror-replicas-from-resource-api-version',
  'grafana.com/rollout-mirror-replicas-from-resource-write-back',
  'grafana.com/rollout-delayed-downscale',
  'grafana.com/rollout-prepare-delayed-downscale-url',
  'grafana.com/prepare-downscale-http-path',
  'grafana.com/prepare-downscale-http-port',
] as const;

const labelKeys = [
  GROUP_LABEL,
  MINIMUM_TIME,
  'grafana.com/no-downscale',
  'grafana.com/prepare-downscale',
] as const;

/** Reports whether the rollout of `set` is paused: exactly `true` (IN-13). */
export function isPaused(set: StatefulSetView): boolean {
  return set.annotations[PAUSED] === 'true';
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
  keys: Iterable<string>,
  { set, right, wrong }: { set: StatefulSetView; right: MapName; wrong: MapName },
  found: Problem[],
): void {
  for (const key of keys) {
    if (set[wrong][key] === undefined || set[right][key] !== undefined) continue;
    const path = `metadata.${wrong}["${key}"]`;
    found.push({ path, message: `is read from metadata.${right} only` });
  }
}
