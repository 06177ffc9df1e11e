import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type RefusedAddress, refusedAddress } from './refused-address.ts';

type Cases = Readonly<Record<string, RefusedAddress | undefined>>;

function check(cases: Cases): void {
  for (const [address, want] of Object.entries(cases)) {
    const fact = want === undefined ? 'lets a callback go to' : `finds ${want} in`;
    test(`refusedAddress() ${fact} ${address} (E-21)`, () => {
      assert.equal(refusedAddress(address), want);
    });
  }
}

describe('refusedAddress() of IPv4', () => {
  check({
    '0.0.0.0': 'unspecified',
    '0.255.255.255': 'unspecified',
    '1.0.0.0': undefined,
    '126.255.255.255': undefined,
    '127.0.0.1': 'loopback',
    '127.255.255.255': 'loopback',
    '128.0.0.0': undefined,
    '169.253.255.255': undefined,
    '169.254.0.0': 'link-local',
    '169.254.169.254': 'link-local',
    '169.254.255.255': 'link-local',
    '169.255.0.0': undefined,
    '223.255.255.255': undefined,
    '224.0.0.1': 'multicast',
    '239.255.255.255': 'multicast',
    '240.0.0.1': undefined,
    '255.255.255.254': undefined,
    '255.255.255.255': 'broadcast',
    '100.100.100.200': 'metadata',
    '100.100.100.201': undefined,
    '168.63.129.16': 'metadata',
    '10.0.0.1': undefined,
    '172.16.0.1': undefined,
    '192.168.0.1': undefined,
    '8.8.8.8': undefined,
  });
});

describe('refusedAddress() of IPv6', () => {
  check({
    '::': 'unspecified',
    '0:0:0:0:0:0:0:0': 'unspecified',
    '::1': 'loopback',
    '0:0:0:0:0:0:0:1': 'loopback',
    '::1%lo': 'loopback',
    'fe7f::1': undefined,
    'fe80::1': 'link-local',
    'fe80::1%eth0': 'link-local',
    'FEBF:ffff::1': 'link-local',
    'fec0::1': undefined,
    'ff02::1': 'multicast',
    'ff00::': 'multicast',
    'fd00:ec2::254': 'metadata',
    'fd20:ce::254': 'metadata',
    'fd00:ec3::254': undefined,
    'fd12:3456::1': undefined,
    '2001:db8::1': undefined,
    '1:2:3:4:5:6:7:8': undefined,
  });
});

describe('refusedAddress() of an IPv4 address inside one of IPv6', () => {
  check({
    '::ffff:127.0.0.1': 'loopback',
    '::ffff:7f00:1': 'loopback',
    '0:0:0:0:0:ffff:127.0.0.1': 'loopback',
    '::FFFF:169.254.169.254': 'link-local',
    '::ffff:a9fe:a9fe': 'link-local',
    '::ffff:0.0.0.0': 'unspecified',
    '::ffff:224.0.0.1': 'multicast',
    '::ffff:10.0.0.1': undefined,
    '::ffff:0:127.0.0.1': 'loopback',
    '64:ff9b::127.0.0.1': 'loopback',
    '64:ff9b::a9fe:a9fe': 'link-local',
    '64:ff9b::8.8.8.8': undefined,
    '64:ff9b:1::127.0.0.1': 'loopback',
    '64:ff9b:1::a9fe:a9fe': 'link-local',
    '64:ff9b:1::8.8.8.8': undefined,
    '2002:7f00:1::': 'loopback',
    '2002:a9fe:a9fe::1': 'link-local',
    '2002:808:808::1': undefined,
    '::127.0.0.1': 'loopback',
    '::2': 'unspecified',
    '::8.8.8.8': undefined,
  });
});

describe('refusedAddress() of what is no address', () => {
  check({
    '': 'unreadable',
    localhost: 'unreadable',
    '127.1': 'unreadable',
    '[::1]': 'unreadable',
  });
});

describe('refusedAddress() where loopback is permitted', () => {
  const cases: Cases = {
    '127.0.0.1': undefined,
    '::1': undefined,
    '::ffff:127.0.0.1': undefined,
    '0.0.0.0': 'unspecified',
    '::': 'unspecified',
    '169.254.169.254': 'link-local',
    '::ffff:169.254.169.254': 'link-local',
    localhost: 'unreadable',
  };
  for (const [address, want] of Object.entries(cases)) {
    test(`refusedAddress() makes ${want === undefined ? 'an' : 'no'} exception of ${address} (E-23)`, () => {
      assert.equal(refusedAddress(address, { permitsLoopback: true }), want);
    });
  }
});
