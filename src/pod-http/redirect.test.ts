import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstHop, redirectOf } from './redirect.ts';

interface Case {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly status: number;
  readonly location?: string;
  readonly want: readonly [method: string, url: string, host: string] | string | undefined;
}

const cases: Record<string, Case> = {
  'stands for a 200': { status: 200, location: '/x', want: undefined },
  'stands for a 304': { status: 304, location: '/x', want: undefined },
  'stands for a 307 without a Location': { status: 307, want: undefined },
  'stands for a 302 without a Location': { status: 302, want: undefined },
  'fails a POST that 301 would turn into a GET': {
    status: 301,
    location: '/x',
    want: 'it answers 301, after which POST becomes GET',
  },
  'fails a DELETE that 302 would turn into a GET': {
    method: 'DELETE',
    status: 302,
    location: '/x',
    want: 'it answers 302, after which DELETE becomes GET',
  },
  'fails a POST that 303 would turn into a GET': {
    status: 303,
    location: 'x',
    want: 'it answers 303, after which POST becomes GET',
  },
  'follows a GET after 302': {
    method: 'GET',
    status: 302,
    location: 'x',
    want: ['GET', 'http://p:1/a/x', 'p:1'],
  },
  'keeps the method after 307': {
    method: 'DELETE',
    status: 307,
    location: '/x',
    want: ['DELETE', 'http://p:1/x', 'p:1'],
  },
  'follows a 308 to another port and scheme of the pod': {
    status: 308,
    location: 'https://p/x',
    want: ['POST', 'https://p/x', 'p'],
  },
  'follows a 307 to the pod without the dot at the end': {
    status: 307,
    location: 'http://P.:1/x',
    want: ['POST', 'http://p.:1/x', 'p.:1'],
  },
  'fails when it leads to another host': {
    status: 308,
    location: 'https://q/x',
    want: 'it redirects to "https://q/x", which is another host',
  },
  'fails when it leads to another host, also a GET': {
    method: 'GET',
    status: 302,
    location: '//q/x',
    want: 'it redirects to "//q/x", which is another host',
  },
  'fails when the pod is only the user of another host': {
    status: 307,
    location: 'http://p:1@q/x',
    want: 'it redirects to "http://p:1@q/x", which is another host',
  },
  'fails when a backslash leads to another host': {
    status: 307,
    location: '\\\\q/x',
    want: 'it redirects to "\\\\\\\\q/x", which is another host',
  },
  'fails when it leads to no http(s) URL': {
    status: 307,
    location: 'ftp://p/x',
    want: 'it redirects to "ftp://p/x", which is not an http or https URL',
  },
  'fails when it leads to no URL': {
    method: 'GET',
    status: 302,
    location: 'http://',
    want: 'it redirects to "http://", which is not an http or https URL',
  },
};

for (const [fact, { method = 'POST', status, location = '', want }] of Object.entries(cases)) {
  test(`redirectOf() ${fact}`, () => {
    const hop = firstHop(method, 'http://p:1/a/b');
    assert.ok(hop !== undefined);
    const next = redirectOf(hop, { status, location });
    const seen =
      next?.kind === 'hop' ? [next.hop.method, next.hop.url.href, next.hop.host] : next?.why;
    assert.deepEqual(seen, want);
  });
}

test('firstHop() keeps the host as it is written, without the user', () => {
  assert.equal(firstHop('POST', 'http://u:p@pod.:80/x')?.host, 'pod.:80');
  assert.equal(firstHop('POST', 'http://pod')?.host, 'pod');
});

test('firstHop() is undefined for what no web client can call', () => {
  for (const text of [
    'pod/x',
    'ftp://pod/x',
    'http://',
    '',
    'http:pod/x',
    'http://evil\\@pod/x',
    'http:///pod',
  ]) {
    assert.equal(firstHop('POST', text), undefined);
  }
});
