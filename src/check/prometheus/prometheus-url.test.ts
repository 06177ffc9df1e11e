import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { endingInTime } from '#support/ends-in-time.ts';
import { checkRequestUri, queryTarget, readPrometheusUrl } from './prometheus-url.ts';

interface Case {
  /** Whether Go's `url.ParseRequestURI` takes it: the peer admits it. */
  readonly isAdmitted: boolean;
  /** Origin and path, and the header; or how it fails when it is used. */
  readonly want: string;
}

/** What Go 1.26 says of each: https://pkg.go.dev/net/url. */
const cases: Record<string, Case> = {
  'http://h:9090': { isAdmitted: true, want: 'http://h:9090/api/v1/query' },
  'http://h:9090/': { isAdmitted: true, want: 'http://h:9090/api/v1/query' },
  'http://h/prom': { isAdmitted: true, want: 'http://h/prom/api/v1/query' },
  'http://h/prom/': { isAdmitted: true, want: 'http://h/prom/api/v1/query' },
  'http://h/prom//x/../y/': { isAdmitted: true, want: 'http://h/prom/y/api/v1/query' },
  'http://h/../..': { isAdmitted: true, want: 'http://h/api/v1/query' },
  'http://h/%2e%2e/a': { isAdmitted: true, want: 'http://h/a/api/v1/query' },
  'http://h/prom?tenant=a#f': { isAdmitted: true, want: 'http://h/prom/api/v1/query' },
  'http://h/prom/?x=1#f': { isAdmitted: true, want: 'http://h/prom/api/v1/query' },
  'http://h?x=1': { isAdmitted: true, want: 'http://h/api/v1/query' },
  'http://h/api/v1/query': { isAdmitted: true, want: 'http://h/api/v1/query/api/v1/query' },
  'http://h/a%2fb': { isAdmitted: true, want: 'http://h/a/b/api/v1/query' },
  'http://h/a%3Fb%23c%25': { isAdmitted: true, want: 'http://h/a%3Fb%23c%25/api/v1/query' },
  'http://h/ä b': { isAdmitted: true, want: 'http://h/%C3%A4%20b/api/v1/query' },
  'http://h/%ff': { isAdmitted: true, want: 'http://h/%FF/api/v1/query' },
  "http://h/!'()*;=": { isAdmitted: true, want: 'http://h/%21%27%28%29%2A;=/api/v1/query' },
  'HTTP://H': { isAdmitted: true, want: 'http://h/api/v1/query' },
  'https://h': { isAdmitted: true, want: 'https://h/api/v1/query' },
  'https://h:': { isAdmitted: true, want: 'https://h/api/v1/query' },
  'http://[::1]:9090/x': { isAdmitted: true, want: 'http://[::1]:9090/x/api/v1/query' },
  'http://bücher': { isAdmitted: true, want: 'http://xn--bcher-kva/api/v1/query' },
  'http://u:p@h/x': { isAdmitted: true, want: 'http://h/x/api/v1/query u:p' },
  'http://u@h': { isAdmitted: true, want: 'http://h/api/v1/query u:' },
  'http://u:p:q@h': { isAdmitted: true, want: 'http://h/api/v1/query u:p:q' },
  'http://u%40:%3a%2f@h': { isAdmitted: true, want: 'http://h/api/v1/query u@::/' },
  'prom:9000/xx': { isAdmitted: true, want: 'unusable: its scheme is "prom"' },
  'localhost:9090': { isAdmitted: true, want: 'unusable: its scheme is "localhost"' },
  '/prom': { isAdmitted: true, want: 'unusable: it has no scheme' },
  '//h:9090': { isAdmitted: true, want: 'unusable: it has no scheme' },
  '*': { isAdmitted: true, want: 'unusable: it has no scheme' },
  'ftp://h': { isAdmitted: true, want: 'unusable: its scheme is "ftp"' },
  'http://': { isAdmitted: true, want: 'unusable: it names no host' },
  'http:///x': { isAdmitted: true, want: 'unusable: it names no host' },
  'http:h': { isAdmitted: true, want: 'unusable: it names no host' },
  'http:/h': { isAdmitted: true, want: 'unusable: it names no host' },
  'http://h:0': { isAdmitted: true, want: 'unusable: its host and port cannot be reached' },
  'http://h:65536': { isAdmitted: true, want: 'unusable: its host and port cannot be reached' },
  'http://h<': { isAdmitted: true, want: 'unusable: its host and port cannot be reached' },
  'http://1': { isAdmitted: true, want: 'unusable: its host and port cannot be reached' },
  'http://0x7f.1': { isAdmitted: true, want: 'unusable: its host and port cannot be reached' },
  'http://[fe80::1%25eth0]': {
    isAdmitted: true,
    want: 'unusable: its host and port cannot be reached',
  },
  prom: { isAdmitted: false, want: 'unusable: it has no scheme' },
  '': { isAdmitted: false, want: 'unusable: it has no scheme' },
  '10.0.0.1:9090': { isAdmitted: false, want: 'malformed: its first part has a colon' },
  ' http://h': { isAdmitted: false, want: 'malformed: its first part has a colon' },
  ':9090': { isAdmitted: false, want: 'malformed: it has no scheme before the colon' },
  'http://h\n': { isAdmitted: false, want: 'malformed: it has a control character' },
  'http://h/\u0000': { isAdmitted: false, want: 'malformed: it has a control character' },
  'http://h/%zz': { isAdmitted: false, want: 'malformed: its path has a "%"' },
  'http://h/#%zz': { isAdmitted: false, want: 'malformed: its fragment has a "%"' },
  'http://h#f': { isAdmitted: false, want: 'http://h/api/v1/query' },
  'http://h x': { isAdmitted: false, want: 'malformed: its host has a character' },
  'http://evil\\@h': { isAdmitted: false, want: 'malformed: its user has a character' },
  'http://h\\@evil': { isAdmitted: false, want: 'malformed: its user has a character' },
  'http://h:port': { isAdmitted: false, want: 'malformed: its port is not a number' },
  'http://a:b:1': { isAdmitted: true, want: 'unusable: its host and port cannot be reached' },
  'http://%41': { isAdmitted: false, want: 'malformed: its host has an escape' },
  'http://[::1': { isAdmitted: false, want: 'malformed: its host has brackets' },
  'http://[h]': { isAdmitted: false, want: 'malformed: its host has brackets' },
  'http://[::1]x': { isAdmitted: false, want: 'malformed: its host has brackets' },
};

describe('a URL', () => {
  for (const [text, { isAdmitted, want }] of Object.entries(cases)) {
    test(`checkRequestUri() ${isAdmitted ? 'admits' : 'refuses'} ${JSON.stringify(text)}`, () => {
      assert.equal(checkRequestUri(text, 'url').kind === 'valid', isAdmitted);
    });
    test(`readPrometheusUrl() of ${JSON.stringify(text)} is ${want}`, () => {
      const seen = said(text);
      assert.ok(/^[um]\w+: /.test(want) ? seen.startsWith(want) : seen === want, seen);
    });
  }

  test('readPrometheusUrl() drops the query of the URL, and keeps its path [phased 44]', () => {
    assert.equal(said('http://h/prom/?x=1#f'), 'http://h/prom/api/v1/query');
  });

  test('checkRequestUri() says what is wrong, and where', () => {
    const parsed = checkRequestUri('10.0.0.1:9090', 'spec.check.query.url');
    assert.deepEqual(parsed.kind === 'invalid' && parsed.problem, {
      path: 'spec.check.query.url',
      message:
        'must be a URL such as "http://prometheus.monitoring:9090": got "10.0.0.1:9090", and it begins with neither a scheme nor a slash',
    });
  });

  test('checkRequestUri() and readPrometheusUrl() show no password, nor the begin or end of one', () => {
    const texts = [
      'http://ann:QVX@h:port',
      'http://ann:Q/X@h',
      'http://ann:Q@X@h x',
      'http://ann:Q#X@h',
      'ann:QX@h x\n',
      'http://ann:Q X@h',
      'http://ann:Q:X/@h',
    ];
    for (const text of texts) {
      const parsed = checkRequestUri(text, 'url');
      const reading = readPrometheusUrl(text);
      assert.ok(parsed.kind === 'invalid' || reading.kind !== 'url');
      const messages = [
        parsed.kind === 'invalid' ? parsed.problem.message : '',
        reading.kind === 'url' ? '' : reading.why,
      ];
      for (const message of messages) assert.doesNotMatch(message, /Q|X/);
    }
  });

  test('checkRequestUri() and readPrometheusUrl() read long texts in time that grows as they do', () => {
    const long = 1_000_000;
    const texts = [
      `http://${'a'.repeat(long)}:x`,
      `http://${':1'.repeat(long)}x`,
      `http://${'u@'.repeat(long)}`,
      `http://[${'%25]'.repeat(long)}x`,
      `http://h/${'../'.repeat(long)}`,
      'a'.repeat(long),
      `${'a:'.repeat(long)}\n`,
    ];
    for (const text of texts) {
      endingInTime(() => [checkRequestUri(text, 'url'), readPrometheusUrl(text)]);
    }
  });

  test('readPrometheusUrl() leads nowhere but to the host that is in the text', () => {
    const host = fc.stringMatching(/^[a-z0-9.-]{1,12}$/);
    const texts = fc
      .tuple(fc.constantFrom('http://', 'https://'), fc.string(), host, fc.string())
      .map(([scheme, user, name, rest]) => `${scheme}${user}${name}${rest}`);
    fc.assert(
      fc.property(texts, (text) => {
        const reading = readPrometheusUrl(text);
        if (reading.kind !== 'url') return;
        const [, authority = ''] = /^[^/]*\/\/([^/?#]*)/.exec(text) ?? [];
        const named = authority.slice(authority.lastIndexOf('@') + 1).toLowerCase();
        const { hostname } = new URL(reading.url.origin);
        if (/^[\w.:-]*$/.test(named)) assert.equal(named.split(':')[0], hostname);
        assert.match(reading.url.path, /^\/[\w.~$&+,/:;=@%-]*api\/v1\/query$/);
      }),
      { numRuns: 1_000 },
    );
  });
});

function said(text: string): string {
  const reading = readPrometheusUrl(text);
  if (reading.kind !== 'url') return `${reading.kind}: ${reading.why}`;
  const { origin, path, authorization } = reading.url;
  if (authorization === undefined) return origin + path;
  const pair = Buffer.from(authorization.replace(/^Basic /, ''), 'base64').toString();
  return `${origin}${path} ${pair}`;
}

describe('queryTarget()', () => {
  const targets: Record<string, { expr: string; want: string }> = {
    'puts the expression behind the path': { expr: 'up{}', want: 'up%7B%7D' },
    'makes one space of each white space, also of newlines [phased 45]': {
      expr: 'a\n  + \t\r\nb',
      want: 'a+%2B+b',
    },
    'lets a comment swallow what follows it, as the peer does [phased 45]': {
      expr: '# errors\nup < 5',
      want: '%23+errors+up+%3C+5',
    },
    'makes one space of white space in quotes, too': {
      expr: '{a="b  c"}',
      want: '%7Ba%3D%22b+c%22%7D',
    },
    'keeps spaces at the ends': { expr: ' up ', want: '+up+' },
    'keeps white space that Go does not take for any': { expr: 'a\u00a0b', want: 'a%C2%A0b' },
    'escapes what Go escapes': { expr: "!'()*-._~", want: '%21%27%28%29%2A-._~' },
    'replaces half a character': { expr: '\ud800', want: '%EF%BF%BD' },
  };
  for (const [fact, { expr, want }] of Object.entries(targets)) {
    test(`queryTarget() ${fact}`, () => {
      assert.equal(queryTarget({ path: '/p' }, expr), `/p?query=${want}`);
    });
  }
});
