import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hopAfter } from './prometheus-hop.ts';

interface Case {
  /** @default `https://h:1` */
  readonly from?: string;
  /** @default `/api/v1/query?query=up` */
  readonly target?: string;
  readonly status?: number;
  readonly location: string;
  /** Where it leads, and with credentials or without; why it fails; undefined where the answer stands. */
  readonly want: string | undefined;
}

const elsewhere = 'it redirects to another server, whose URL is to be written';

const cases: Record<string, Case> = {
  'stands for a 200': { status: 200, location: '/x', want: undefined },
  'stands for a 300': { status: 300, location: '/x', want: undefined },
  'stands for a 304': { status: 304, location: '/x', want: undefined },
  'stands without a Location': { location: '', want: undefined },
  'follows a 301': { status: 301, location: '/x', want: 'https://h:1 /x with' },
  'follows a 303': { status: 303, location: '/x', want: 'https://h:1 /x with' },
  'follows a 308 below its own path': {
    status: 308,
    location: 'x?query=up#f',
    want: 'https://h:1 /api/v1/x?query=up with',
  },
  'fails where it leads to another port [found X-3]': {
    location: 'https://H:2/x',
    want: elsewhere,
  },
  'fails where it leads from https to http [found X-3]': {
    from: 'https://h',
    location: 'http://h/x',
    want: elsewhere,
  },
  'fails where it leads from http to https at a port of its own [found X-3]': {
    from: 'http://h:1',
    location: 'https://h/x',
    want: elsewhere,
  },
  'fails where it leads to another host [found X-3]': {
    location: 'https://q/x',
    want: elsewhere,
  },
  'fails where it leads to a subdomain [found X-3]': {
    location: 'https://a.h:1/x',
    want: elsewhere,
  },
  'fails where it leads to the parent domain [found X-3]': {
    from: 'https://a.h:1',
    location: 'https://h:1/x',
    want: elsewhere,
  },
  'fails where it leads to a host without a scheme [found X-3]': {
    location: '//q/x',
    want: elsewhere,
  },
  'fails where it leads to another host by a backslash [found X-3]': {
    location: '\\\\q/x',
    want: elsewhere,
  },
  'fails where it leads to a host whose user is the present one [found X-3]': {
    location: 'https://h:1@q/x',
    want: elsewhere,
  },
  'follows the same host to https, each at its usual port': {
    from: 'http://h',
    location: 'https://h/x',
    want: 'https://h /x with',
  },
  'stays on the host where its own path begins with two slashes': {
    target: '//q/x',
    location: 'y',
    want: 'https://h:1 //q/y with',
  },
  'takes no credentials from the Location': {
    location: 'https://u:p@h:1/x',
    want: 'https://h:1 /x with',
  },
  'fails where it leads to no web server': {
    location: 'ftp://h/x',
    want: 'it redirects to no http or https URL',
  },
  'fails where it leads to no URL': {
    location: 'http://',
    want: 'it redirects to no http or https URL',
  },
};

for (const [fact, given] of Object.entries(cases)) {
  const { from = 'https://h:1', target = '/api/v1/query?query=up', status = 302 } = given;
  const { location, want } = given;
  test(`hopAfter() ${fact}`, () => {
    const hop = { url: new URL(from), target, authorization: 'Basic x' };
    const next = hopAfter(hop, { status, location });
    if (next?.kind !== 'hop') {
      assert.equal(next?.why, want);
      return;
    }
    const { url, authorization } = next.hop;
    const said = authorization === 'Basic x' ? 'with' : 'without';
    assert.equal(`${url.origin} ${next.hop.target} ${said}`, want);
  });
}

test('hopAfter() takes headers where it takes credentials, and nowhere else [found R-13]', () => {
  const hop = { url: new URL('https://h:1'), target: '/', headers: { 'x-scope-orgid': 'a' } };
  const here = hopAfter(hop, { status: 302, location: '/x' });
  const elsewhere = hopAfter(hop, { status: 302, location: 'https://q/x' });
  assert.deepEqual(here?.kind === 'hop' && here.hop.headers, { 'x-scope-orgid': 'a' });
  assert.ok(elsewhere?.kind !== 'hop' || elsewhere.hop.headers === undefined);
});

test('hopAfter() sends no credentials where there were none', () => {
  const next = hopAfter({ url: new URL('http://h'), target: '/' }, { status: 302, location: '/x' });
  assert.ok(next?.kind === 'hop' && next.hop.authorization === undefined);
});
