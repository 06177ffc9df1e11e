/**
 * Switches of a StatefulSet that keep something from happening to it. A slip in the value of one must not end the protection, so
 * only a value that plainly says "off" does.
 */
import type { Problem } from '#base/parsed.ts';
import { quoted } from '#base/text/quoted.ts';
import type { KeptKey } from '../known-keys.ts';
import type { StatefulSetView } from '../view.ts';

/** The map of the metadata that each switch is read from. */
const switches = {
  'grafana.com/rollout-paused': 'annotations',
  'grafana.com/rollout-upscale-only-when-leader-ready': 'annotations',
  'grafana.com/no-downscale': 'labels',
  'grafana.com/prepare-downscale': 'labels',
} as const satisfies Partial<Record<KeptKey, 'labels' | 'annotations'>>;

/** A label or an annotation that protects. */
export type SwitchKey = keyof typeof switches;

const isSwitchKey = (key: string): key is SwitchKey => Object.hasOwn(switches, key);
/** Precomputed: each pass looks at each set. */
const keys = Object.keys(switches).filter(isSwitchKey);

/** Reports whether a switch with the value `text` protects: unless it is absent, empty, or `false` in any letter case. */
export function isProtected(text: string | undefined): boolean {
  if (text === undefined) return false;
  const word = text.trim().toLowerCase();
  return word !== '' && word !== 'false';
}

/** Returns what is wrong with the value `text` of the switch `key`: it protects, and is not exactly `true`. */
export function switchProblem(key: SwitchKey, text: string | undefined): Problem | undefined {
  if (text === undefined || text === 'true' || !isProtected(text)) return undefined;
  const path = `metadata.${switches[key]}["${key}"]`;
  return { path, message: `must be "true" or "false": got ${quoted(text)}; it counts as "true"` };
}

/** Returns what is wrong with the switches of `set`. */
export function switchProblems(set: StatefulSetView): readonly Problem[] {
  const found: Problem[] = [];
  for (const key of keys) {
    const problem = switchProblem(key, set[switches[key]][key]);
    if (problem !== undefined) found.push(problem);
  }
  return found;
}
