import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podHost, withHost, withoutUser } from './pod-url.ts';

test('podHost() joins set, ordinal, service, namespace and domain as they are (DD-10)', () => {
  const host = podHost({
    set: 'ingester-zone-b',
    ordinal: 3,
    serviceName: 'ingester',
    namespace: 'ns',
    clusterDomain: 'cluster.local.',
  });
  assert.equal(host, 'ingester-zone-b-3.ingester.ns.svc.cluster.local.');
});

const hosts: Record<string, readonly [url: string, want: string]> = {
  'replaces the host': ['http://pod/prepare', 'http://h./prepare'],
  'keeps the port [scenario 69]': ['http://pod:8080/path', 'http://h.:8080/path'],
  'keeps a port that is the default one': ['http://pod:80/path', 'http://h.:80/path'],
  'keeps the query string [scenario 69]': ['http://pod/p?a=b&c=d', 'http://h./p?a=b&c=d'],
  'keeps user, double slashes and fragment': [
    'https://u:p@pod:1//a/../b#f',
    'https://u:p@h.:1//a/../b#f',
  ],
  'takes a URL without a path': ['http://pod:8080', 'http://h.:8080'],
  'keeps the port of an address in brackets': ['http://[::1]:80/p', 'http://h.:80/p'],
  'takes no part of an address in brackets for a port': ['http://[::1]/p', 'http://h./p'],
  'leaves a text alone that is no URL': ['pod/prepare', 'pod/prepare'],
};

for (const [fact, [url, want]] of Object.entries(hosts)) {
  test(`withHost() ${fact}`, () => {
    assert.equal(withHost(url, 'h.'), want);
  });
}

test('withoutUser() takes user and password away, and nothing else', () => {
  assert.equal(withoutUser('http://u:p@pod:1/a?b=c@d'), 'http://pod:1/a?b=c@d');
  assert.equal(withoutUser('http://pod/a'), 'http://pod/a');
  assert.equal(withoutUser('pod'), 'pod');
});
