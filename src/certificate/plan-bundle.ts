import type { Instant } from '#base/units.ts';
import type { Authority } from './api.ts';

/** One CA bundle of a webhook configuration, as far as the decision goes. */
export interface BundleView {
  /** Its certificates that a replica of ours made, as told by their form. */
  readonly ours: readonly Authority[];
  /** All its certificates, ours or not, in order: their ids. */
  readonly ids: readonly string[];
  /** Whether it holds anything besides certificates. */
  readonly hasForeignText: boolean;
}

/** More than these come only from a Secret that is deleted again and again. */
const mostAuthorities = 8;

/**
 * The CAs that a bundle has to carry: `wanted`, and those of ours that it carries already and that have not expired,
 * as another replica may serve what they vouch for. Whatever else somebody wrote into it goes (C7).
 *
 * An order of its own, or an expired CA of ours, is no reason to write: two replicas whose clocks or whose views of
 * the Secret differ would undo each other's writes for ever.
 *
 * @returns undefined when the bundle is right as it is, so that nothing is written (C4)
 */
export function planBundle(
  bundle: BundleView,
  wanted: readonly Authority[],
  now: Instant,
): readonly Authority[] | undefined {
  const { ours, ids, hasForeignText } = bundle;
  const known = new Set([...wanted, ...ours].map(({ id }) => id));
  const isComplete = wanted.every(({ id }) => ids.includes(id));
  const isClean = ids.every((id) => known.has(id)) && !hasForeignText;
  if (isComplete && isClean) return undefined;
  const kept = ours.filter(({ notAfter }) => notAfter > now);
  const byId = new Map([...wanted, ...kept].map((authority) => [authority.id, authority]));
  return [...byId.values()].slice(0, Math.max(mostAuthorities, wanted.length));
}

/**
 * Since when every bundle of `bundles` carries each of `wanted`, by id; those that one lacks are not in it.
 *
 * @param earlier the last answer: what holds still has held since then
 */
export function publishedSince(
  bundles: readonly (readonly string[])[],
  wanted: readonly Authority[],
  { earlier, now }: { readonly earlier: ReadonlyMap<string, Instant>; readonly now: Instant },
): ReadonlyMap<string, Instant> {
  const carried = wanted.filter(({ id }) => bundles.every((ids) => ids.includes(id)));
  return new Map(carried.map(({ id }) => [id, earlier.get(id) ?? now]));
}
