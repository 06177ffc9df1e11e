import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis } from '#base/units.ts';
import {
  type PhasedRolloutConfig,
  type PhasedRolloutEnvironment,
  readPhasedRolloutConfig,
  sharedConfigOf,
} from './phased-config.ts';

function read(args: readonly string[], env: PhasedRolloutEnvironment = {}): PhasedRolloutConfig {
  const outcome = readPhasedRolloutConfig(args, env);
  assert.ok(outcome.kind === 'run', JSON.stringify(outcome));
  return outcome.config;
}

test('readPhasedRolloutConfig() has the defaults of the peer', () => {
  assert.deepEqual(read([]), {
    log: { format: 'logfmt', level: 'debug' },
    kubeconfig: undefined,
    metrics: undefined,
    probes: { host: undefined, port: 8_081 },
    webhooks: {
      port: 9_443,
      certFile: '/tmp/k8s-webhook-server/serving-certs/tls.crt',
      keyFile: '/tmp/k8s-webhook-server/serving-certs/tls.key',
      clientCa: '',
      selfSigned: undefined,
    },
    isElected: false,
    predecessorHorizon: millis(120_000),
    queries: { allowedHosts: [], permitsLoopback: false },
    withoutEffect: [],
  });
});

test('readPhasedRolloutConfig() reads the arguments of the shipped Deployment', () => {
  const { metrics, probes, isElected } = read([
    '--metrics-bind-address=:8443',
    '--leader-elect',
    '--health-probe-bind-address=:8081',
  ]);
  assert.deepEqual(metrics, { host: undefined, port: 8_443, isSecure: true });
  assert.deepEqual(probes, { host: undefined, port: 8_081 });
  assert.equal(isElected, true);
});

/** What is given, and what of the configuration it decides. */
const facts: Readonly<
  Record<string, readonly [args: readonly string[], wanted: Partial<PhasedRolloutConfig>]>
> = {
  'serves metrics to everybody where told to': [
    ['--metrics-bind-address=127.0.0.1:8080', '--metrics-secure=false'],
    { metrics: { host: '127.0.0.1', port: 8_080, isSecure: false } },
  ],
  'serves metrics on an address of IPv6': [
    ['--metrics-bind-address', '[::1]:8080'],
    { metrics: { host: '::1', port: 8_080, isSecure: true } },
  ],
  'serves no metrics for 0': [['--metrics-bind-address=0'], { metrics: undefined }],
  'serves no probes for 0': [['--health-probe-bind-address=0'], { probes: undefined }],
  'serves no probes for nothing': [['--health-probe-bind-address='], { probes: undefined }],
  'logs JSON from info on in production': [
    ['--zap-devel=false'],
    { log: { format: 'json', level: 'info' } },
  ],
  'logs as it is told': [
    ['--zap-devel=false', '--zap-encoder=console', '--zap-log-level=error'],
    { log: { format: 'logfmt', level: 'error' } },
  ],
  'takes a number for debug': [
    ['--zap-devel=false', '--zap-log-level=10'],
    { log: { format: 'json', level: 'debug' } },
  ],
  'takes panic for error': [
    ['--zap-log-level=panic'],
    { log: { format: 'logfmt', level: 'error' } },
  ],
  'tells what has no effect': [
    ['--enable-http2', '--zap-stacktrace-level=panic', '--zap-time-encoding=epoch'],
    {
      withoutEffect: [
        { flag: '--enable-http2', why: 'the servers speak HTTP/1.1, as they do without it' },
        {
          flag: '--zap-stacktrace-level',
          why: 'errors are logged with what caused them, at every level',
        },
        { flag: '--zap-time-encoding', why: 'times are written as RFC 3339' },
      ],
    },
  ],
  'has nothing to tell of flags that change nothing': [
    ['--enable-http2=false', '--zap-time-encoding=rfc3339'],
    { withoutEffect: [] },
  ],
};

for (const [fact, [args, wanted]] of Object.entries(facts)) {
  test(`readPhasedRolloutConfig() ${fact}`, () => {
    assert.deepEqual({ ...read(args), ...wanted }, read(args));
  });
}

test('readPhasedRolloutConfig() serves no webhooks where ENABLE_WEBHOOKS is exactly false', () => {
  assert.equal(read([], { ENABLE_WEBHOOKS: 'false' }).webhooks, undefined);
  for (const ENABLE_WEBHOOKS of ['', 'False', '0', 'true']) {
    assert.ok(read([], { ENABLE_WEBHOOKS }).webhooks, ENABLE_WEBHOOKS);
  }
});

test('readPhasedRolloutConfig() takes the kubeconfig of the flag before that of the environment', () => {
  assert.equal(read([], { KUBECONFIG: 'b' }).kubeconfig, 'b');
  assert.equal(read(['--kubeconfig=a'], { KUBECONFIG: 'b' }).kubeconfig, 'a');
});

test('readPhasedRolloutConfig() looks for certificates where temporary files are', () => {
  const { webhooks } = read([], { TMPDIR: '/scratch' });
  assert.equal(webhooks?.certFile, '/scratch/k8s-webhook-server/serving-certs/tls.crt');
});

for (const args of [
  ['--nonsense'],
  ['--metrics-bind-address=8443'],
  ['--metrics-bind-address=:70000'],
  ['--health-probe-bind-address=nowhere'],
  ['--leader-elect=perhaps'],
  ['--zap-encoder=xml'],
  ['--zap-log-level=-1'],
  ['--zap-time-encoding=lunar'],
]) {
  test(`readPhasedRolloutConfig() exits 2 for ${args.join(' ')}`, () => {
    const outcome = readPhasedRolloutConfig(args, {});
    assert.ok(outcome.kind === 'exit' && outcome.code === 2);
    assert.match(outcome.stderr, /\nUsage of phased-rollout:\n/);
  });
}

test('readPhasedRolloutConfig() tells what it does not read', () => {
  const outcome = readPhasedRolloutConfig(['--leader-elect', 'true', '--metrics-secure=false'], {});
  assert.ok(outcome.kind === 'run');
  assert.deepEqual(outcome.ignored, ['true', '--metrics-secure=false']);
});

test('sharedConfigOf() takes the Lease of the peer, and the certificate of the files', () => {
  const { leaderElection, tls, kubernetes, rollout } = sharedConfigOf(
    read(['--leader-elect', '--rollout.predecessor-horizon=5s']),
    'ops',
  );
  assert.equal(leaderElection.isEnabled, true);
  assert.equal(leaderElection.resourceName, '304add93.sts.plus');
  assert.equal(kubernetes.namespace, 'ops');
  assert.equal(rollout.predecessorHorizon, 5_000);
  assert.deepEqual(
    [tls.isEnabled, tls.port, tls.certFile, tls.selfSigned.isEnabled, tls.updatesCaBundle],
    [true, 9_443, '/tmp/k8s-webhook-server/serving-certs/tls.crt', false, false],
  );
});

test('sharedConfigOf() makes a certificate for the Service of the peer where the flag says so', () => {
  const { tls } = sharedConfigOf(read(['--server-tls.self-signed-cert.enabled']), 'ops');
  assert.deepEqual([tls.selfSigned.isEnabled, tls.updatesCaBundle], [true, true]);
  assert.equal(tls.selfSigned.dnsName, 'sts-phased-rollout-operator-webhook-service.ops.svc');
  assert.equal(tls.selfSigned.secretName, 'phased-rollout-self-signed-certificate');
});

test('sharedConfigOf() serves no webhooks where none are wanted', () => {
  const { tls } = sharedConfigOf(read([], { ENABLE_WEBHOOKS: 'false' }), 'ops');
  assert.equal(tls.isEnabled, false);
});
