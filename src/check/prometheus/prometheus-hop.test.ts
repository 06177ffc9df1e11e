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
  'takes credentials to another port of the host': {
    location: 'https://H:2/x',
    want: 'https://h:2 /x with',
  },
  'takes credentials from http to https': {
    from: 'http://h:1',
    location: 'https://h/x',
    want: 'https://h /x with',
  },
  'takes credentials from http to http': {
    from: 'http://h:1',
    location: 'http://h:2/x',
    want: 'http://h:2 /x with',
  },
  'drops credentials from https to http': {
    location: 'http://h:1/x',
    want: 'http://h:1 /x without',
  },
  'drops credentials for another host': {
    location: 'https://q/x',
    want: 'https://q /x without',
  },
  'drops credentials for a subdomain': {
    location: 'https://a.h:1/x',
    want: 'https://a.h:1 /x without',
  },
  'drops credentials for the parent domain': {
    from: 'https://a.h:1',
    location: 'https://h:1/x',
    want: 'https://h:1 /x without',
  },
  'drops credentials for a host without a scheme': {
    location: '//q/x',
    want: 'https://q /x without',
  },
  'drops credentials where a backslash leads to another host': {
    location: '\\\\q/x',
    want: 'https://q /x without',
  },
  'drops credentials where the host is only the user of another': {
    location: 'https://h:1@q/x',
    want: 'https://q /x without',
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
    want: 'it redirects to "ftp://h/x", no http or https URL',
  },
  'fails where it leads to no URL': {
    location: 'http://',
    want: 'it redirects to "http://", no http or https URL',
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
