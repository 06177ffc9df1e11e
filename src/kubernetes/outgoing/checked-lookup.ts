import { isIP, type LookupFunction } from 'node:net';
import { type AddressRules, refusedAddress } from './refused-address.ts';

/** An address that nothing may call which only a resource names. */
export class RefusedAddressError extends Error {
  override readonly name = 'RefusedAddressError';
}

/** Checks the host of `server` where that is an address, which is never looked up. @throws {RefusedAddressError} */
export function checkHost({ hostname }: URL, rules: AddressRules): void {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(host) !== 0) check(host, [host], rules);
}

/**
 * Returns `lookup`, which fails for names that have an address that may not be called. The connection goes to what was checked,
 * whatever the name means a moment later; if only one of the addresses is refused, so are all.
 */
export function checkedLookup(lookup: LookupFunction, rules: AddressRules): LookupFunction {
  return (name, options, done) => {
    lookup(name, { ...options, all: true }, (error, found) => {
      if (error !== null) {
        done(error, '');
        return;
      }
      const all = typeof found === 'string' ? [] : found;
      try {
        check(
          name,
          all.map(({ address }) => address),
          rules,
        );
      } catch (refused) {
        done(refused instanceof Error ? refused : new Error(String(refused)), '');
        return;
      }
      const [first] = all;
      if (options.all === true) done(null, all);
      else if (first === undefined) done(new Error('the name has no address'), '');
      else done(null, first.address, first.family);
    });
  };
}

function check(name: string, addresses: readonly string[], rules: AddressRules): void {
  for (const address of addresses) {
    const kind = refusedAddress(address, rules);
    if (kind === undefined) continue;
    const which = name === address ? name : `${name} has the address ${address}, which`;
    throw new RefusedAddressError(`${which} may not be called: it is ${kind}`);
  }
}
