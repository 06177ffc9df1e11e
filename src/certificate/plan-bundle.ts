import { type Instant, type Millis, type Monotonic, minutes } from '#base/units.ts';
import type { Authority } from './api.ts';

/** One CA bundle of a webhook configuration, as far as the decision goes. */
export interface BundleView {
  /** Its certificates that another replica of ours may serve by, although the Secret does not name them. */
  readonly tolerated: readonly Authority[];
  /** What another client puts back again and again, and is a certificate: it may stand next to ours. Empty while nobody does. */
  readonly contested: readonly Authority[];
  /** All its certificates, ours or not, in order: their ids. */
  readonly ids: readonly string[];
  /** Whether it holds anything besides certificates. */
  readonly hasForeignText: boolean;
}

/** More than these come only from a Secret that is deleted again and again. */
const mostAuthorities = 8;

/**
 * How long a CA of our form stays in a bundle without being named by the Secret. A replica that serves by it looks at the Secret
 * each minute and writes it there: two looks of the other, one of ours.
 */
export const graceOfUnnamed: Millis = minutes(3);

/**
 * Returns the CAs that a bundle has to carry: `wanted`, and the tolerated ones that have not expired, as another replica may
 * serve what they vouch for. Whatever else a user wrote into it goes, unless another client puts it back each time: then it
 * stays, so that both are trusted where that client leaves room for ours.
 *
 * An order of its own, or an expired CA of our form, is no reason to write: two replicas whose clocks or whose views of
 * the Secret differ would undo each other's writes for ever.
 *
 * @returns undefined when the bundle is right as it is, so that nothing is written
 */
export function planBundle(
  bundle: BundleView,
  wanted: readonly Authority[],
  now: Instant,
): readonly Authority[] | undefined {
  const { tolerated, contested, ids, hasForeignText } = bundle;
  const known = new Set([...wanted, ...tolerated, ...contested].map(({ id }) => id));
  const isComplete = wanted.every(({ id }) => ids.includes(id));
  const isClean = ids.every((id) => known.has(id)) && (!hasForeignText || contested.length > 0);
  if (isComplete && isClean) return undefined;
  const kept = tolerated.filter(({ notAfter }) => notAfter > now);
  const all = [...wanted, ...kept, ...contested];
  const byId = new Map(all.map((authority) => [authority.id, authority]));
  return [...byId.values()].slice(0, Math.max(mostAuthorities, wanted.length));
}

/**
 * Returns the time from which every bundle of `bundles` carries each of `wanted`, by id; those that one lacks are not in it.
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

/**
 * Returns the time from which `bundles` carry what the Secret does not name, by id. The form of a certificate proves nothing: any client
 * can make one that looks like ours.
 *
 * @param named ids that the Secret names, or that are served here
 * @param earlier the last answer: what was unnamed then has been since
 */
export function unnamedSince(
  bundles: readonly (readonly string[])[],
  named: ReadonlySet<string>,
  { earlier, now }: { readonly earlier: ReadonlyMap<string, Monotonic>; readonly now: Monotonic },
): ReadonlyMap<string, Monotonic> {
  const unnamed = bundles.flat().filter((id) => !named.has(id));
  return new Map(unnamed.map((id) => [id, earlier.get(id) ?? now]));
}

/**
 * Reports whether a CA of our form may stay that has been `unnamed` since then.
 *
 * @param readAt when the last look at the Secret that found CAs in it was sent; undefined: none has. While the Secret
 *   cannot be read, it is unknown what it names
 */
export function isTolerated(
  unnamed: Monotonic | undefined,
  readAt: Monotonic | undefined,
): boolean {
  return unnamed === undefined || readAt === undefined || readAt - unnamed < graceOfUnnamed;
}
