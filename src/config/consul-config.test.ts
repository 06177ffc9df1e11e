import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ConsulConfig, ConsulEnvironment } from './consul-config.ts';
import { readStatefulsetRolloutConfig } from './statefulset-config.ts';

function consulOf(args: readonly string[], env: ConsulEnvironment = {}): ConsulConfig | undefined {
  const outcome = readStatefulsetRolloutConfig(args, env);
  assert.ok(outcome.kind === 'run', outcome.kind === 'exit' ? outcome.stderr : '');
  return outcome.config.consul;
}

describe('what is read of Consul', () => {
  test('is nothing without an address', () => {
    assert.equal(consulOf(['--consul-stale'], { CONSUL_HTTP_TOKEN: 'secret' }), undefined);
  });

  test('is the variables of its own programs', () => {
    const env = {
      CONSUL_HTTP_ADDR: 'consul:8501',
      CONSUL_HTTP_SSL: 'true',
      CONSUL_HTTP_TOKEN: 'secret',
      CONSUL_CACERT: '/ca',
      CONSUL_CLIENT_CERT: '/cert',
      CONSUL_CLIENT_KEY: '/key',
    };
    assert.deepEqual(consulOf([], env), {
      address: 'https://consul:8501/',
      authorities: '/ca',
      identity: { certificate: '/cert', key: '/key' },
      token: { kind: 'text', value: 'secret' },
      isStaleAllowed: false,
      keys: { podName: 'pod-name', namespace: 'k8s-namespace' },
    });
  });

  test('is the flags first', () => {
    const args = [
      '--consul-address=http://10.0.0.1:8500',
      '--consul-token-file=/token',
      '--consul-stale',
      '--consul-pod-name-key=pod',
      '--consul-namespace-key=ns',
    ];
    const env = { CONSUL_HTTP_ADDR: 'other', CONSUL_HTTP_SSL: 'true', CONSUL_HTTP_TOKEN: 'secret' };
    assert.deepEqual(consulOf(args, env), {
      address: 'http://10.0.0.1:8500/',
      authorities: undefined,
      identity: undefined,
      token: { kind: 'file', value: '/token' },
      isStaleAllowed: true,
      keys: { podName: 'pod', namespace: 'ns' },
    });
  });

  const addresses: Record<string, string> = {
    consul: 'http://consul/',
    '127.0.0.1:8500': 'http://127.0.0.1:8500/',
    '[fd00::1]:8500': 'http://[fd00::1]:8500/',
    'https://consul:8501/behind': 'https://consul:8501/behind',
  };
  for (const [given, want] of Object.entries(addresses)) {
    test(`takes the address ${given}`, () => {
      assert.equal(consulOf([`--consul-address=${given}`])?.address, want);
    });
  }

  const refused: Record<
    string,
    { args?: readonly string[]; env?: ConsulEnvironment; want: RegExp }
  > = {
    'a socket': {
      args: ['--consul-address=unix:///consul.sock'],
      want: /^-consul-address must be host:port, or a URL of http or https with no more: got "unix:/,
    },
    'a user in the address, whose password is not reported': {
      env: { CONSUL_HTTP_ADDR: 'http://ann:secret@consul' },
      want: /^CONSUL_HTTP_ADDR must be [^\n]*: got another one\n$/,
    },
    'an address that is none': {
      env: { CONSUL_HTTP_ADDR: 'consul:port' },
      want: /^CONSUL_HTTP_ADDR must be .*: got "consul:port"\n$/,
    },
    'a query in the address': { args: ['--consul-address=consul?dc=a'], want: /must be host:port/ },
    'a word for CONSUL_HTTP_SSL': {
      env: { CONSUL_HTTP_SSL: 'yes please' },
      want: /^CONSUL_HTTP_SSL must be true or false: got "yes please"\n$/,
    },
    'a certificate without its key': {
      env: { CONSUL_CLIENT_CERT: '/cert' },
      want: /^CONSUL_CLIENT_KEY must be set, too/,
    },
    'a token that no header can hold, which is not reported': {
      env: { CONSUL_HTTP_TOKEN: 'sec\nret' },
      want: /^CONSUL_HTTP_TOKEN must be one line of printable characters\n$/,
    },
    'a key that Consul does not take': {
      args: ['--consul-pod-name-key=pod name'],
      want: /^-consul-pod-name-key must have 1 to 128 letters, digits, "_" and "-": got "pod name"\n$/,
    },
    'no key': { args: ['--consul-namespace-key='], want: /^-consul-namespace-key must have/ },
  };
  for (const [what, { args = [], env = {}, want }] of Object.entries(refused)) {
    test(`refuses ${what}`, () => {
      const outcome = readStatefulsetRolloutConfig(args, env);
      assert.ok(outcome.kind === 'exit');
      assert.equal(outcome.code, 2);
      assert.match(outcome.stderr, want);
    });
  }
});
