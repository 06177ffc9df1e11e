import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstHop, redirectOf } from './redirect.ts';

interface Case {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly status: number;
  readonly location?: string;
  readonly want: readonly [method: string, url: string, host: string] | 'unusable' | undefined;
}

const cases: Record<string, Case> = {
  'stands for a 200': { status: 200, location: '/x', want: undefined },
  'stands for a 304': { status: 304, location: '/x', want: undefined },
  'stands for a 307 without a Location': { status: 307, want: undefined },
  'asks with GET after 301': { status: 301, location: '/x', want: ['GET', 'http://p:1/x', 'p:1'] },
  'asks with GET after 302, also a DELETE': {
    method: 'DELETE',
    status: 302,
    location: '/x',
    want: ['GET', 'http://p:1/x', 'p:1'],
  },
  'asks with GET after 303': { status: 303, location: 'x', want: ['GET', 'http://p:1/a/x', 'p:1'] },
  'keeps the method after 307': {
    method: 'DELETE',
    status: 307,
    location: '/x',
    want: ['DELETE', 'http://p:1/x', 'p:1'],
  },
  'keeps the method after 308, to another host': {
    status: 308,
    location: 'https://q/x',
    want: ['POST', 'https://q/x', 'q'],
  },
  'is unusable when it leads to no http(s) URL': {
    status: 307,
    location: 'ftp://q/x',
    want: 'unusable',
  },
  'is unusable when it leads to no URL': { status: 302, location: 'http://', want: 'unusable' },
};

for (const [fact, { method = 'POST', status, location = '', want }] of Object.entries(cases)) {
  test(`redirectOf() ${fact}`, () => {
    const hop = firstHop(method, 'http://p:1/a/b');
    assert.ok(hop !== undefined);
    const next = redirectOf(hop, { status, location });
    const seen = typeof next === 'object' ? [next.method, next.url.href, next.host] : next;
    assert.deepEqual(seen, want);
  });
}

test('firstHop() keeps the host as it is written, without the user', () => {
  assert.equal(firstHop('POST', 'http://u:p@pod.:80/x')?.host, 'pod.:80');
  assert.equal(firstHop('POST', 'http://pod')?.host, 'pod');
});

test('firstHop() is undefined for what no web client can call', () => {
  for (const text of ['pod/x', 'ftp://pod/x', 'http://', '']) {
    assert.equal(firstHop('POST', text), undefined);
  }
});
