import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Environment, proxyFor } from './proxy.ts';

const HTTPS_PROXY = 'http://proxy:3128';

interface Case {
  readonly server: string;
  readonly env: Environment;
  readonly want?: string;
}

const cases: Record<string, Case> = {
  'is none without variables': { server: 'https://api:6443', env: {} },
  'follows HTTPS_PROXY for https': {
    server: 'https://api:6443',
    env: { HTTPS_PROXY },
    want: 'http://proxy:3128',
  },
  'follows the lower-case name': {
    server: 'https://api',
    env: { https_proxy: HTTPS_PROXY },
    want: 'http://proxy:3128',
  },
  'does not follow HTTP_PROXY for https': {
    server: 'https://api',
    env: { HTTP_PROXY: 'http://proxy:3128' },
  },
  'follows HTTP_PROXY for http': {
    server: 'http://api:8080',
    env: { HTTP_PROXY: 'proxy:3128' },
    want: 'http://proxy:3128',
  },
  'is none for localhost': { server: 'https://localhost:6443', env: { HTTPS_PROXY } },
  'is none for a loopback address': { server: 'https://127.0.0.1:6443', env: { HTTPS_PROXY } },
  'is none for the IPv6 loopback': { server: 'https://[::1]:6443', env: { HTTPS_PROXY } },
  'is none for a host in NO_PROXY': {
    server: 'https://api.corp:6443',
    env: { HTTPS_PROXY, NO_PROXY: 'other, api.corp' },
  },
  'is none below a domain in NO_PROXY': {
    server: 'https://api.corp',
    env: { HTTPS_PROXY, NO_PROXY: 'corp' },
  },
  'is none below a domain with a dot': {
    server: 'https://api.corp',
    env: { HTTPS_PROXY, NO_PROXY: '.corp' },
  },
  'goes through the proxy for a domain that only ends alike': {
    server: 'https://apicorp',
    env: { HTTPS_PROXY, NO_PROXY: 'corp' },
    want: 'http://proxy:3128',
  },
  'is none for an address in a network of NO_PROXY': {
    server: 'https://10.96.0.1',
    env: { HTTPS_PROXY, NO_PROXY: '10.96.0.0/12' },
  },
  'goes through the proxy for an address outside the network': {
    server: 'https://10.128.0.1',
    env: { HTTPS_PROXY, NO_PROXY: '10.96.0.0/12' },
    want: 'http://proxy:3128',
  },
  'is none for everything with a star': {
    server: 'https://api',
    env: { HTTPS_PROXY, NO_PROXY: '*' },
  },
  'is none for the default port when NO_PROXY names it': {
    server: 'https://api',
    env: { HTTPS_PROXY, NO_PROXY: 'api:443' },
  },
  'goes through the proxy for another port than NO_PROXY names': {
    server: 'https://api:6443',
    env: { HTTPS_PROXY, NO_PROXY: 'api:443' },
    want: 'http://proxy:3128',
  },
  'is not confused by a network that is none': {
    server: 'https://10.0.0.1',
    env: { HTTPS_PROXY, NO_PROXY: '10.0.0.0/99,x/y' },
    want: 'http://proxy:3128',
  },
};

for (const [fact, { server, env, want }] of Object.entries(cases)) {
  test(`proxyFor() ${fact}`, () => {
    assert.equal(proxyFor(new URL(server), env), want);
  });
}
