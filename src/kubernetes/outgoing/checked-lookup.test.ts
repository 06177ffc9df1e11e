import assert from 'node:assert/strict';
import type { LookupFunction } from 'node:net';
import { describe, test } from 'node:test';
import { checkedLookup, checkHost, RefusedAddressError } from './checked-lookup.ts';

/** A lookup that finds `addresses`, one after another. */
function finding(...addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  return (_name, _options, done) => done(null, all);
}

/** Returns what the lookup of `a.example` gives, or why it fails. */
function found(lookup: LookupFunction, all: boolean): unknown {
  let given: unknown;
  lookup('a.example', { all }, (error, address) => {
    given = error === null ? address : error.message;
  });
  return given;
}

describe('checkedLookup()', () => {
  const cases: Record<string, { readonly addresses: readonly string[]; readonly want: string }> = {
    'finds an address inside the cluster': { addresses: ['10.0.0.7'], want: '10.0.0.7' },
    'refuses this host': {
      addresses: ['127.0.0.1'],
      want: 'a.example has the address 127.0.0.1, which may not be called: it is loopback',
    },
    'refuses the metadata service of a cloud': {
      addresses: ['169.254.169.254'],
      want: 'a.example has the address 169.254.169.254, which may not be called: it is link-local',
    },
    'refuses all where one is refused': {
      addresses: ['10.0.0.7', '::1'],
      want: 'a.example has the address ::1, which may not be called: it is loopback',
    },
    'refuses an address that IPv6 wraps': {
      addresses: ['::ffff:169.254.169.254'],
      want: 'a.example has the address ::ffff:169.254.169.254, which may not be called: it is link-local',
    },
    'fails for a name without an address': { addresses: [], want: 'the name has no address' },
  };
  for (const [fact, { addresses, want }] of Object.entries(cases)) {
    test(`checkedLookup() ${fact} [found X-3]`, () => {
      assert.equal(found(checkedLookup(finding(...addresses), {}), false), want);
    });
  }

  test('checkedLookup() gives all addresses where all are wanted [found X-3]', () => {
    const lookup = checkedLookup(finding('10.0.0.7', '10.0.0.8'), {});
    assert.deepEqual(found(lookup, true), [
      { address: '10.0.0.7', family: 4 },
      { address: '10.0.0.8', family: 4 },
    ]);
  });

  test('checkedLookup() lets this host be called where that is permitted [found X-3]', () => {
    const lookup = checkedLookup(finding('127.0.0.1'), { permitsLoopback: true });
    assert.equal(found(lookup, false), '127.0.0.1');
  });
});

test('checkHost() refuses addresses that stand in a URL, however they are written [found X-3]', () => {
  for (const host of [
    '127.0.0.1',
    '0x7f.1',
    '2130706433',
    '[::1]',
    '[::ffff:7f00:1]',
    '169.254.1',
  ]) {
    assert.throws(() => checkHost(new URL(`http://${host}:1/`), {}), RefusedAddressError, host);
  }
  for (const host of ['10.0.0.7', '[fd12::1]', 'localhost']) {
    checkHost(new URL(`http://${host}:1/`), {});
  }
});
