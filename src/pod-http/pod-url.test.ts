import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpointAt, readPodUrl } from './pod-endpoint.ts';
import { type PodNames, podUrls, shownUrl } from './pod-url.ts';

const names: PodNames = {
  set: 'ingester-zone-b',
  serviceName: 'ingester',
  namespace: 'ns',
  clusterDomain: 'cluster.local.',
};
const host = 'ingester-zone-b-3.ingester.ns.svc.cluster.local.';

/** The URL of pod 3 by the annotation `url`; or what is wrong with it. */
function byUrl(url: string, rest: Partial<PodNames> = {}): string {
  const read = readPodUrl(url);
  if (read.kind !== 'endpoint') return read.kind;
  const urls = podUrls({ ...names, ...rest }, read.endpoint);
  return urls.kind === 'valid' ? urls.value(3) : `${urls.problem.path} ${urls.problem.message}`;
}

/** The URL of pod 3 by the annotations of port and path; or what is wrong with them. */
function byPort(port: string, path: string, rest: Partial<PodNames> = {}): string {
  const endpoint = endpointAt({ path: 'port', text: port }, { path: 'path', text: path });
  if (endpoint.kind === 'invalid') return `${endpoint.problem.path} ${endpoint.problem.message}`;
  const urls = podUrls({ ...names, ...rest }, endpoint.value);
  return urls.kind === 'valid' ? urls.value(3) : `${urls.problem.path} ${urls.problem.message}`;
}

const hosts: Record<string, readonly [url: string, want: string]> = {
  'replaces the host': ['http://pod/prepare', `http://${host}/prepare`],
  'keeps the port [scenario 69]': ['http://pod:8080/path', `http://${host}:8080/path`],
  'keeps a port that is the default one': ['http://pod:80/path', `http://${host}:80/path`],
  'keeps the query string [scenario 69]': [
    'http://pod/p?a=b&c=d \\@',
    `http://${host}/p?a=b&c=d \\@`,
  ],
  'keeps user, double slashes and fragment': [
    'https://u:p@pod:1//a/../b#f',
    `https://u:p@${host}:1//a/../b#f`,
  ],
  'takes a URL without a path': ['http://pod:8080', `http://${host}:8080`],
  'takes a URL without a host, as the peer does': ['http://:8080/p', `http://${host}:8080/p`],
  'drops a colon without a port': ['http://pod:/p', `http://${host}/p`],
  'keeps the port of an address in brackets': ['http://[::1]:80/p', `http://${host}:80/p`],
  'takes no part of an address in brackets for a port': ['http://[::1]/p', `http://${host}/p`],
  'keeps a host within the path a part of it': ['http://pod/@evil:1/p', `http://${host}/@evil:1/p`],
  'escapes a backslash and blanks in the path, as the peer does': [
    'http://pod/a\\b c ',
    `http://${host}/a%5Cb%20c%20`,
  ],
  'leaves a text alone that is no URL': ['pod/prepare', 'uncallable'],
  'refuses a backslash behind which another host would be called': [
    'http://evil:80\\@pod/x',
    'malformed',
  ],
  'refuses a backslash in the host': ['http://evil\\.pod/x', 'malformed'],
  'refuses a blank in the host': ['http://evil pod/x', 'malformed'],
  'refuses text for a port': ['http://pod:80x/x', 'malformed'],
  'refuses two ports': ['http://pod:80:90/x', 'malformed'],
  'refuses a broken escape': ['http://pod/%zz', 'malformed'],
  'refuses a line break': ['http://pod\n/x', 'malformed'],
  'calls no port above the last': ['http://pod:99999/x', 'uncallable'],
  'calls no port 0': ['http://pod:0/x', 'uncallable'],
};

for (const [fact, [url, want]] of Object.entries(hosts)) {
  test(`podUrls() ${fact}`, () => {
    assert.equal(byUrl(url), want);
  });
}

const ports: Record<string, readonly [port: string, path: string, want: string]> = {
  'makes a URL of port and path': [
    '80',
    'ingester/prepare-shutdown',
    `http://${host}:80/ingester/prepare-shutdown`,
  ],
  'joins a path with a slash in front [found R-19] [admission 44]': [
    '80',
    '/ingester/prepare-shutdown',
    `http://${host}:80/ingester/prepare-shutdown`,
  ],
  'cleans the path, and no query or fragment [found R-19]': [
    '80',
    '//a/./b//../c/?d=//e/../f#//g/',
    `http://${host}:80/a/c?d=//e/../f#//g/`,
  ],
  'goes up no higher than the root [found R-19]': ['80', '../../x', `http://${host}:80/x`],
  'takes a slash alone for the root [found R-19]': ['80', '/', `http://${host}:80/`],
  'takes a query without a path [found R-19]': ['80', '?a', `http://${host}:80/?a`],
  'keeps query and fragment of the path': ['80', 'x?a=%zz#f', `http://${host}:80/x?a=%zz#f`],
  'keeps a path that looks like another host': ['80', '@evil:1/x', `http://${host}:80/@evil:1/x`],
  'escapes a backslash in the path': ['80', '\\evil/x', `http://${host}:80/%5Cevil/x`],
  'refuses a port that names another host': [
    '80@evil:1234/',
    'x',
    'port must be a port number from 1 to 65535, such as "80": got "80@evil:1234/"',
  ],
  'refuses a broken escape in the path': [
    '80',
    'a%zz',
    'path must be a path such as "ingester/prepare-shutdown", without control characters, each "%" followed by two hexadecimal digits: got "a%zz"',
  ],
};

for (const [fact, [port, path, want]] of Object.entries(ports)) {
  test(`podUrls() ${fact}`, () => {
    assert.equal(byPort(port, path), want);
  });
}

for (const port of ['80/', '8 0', ' 80', '99999', '0', '-1', '0x50', '1e3', 'http', '80\n']) {
  test(`endpointAt() takes ${JSON.stringify(port)} for no port`, () => {
    assert.match(byPort(port, 'x'), /^port must be a port number from 1 to 65535/);
  });
}

for (const path of ['a\r\nhost: evil', 'a\u0000', '%', '%4', 'x#%zz']) {
  test(`endpointAt() takes ${JSON.stringify(path)} for no path`, () => {
    assert.match(byPort('80', path), /^path must be a path such as/);
  });
}

for (const name of ['127.0.0.1:1234/x?', 'evil\\', 'a@evil', 'a#', 'a b', '', 'a/b', 'a%2f']) {
  test(`podUrls() calls nothing by the name ${JSON.stringify(name)}, whatever field it is in`, () => {
    const got = `must be a DNS name such as "ingester": got ${JSON.stringify(name)}`;
    for (const call of [byUrl.bind(undefined, 'http://pod/x'), byPort.bind(undefined, '80', 'x')]) {
      assert.equal(call({ serviceName: name }), `spec.serviceName ${got}`);
      assert.equal(call({ set: name }), `metadata.name ${got}`);
      assert.equal(call({ namespace: name }), `metadata.namespace ${got}`);
    }
  });
}

test('podUrls() calls nothing where a parser would understand another host', () => {
  for (const clusterDomain of ['1.2.3.4', 'cluster.local/x', '@evil', 'local\\x']) {
    assert.equal(
      byUrl('http://pod/x', { clusterDomain }),
      `-kubernetes.cluster-domain must be a DNS name that ends hosts: got ${JSON.stringify(clusterDomain)}`,
    );
  }
});

test('shownUrl() takes user and password away, and nothing else', () => {
  assert.equal(shownUrl('http://u:p@pod:1/a?b=c@d'), 'http://pod:1/a?b=c@d');
  assert.equal(shownUrl('http://pod/a'), 'http://pod/a');
  assert.equal(shownUrl('pod'), 'pod');
  // A password with an "@" of its own, of which nothing is shown.
  assert.equal(shownUrl('http://u:p@ss@pod:1/a'), 'http://pod:1/a');
});

test('shownUrl() shows the begin of a long one, and how long it was', () => {
  const url = `http://pod/${'x'.repeat(1_000)}`;
  assert.equal(shownUrl(url), `${url.slice(0, 300)}… (1011 characters)`);
});
