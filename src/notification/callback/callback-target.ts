import { isIP, type LookupFunction } from 'node:net';
import { aborted } from '#base/async/aborted.ts';
import { errorOf, messageOf } from '#base/error-of.ts';
import { type AllowedHosts, hostVerdict } from '#kubernetes/outgoing/allowed-hosts.ts';
import { type AddressRules, refusedAddress } from '#kubernetes/outgoing/refused-address.ts';
import type { CallbackOutcome } from './callback-answer.ts';

/** An address that was checked; connections go to such ones alone. */
export interface CheckedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Where a callback goes. */
export interface CallbackTarget {
  readonly kind: 'target';
  /** Of http or https, without user. */
  readonly url: URL;
  /** At least one. */
  readonly addresses: readonly CheckedAddress[];
}

/** Why a callback goes nowhere. */
export type NoTarget = Extract<CallbackOutcome, { kind: 'refused' | 'unreachable' }>;

/** What a target is found and checked by. */
export interface TargetRules extends AddressRules {
  readonly hosts: AllowedHosts;
  readonly lookup: LookupFunction;
}

/**
 * Finds out where a callback to `text` goes, and whether it may. Its name is looked up once, and not at all where the name
 * itself is refused; if only one of its addresses is refused, so are all, as a receiver has no such address (E-20…E-22).
 *
 * @returns when `signal` aborts, too, with whatever: the caller knows
 */
export async function callbackTarget(
  text: string,
  rules: TargetRules,
  signal: AbortSignal,
): Promise<CallbackTarget | NoTarget> {
  const url = urlOf(text);
  if ('kind' in url) return url;
  const verdict = hostVerdict(rules.hosts, url);
  if (verdict.kind === 'refused') return verdict;
  const name = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const addresses = await addressesOf(name, rules.lookup, signal);
  if ('kind' in addresses) return addresses;
  for (const { address } of addresses) {
    const kind = refusedAddress(address, rules);
    if (kind === undefined) continue;
    const why = `${name} has the address ${address}, to which no callback goes (${kind})`;
    return { kind: 'refused', reason: 'AddressNotAllowed', why };
  }
  return { kind: 'target', url, addresses };
}

function urlOf(text: string): URL | NoTarget {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return invalidUrl('the URL of the callback is neither http nor https');
  }
  const hasUser = url.username !== '' || url.password !== '';
  return hasUser ? invalidUrl('the URL of the callback contains a user') : url;
}

function invalidUrl(why: string): NoTarget {
  return { kind: 'refused', reason: 'InvalidCallbackUrl', why };
}

async function addressesOf(
  name: string,
  lookup: LookupFunction,
  signal: AbortSignal,
): Promise<readonly CheckedAddress[] | NoTarget> {
  if (isIP(name) !== 0) return [addressOf(name)];
  const { promise, resolve } = Promise.withResolvers<readonly CheckedAddress[] | NoTarget>();
  lookup(name, { all: true }, (error, found) => {
    const all = typeof found === 'string' ? [found] : found.map(({ address }) => address);
    if (error !== null) resolve(noAddress(name, messageOf(errorOf(error))));
    else if (all.length === 0) resolve(noAddress(name, 'the name has none'));
    else resolve(all.map(addressOf));
  });
  // A lookup cannot be given up: nothing waits for it any more.
  const givenUp = aborted(signal).then(() => noAddress(name, 'the lookup was given up'));
  return Promise.race([promise, givenUp]);
}

function noAddress(name: string, why: string): NoTarget {
  return { kind: 'unreachable', why: `no address of ${name}: ${why}` };
}

function addressOf(address: string): CheckedAddress {
  return { address, family: address.includes(':') ? 6 : 4 };
}
