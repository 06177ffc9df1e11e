import type { Because } from '#base/because.ts';
import { after, type Instant } from '#base/units.ts';
import { type Authority, type Leaf, mostAuthorities, type SecretContent } from './api.ts';
import type { Snapshot } from './plan.ts';
import { hasBegun, isUsable, lifecycle, skew } from './plan-lifecycle.ts';

/** A pair that exists, or one that is yet to be issued. */
export type PairToStore = Leaf | 'new';

/** What the Secret is to hold; at most one of its pairs is `new`. */
export interface ContentToStore {
  readonly current: PairToStore;
  readonly next: { readonly pair: PairToStore; readonly from: Instant } | undefined;
  /** CAs besides that of the new pair. */
  readonly authorities: readonly Authority[];
  /** Names in the new pair. */
  readonly dnsNames: readonly string[];
  readonly because: Because<StoreReason>;
}

/** Why the Secret is written. */
export type StoreReason =
  | 'CertificateMissing'
  | 'CertificateDeleted'
  | 'CertificateExpired'
  | 'CertificateNotYetValid'
  | 'CertificateExpiring'
  | 'NameNotCovered'
  | 'AuthorityMissing'
  | 'CertificateSwitched';

/** A new pair brings a CA of its own: what is written must not be refused when it is read. */
const mostBesideNew = mostAuthorities - 1;

/**
 * Returns what a Secret without data is to hold: the first certificate. A Secret that was deleted under a running process
 * asks for another one (that is how one is replaced by hand): what is served is put back, with a next one to switch to.
 */
export function planMissingContent(
  snapshot: Snapshot,
  trusted: readonly Authority[],
  now: Instant,
): ContentToStore {
  const { served, dnsName } = snapshot;
  const authorities = trusted.slice(0, mostBesideNew);
  const dnsNames = [dnsName];
  if (served === undefined || !isUsable(served, now)) {
    const because = {
      reason: 'CertificateMissing',
      message: 'no certificate is stored yet',
    } as const;
    return { current: 'new', next: undefined, authorities, dnsNames, because };
  }
  const because = {
    reason: 'CertificateDeleted',
    message: 'the Secret was emptied or deleted, which asks for another certificate',
  } as const;
  const next = { pair: 'new', from: promptSwitch(served, snapshot, now) } as const;
  return { current: served, next, authorities, dnsNames, because };
}

/** Returns what the Secret is to hold in place of `content`; undefined while it is right. */
export function planStore(
  content: SecretContent,
  snapshot: Snapshot,
  now: Instant,
): ContentToStore | undefined {
  const { current } = content;
  const next =
    content.next !== undefined && isUsable(content.next.leaf, now) ? content.next : undefined;
  const authorities = authoritiesToStore(content, snapshot, now);
  const useless = whyUseless(current, now);
  if (next !== undefined && (useless !== undefined || snapshot.served?.id === next.leaf.id)) {
    const because = {
      reason: 'CertificateSwitched',
      message: 'the next certificate is served now',
    } as const;
    return { current: next.leaf, next: undefined, authorities, dnsNames: [], because };
  }
  if (useless !== undefined) {
    const dnsNames = [snapshot.dnsName];
    return { current: 'new', next: undefined, authorities, dnsNames, because: useless };
  }
  const usable = { ...content, next, authorities };
  return (
    planRename(usable, snapshot, now) ??
    planRenewal(usable, snapshot, now) ??
    planAuthority(content, usable, snapshot)
  );
}

/** Returns why no client accepts `leaf` now; undefined where they do. */
function whyUseless(leaf: Leaf, now: Instant): Because<StoreReason> | undefined {
  if (isUsable(leaf, now)) return undefined;
  return hasBegun(leaf, now)
    ? { reason: 'CertificateExpired', message: 'the certificate has expired' }
    : { reason: 'CertificateNotYetValid', message: 'the certificate is not valid yet' };
}

/**
 * Returns the Secret with the CA of what this process still serves, where a user made a Secret without it: other replicas
 * leave in the webhook configurations only what the Secret names.
 */
function planAuthority(
  { authorities: named }: SecretContent,
  { current, next, authorities }: SecretContent,
  { served }: Snapshot,
): ContentToStore | undefined {
  if (served === undefined) return undefined;
  const has = (some: readonly Authority[]): boolean =>
    some.some(({ id }) => id === served.authority.id);
  // One that has expired is not stored, so that it would be missing for ever.
  if (has(named) || !has(authorities)) return undefined;
  const because = {
    reason: 'AuthorityMissing',
    message: 'the Secret lacks the CA of the certificate that is served',
  } as const;
  const coming = next && { pair: next.leaf, from: next.from };
  return { current, next: coming, authorities, dnsNames: [], because };
}

/**
 * Returns another certificate where clients call us by a name that this one lacks. Where the bundles are not ours to write,
 * another CA is of no use before a user has copied it: there the name waits for the usual renewal.
 */
function planRename(
  { current, next, authorities }: SecretContent,
  snapshot: Snapshot,
  now: Instant,
): ContentToStore | undefined {
  const { dnsName, publication } = snapshot;
  const coming = next?.leaf ?? current;
  if (publication.kind === 'unmanaged' || covers(coming, dnsName)) return undefined;
  // Replicas that want different names must not replace each other's certificates for ever: all names go in.
  const dnsNames = [...new Set([dnsName, ...current.dnsNames, ...coming.dnsNames])];
  const because = {
    reason: 'NameNotCovered',
    message: `the certificate is for ${coming.dnsNames.join(', ')}, not for ${dnsName}`,
  } as const;
  const from = promptSwitch(current, snapshot, now);
  return { current, next: { pair: 'new', from }, authorities, dnsNames, because };
}

function planRenewal(
  { current, next, authorities }: SecretContent,
  { dnsName, publication }: Snapshot,
  now: Instant,
): ContentToStore | undefined {
  const { renewAt, switchAt, latestSwitch } = lifecycle(current);
  if (next !== undefined || now < renewAt) return undefined;
  const from = publication.kind === 'managed' ? switchAt : latestSwitch;
  const because = {
    reason: 'CertificateExpiring',
    message: 'two thirds of the life of the certificate are over',
  } as const;
  return { current, next: { pair: 'new', from }, authorities, dnsNames: [dnsName], because };
}

/** Returns the earliest switch to a certificate that is wanted at once. */
function promptSwitch(current: Leaf, { publication }: Snapshot, now: Instant): Instant {
  return publication.kind === 'managed' ? now : lifecycle(current).latestSwitch;
}

/** Reports whether clients that call `dnsName` accept the certificate. */
export function covers({ dnsNames }: Leaf, dnsName: string): boolean {
  const wanted = dnsName.toLowerCase();
  const dot = wanted.indexOf('.');
  const wildcard = dot < 0 ? wanted : `*${wanted.slice(dot)}`;
  return dnsNames.some((name) => [wanted, wildcard].includes(name.toLowerCase()));
}

function authoritiesToStore(
  content: SecretContent,
  { served }: Snapshot,
  now: Instant,
): readonly Authority[] {
  const wanted = [...authoritiesInUse(content, served), ...content.authorities];
  return keptAuthorities(wanted, now).slice(0, mostBesideNew);
}

/** Returns the CAs that clients cannot do without; first, as only so many are kept. */
export function authoritiesInUse(
  { current, next }: SecretContent,
  served: Leaf | undefined,
): readonly Authority[] {
  const inUse = [current, next?.leaf, served].filter((leaf) => leaf !== undefined);
  return inUse.map(({ authority }) => authority);
}

/**
 * Returns the CAs to keep, in order, each once. One stays until it has expired: any replica that was cut off may still serve
 * what it vouches for, and no message can say when the last one has stopped.
 */
export function keptAuthorities(
  authorities: readonly Authority[],
  now: Instant,
): readonly Authority[] {
  const byId = new Map(authorities.map((authority) => [authority.id, authority]));
  return [...byId.values()]
    .filter(({ notAfter }) => after(notAfter, skew) > now)
    .slice(0, mostAuthorities);
}
