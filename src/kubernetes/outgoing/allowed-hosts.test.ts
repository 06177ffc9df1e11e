import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { problemText } from '#base/parsed.ts';
import {
  type AllowedHost,
  type AllowedHosts,
  hostVerdict,
  parseAllowedHosts,
} from './allowed-hosts.ts';

/** The list that `text` stands for, its entries parted by commas. */
const flag = '-callback-allowed-hosts';

function hostsOf(text: string): AllowedHosts {
  const hosts = parseAllowedHosts(text.split(','), flag);
  if (hosts.kind === 'invalid') assert.fail(hosts.problems.map(problemText).join('; '));
  return hosts.value;
}

const bare = { isSuffix: false, port: undefined, permitsHttp: false };

describe('parseAllowedHosts()', () => {
  const cases: Record<string, AllowedHost> = {
    'bapi.internal': { ...bare, name: 'bapi.internal' },
    ' BAPI.Internal. ': { ...bare, name: 'bapi.internal' },
    bapi: { ...bare, name: 'bapi' },
    'bapi:8443': { ...bare, name: 'bapi', port: 8443 },
    '*.slack.com': { ...bare, name: 'slack.com', isSuffix: true },
    '*.slack.com:8443': { ...bare, name: 'slack.com', isSuffix: true, port: 8443 },
    'http://bapi': { ...bare, name: 'bapi', permitsHttp: true },
    'HTTP://*.svc:80': { name: 'svc', isSuffix: true, port: 80, permitsHttp: true },
    '10.0.0.1': { ...bare, name: '10.0.0.1' },
    '[FD00:0:0::1]:443': { ...bare, name: '[fd00::1]', port: 443 },
    'xn--bcher-kva.example': { ...bare, name: 'xn--bcher-kva.example' },
  };
  for (const [text, want] of Object.entries(cases)) {
    test(`parseAllowedHosts() reads ${JSON.stringify(text)} (E-20)`, () => {
      assert.deepEqual(hostsOf(text).entries, [want]);
    });
  }

  test('parseAllowedHosts() takes no entry for an empty list (E-20)', () => {
    assert.deepEqual(
      [parseAllowedHosts([], flag), parseAllowedHosts(['', ' '], flag)],
      [
        { kind: 'valid', value: { flag, entries: [] } },
        { kind: 'valid', value: { flag, entries: [] } },
      ],
    );
  });

  const bad: Record<string, RegExp> = {
    'https://bapi':
      /^must name hosts without "https:\/\/", which is the rule: got "https:\/\/bapi"$/,
    'ftp://bapi': /^must name hosts with nothing or "http:\/\/" in front/,
    'bapi/v1': /without user, path, query and blanks/,
    'http://bapi/': /without user, path/,
    'ann@bapi': /without user, path/,
    'bapi\\.evil': /without user, path/,
    'a b': /without user, path/,
    'bapi:': /must have a port from 1 to 65535 behind ":"/,
    'bapi:0': /must have a port/,
    'bapi:65536': /must have a port/,
    'bapi:https': /must have a port/,
    'a:1:2': /must have a port/,
    '::1': /must have a port|IPv6 in brackets/,
    '[::1': /IPv6 in brackets/,
    '[bapi]': /must have an IPv6 address in its brackets/,
    '*': /must have "\*" only as "\*\." in front of a name/,
    'a.*.b': /must have "\*" only/,
    '*.*.b': /must have "\*" only/,
    '*a.b': /must have "\*" only/,
    '*.': /must name a host/,
    '*.10.0.0.1': /must have a name behind "\*\.", not an address/,
    '*.[::1]': /must have a name behind "\*\.", not an address/,
    'a..b': /must name a host by letters/,
    '.a': /must name a host by letters/,
    ':443': /must name a host by letters/,
    'bücher.example': /others in their "xn--" form/,
    '1': /must name a host as it is read, 0\.0\.0\.1: got "1"/,
    '0x7f.1': /must name a host as it is read, 127\.0\.0\.1/,
    '256.1.1.1': /must name a host: got/,
  };
  for (const [text, want] of Object.entries(bad)) {
    test(`parseAllowedHosts() refuses ${JSON.stringify(text)} (E-20)`, () => {
      const hosts = parseAllowedHosts([text], flag);
      const messages = hosts.kind === 'invalid' ? hosts.problems.map(({ message }) => message) : [];
      assert.match(messages.join('; '), want);
    });
  }

  test('parseAllowedHosts() tells of all bad entries at once (E-20)', () => {
    const hosts = parseAllowedHosts(['https://a', 'b', '*'], flag);
    assert.deepEqual(hosts.kind === 'invalid' && hosts.problems.map(problemText), [
      '-callback-allowed-hosts must name hosts without "https://", which is the rule: got "https://a"',
      '-callback-allowed-hosts must have "*" only as "*." in front of a name: got "*"',
    ]);
  });
});

describe('hostVerdict()', () => {
  interface Case {
    readonly hosts: string;
    readonly url: string;
    readonly want: 'allowed' | 'HostNotAllowed' | 'HttpsRequired';
  }
  const cases: Record<string, Case> = {
    'allows no one by an empty list': { hosts: '', url: 'https://a', want: 'HostNotAllowed' },
    'allows a host of the list': { hosts: 'b,a', url: 'https://a/x', want: 'allowed' },
    'allows a host in any letters': { hosts: 'Bapi', url: 'https://bAPI/', want: 'allowed' },
    'allows a host with a dot at its end': { hosts: 'a.b', url: 'https://a.b./', want: 'allowed' },
    'allows no other host': { hosts: 'a', url: 'https://b', want: 'HostNotAllowed' },
    'allows nothing below a host': { hosts: 'a.b', url: 'https://x.a.b', want: 'HostNotAllowed' },
    'allows no host by its end': { hosts: 'a.b', url: 'https://xa.b', want: 'HostNotAllowed' },
    'allows no host by its begin': { hosts: 'a.b', url: 'https://a.b.c', want: 'HostNotAllowed' },
    'allows what lies below a suffix': { hosts: '*.a.b', url: 'https://x.a.b', want: 'allowed' },
    'allows what lies far below a suffix': {
      hosts: '*.a.b',
      url: 'https://x.y.a.b',
      want: 'allowed',
    },
    'allows no suffix itself': { hosts: '*.a.b', url: 'https://a.b', want: 'HostNotAllowed' },
    'allows no suffix without its dot': {
      hosts: '*.a.b',
      url: 'https://xa.b',
      want: 'HostNotAllowed',
    },
    'allows the port of the scheme': { hosts: 'a', url: 'https://a:443', want: 'allowed' },
    'allows no other port': { hosts: 'a', url: 'https://a:6443', want: 'HostNotAllowed' },
    'allows the port of the entry': { hosts: 'a:6443', url: 'https://a:6443', want: 'allowed' },
    'allows the port of the entry alone': {
      hosts: 'a:6443',
      url: 'https://a',
      want: 'HostNotAllowed',
    },
    'allows the port of a suffix alone': {
      hosts: '*.a:6443',
      url: 'https://x.a:6444',
      want: 'HostNotAllowed',
    },
    'demands https': { hosts: 'a:80', url: 'http://a', want: 'HttpsRequired' },
    'demands https where the port is left out': {
      hosts: 'a',
      url: 'http://a',
      want: 'HttpsRequired',
    },
    'permits http by its entry': { hosts: 'http://a', url: 'http://a', want: 'allowed' },
    'permits https by an entry of http': { hosts: 'http://a', url: 'https://a', want: 'allowed' },
    'permits http by a suffix': { hosts: 'http://*.a', url: 'http://x.a', want: 'allowed' },
    'permits http if one of two entries does': {
      hosts: 'a,http://a',
      url: 'http://a',
      want: 'allowed',
    },
    'permits http for its own host alone': {
      hosts: 'a,http://b',
      url: 'http://a',
      want: 'HttpsRequired',
    },
    'permits http at its own port alone': {
      hosts: 'a:8080,http://a',
      url: 'http://a:8080',
      want: 'HttpsRequired',
    },
    'knows an address however it is written': {
      hosts: '127.0.0.1',
      url: 'https://2130706433/',
      want: 'allowed',
    },
    'knows an address of IPv6 however it is written': {
      hosts: '[fd00::1]',
      url: 'https://[fd00:0::0:1]/',
      want: 'allowed',
    },
    'reads the host where it is connected to': {
      hosts: '*.good.test',
      url: 'https://evil.test\\.good.test/',
      want: 'HostNotAllowed',
    },
    'reads no user for the host': {
      hosts: 'good.test',
      url: 'https://good.test@evil.test/',
      want: 'HostNotAllowed',
    },
  };
  for (const [fact, { hosts, url, want }] of Object.entries(cases)) {
    test(`hostVerdict() ${fact} (E-20, E-22)`, () => {
      const verdict = hostVerdict(hostsOf(hosts), new URL(url));
      assert.equal(verdict.kind === 'allowed' ? verdict.kind : verdict.reason, want);
    });
  }

  test('hostVerdict() says what to add (E-20)', () => {
    const verdict = hostVerdict(
      { flag, entries: [] },
      new URL('https://bapi.internal:8443/v1?token=x'),
    );
    assert.equal(
      verdict.kind === 'refused' && verdict.why,
      'bapi.internal:8443 is not among the hosts of -callback-allowed-hosts',
    );
  });
});
