import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Config } from './config.ts';
import { operatorFlags } from './flags/flags.ts';
import type { ConfigOutcome } from './read-config.ts';
import { readConfig } from './read-config.ts';

function configFrom(...args: readonly string[]): Config {
  const outcome = readConfig(['-kubernetes.namespace=x', ...args]);
  if (outcome.kind === 'exit') throw new Error(`Cannot run: ${outcome.stderr}`);
  return outcome.config;
}

function exitOf(outcome: ConfigOutcome): readonly [code: number, firstLine: string] {
  if (outcome.kind === 'run') throw new Error('The command line was accepted');
  return [outcome.code, outcome.stderr.split('\n')[0] ?? ''];
}

const defaults: Record<string, string> = {
  'kubernetes.api-url': '',
  'kubernetes.client-burst': '10',
  'kubernetes.client-qps': '5',
  'kubernetes.client-timeout': '5m0s',
  'kubernetes.cluster-domain': '"cluster.local."',
  'kubernetes.config-file': '',
  'kubernetes.namespace': '',
  'kubernetes.pod-name': '',
  'leader-election.enabled': 'true',
  'leader-election.lease-duration': '15s',
  'leader-election.lease-name': '',
  'leader-election.renew-deadline': '10s',
  'leader-election.resource-name': '"rollout-operator"',
  'leader-election.retry-period': '2s',
  'log.format': '"logfmt"',
  'log.level': '"debug"',
  'pods.client-timeout': '5s',
  'reconcile.interval': '5s',
  'rollout.predecessor-horizon': '2m0s',
  'rollout.stuck-after': '30m0s',
  'server-tls.cert-file': '',
  'server-tls.client-ca': '',
  'server-tls.enabled': '',
  'server-tls.key-file': '',
  'server-tls.port': '8443',
  'server-tls.request-timeout': '10s',
  'server-tls.self-signed-cert.dns-name': '',
  'server-tls.self-signed-cert.enabled': 'true',
  'server-tls.self-signed-cert.expiration': '1y',
  'server-tls.self-signed-cert.org': '"Grafana Labs"',
  'server-tls.self-signed-cert.secret-name': '"rollout-operator-self-signed-certificate"',
  'server.cluster-validation.http.enabled': '',
  'server.cluster-validation.http.excluded-paths': '',
  'server.cluster-validation.http.excluded-user-agents': '',
  'server.cluster-validation.http.soft-validation': '',
  'server.port': '8001',
  'use-zone-tracker': '',
  'webhooks.update-ca-bundle': 'true',
  'zone-tracker.config-map-name': '"rollout-operator-zone-tracker"',
  'zpdb.pod-ready-annotation-patch-timeout': '5s',
};

test('[scenario 78] operatorFlags() has exactly the flags and defaults of the table', () => {
  const listing = operatorFlags().set.usage();
  const entries = [...listing.matchAll(/^ {2}-(\S+).*\n.*?(?:\(default (.*)\))?$/gm)];
  const seen = Object.fromEntries(entries.map(([, name = '', shown = '']) => [name, shown]));
  assert.deepEqual(seen, defaults);
});

test('[scenario 78] readConfig() has the defaults of the table', () => {
  assert.deepEqual(configFrom(), {
    log: { format: 'logfmt', level: 'debug' },
    server: {
      port: 8001,
      clusterValidation: {
        isEnabled: false,
        isSoft: false,
        excludedPaths: [
          'admission/no-downscale',
          'admission/prepare-downscale',
          'admission/pod-eviction',
          'admission/zpdb-validation',
        ],
        excludedUserAgents: [],
      },
    },
    kubernetes: {
      apiUrl: undefined,
      configFile: undefined,
      clientTimeout: 300_000,
      limiter: undefined,
      clusterDomain: 'cluster.local.',
      namespace: 'x',
      podName: undefined,
    },
    pods: { clientTimeout: 5_000 },
    reconcile: { resync: 5_000 },
    leaderElection: {
      isEnabled: true,
      leaseDuration: 15_000,
      renewDeadline: 10_000,
      retryPeriod: 2_000,
      resourceName: 'rollout-operator',
    },
    rollout: { stuckAfter: 1_800_000, predecessorHorizon: 120_000 },
    tls: {
      isEnabled: false,
      port: 8443,
      certFile: '',
      keyFile: '',
      clientCa: '',
      requestTimeout: 10_000,
      updatesCaBundle: true,
      selfSigned: {
        isEnabled: true,
        secretName: 'rollout-operator-self-signed-certificate',
        dnsName: 'rollout-operator.x.svc',
        organization: 'Grafana Labs',
        expiration: 31_536_000_000,
      },
    },
    zoneTracker: { isEnabled: false, configMapName: 'rollout-operator-zone-tracker' },
    zpdb: { podReadyAnnotationPatchTimeout: 5_000 },
  });
});

const exits: Record<string, readonly [args: readonly string[], code: number, line: string]> = {
  'exits 1 for burst 0 with qps 5': [
    ['-kubernetes.namespace=x', '-kubernetes.client-qps=5', '-kubernetes.client-burst=0'],
    1,
    '-kubernetes.client-burst must be at least 1 while -kubernetes.client-qps is 5: got 0',
  ],
  'exits 1 for burst 0 without qps (D-14)': [
    ['-kubernetes.namespace=x', '-kubernetes.client-burst=0'],
    1,
    '-kubernetes.client-burst must be at least 1 while -kubernetes.client-qps is 5: got 0',
  ],
  'exits 1 for request timeout 0': [
    ['-kubernetes.namespace=x', '-server-tls.request-timeout=0'],
    1,
    '-server-tls.request-timeout must be greater than 0: got 0s',
  ],
  'exits 1 for a negative time after which pods are stuck': [
    ['-kubernetes.namespace=x', '-rollout.stuck-after=-1s'],
    1,
    '-rollout.stuck-after must not be negative: got -1s',
  ],
  'exits 1 for request timeout -1s': [
    ['-kubernetes.namespace=x', '-server-tls.request-timeout=-1s'],
    1,
    '-server-tls.request-timeout must be greater than 0: got -1s',
  ],
  'exits 1 for a missing namespace': [[], 1, '-kubernetes.namespace must not be empty'],
  'exits 1 for an API URL without a kubeconfig': [
    ['-kubernetes.namespace=x', '-kubernetes.api-url=https://k:6443'],
    1,
    '-kubernetes.api-url must be set together with -kubernetes.config-file: got only "https://k:6443"',
  ],
  'exits 1 for soft validation alone': [
    ['-kubernetes.namespace=x', '-server.cluster-validation.http.soft-validation'],
    1,
    '-server.cluster-validation.http.soft-validation must be set together with -server.cluster-validation.http.enabled=true',
  ],
  'exits 2 for an unknown flag': [['-nope'], 2, 'flag provided but not defined: -nope'],
  'exits 0 for -help': [['-help'], 0, 'Usage of rollout-operator:'],
  'exits 0 for -h': [['-h'], 0, 'Usage of rollout-operator:'],
  'exits 1 as parsing stopped at the word after a boolean flag': [
    ['-server-tls.enabled', 'true', '-kubernetes.namespace=x'],
    1,
    '-kubernetes.namespace must not be empty',
  ],
  'exits 1 for a log level in upper case': [
    ['-kubernetes.namespace=x', '-log.level=INFO'],
    1,
    '-log.level must be one of debug, info, warn, error: got "INFO"',
  ],
};
for (const [fact, [args, code, line]] of Object.entries(exits)) {
  test(`[scenario 78] readConfig() ${fact}`, () => {
    assert.deepEqual(exitOf(readConfig(args)), [code, line]);
  });
}

test('[scenario 78] readConfig() accepts burst 1 with qps 50', () => {
  const config = configFrom('-kubernetes.client-qps=50', '-kubernetes.client-burst=1');
  assert.deepEqual(config.kubernetes.limiter, { qps: 50, burst: 1 });
});

test('[scenario 78] readConfig() accepts qps 0 with burst 0', () => {
  const config = configFrom('-kubernetes.client-qps=0', '-kubernetes.client-burst=0');
  assert.equal(config.kubernetes.limiter, undefined);
});

test('[scenario 78] readConfig() accepts --log.level info -log.format=json', () => {
  const config = configFrom('--log.level', 'info', '-log.format=json');
  assert.deepEqual(config.log, { level: 'info', format: 'json' });
});

test('[scenario 78] readConfig() says what it did not read, and why, beside what is missing', () => {
  const outcome = readConfig(['-server-tls.enabled', 'true', '-kubernetes.namespace=x']);
  assert.deepEqual(outcome, {
    kind: 'exit',
    code: 1,
    stderr:
      '-kubernetes.namespace must not be empty\n' +
      '"true" is not a flag, so it was not read, nor what follows it: -kubernetes.namespace=x\n',
  });
});

test('[scenario 78] readConfig() runs, and tells of the arguments that it ignored', () => {
  const args = ['-kubernetes.namespace=x', '-use-zone-tracker', 'true', '-log.level=info'];
  const outcome = readConfig(args);
  assert.equal(outcome.kind, 'run');
  if (outcome.kind === 'run') assert.deepEqual(outcome.ignored, ['true', '-log.level=info']);
});

const moreExits: Record<string, readonly [args: readonly string[], line: string]> = {
  'exits 1 for an empty cluster domain': [
    ['-kubernetes.cluster-domain='],
    '-kubernetes.cluster-domain must not be empty',
  ],
  'exits 1 for a zone tracker without a ConfigMap': [
    ['-kubernetes.namespace=x', '-use-zone-tracker', '-zone-tracker.config-map-name='],
    '-zone-tracker.config-map-name must not be empty',
  ],
  'exits 1 for an annotation patch timeout of 0': [
    ['-kubernetes.namespace=x', '-zpdb.pod-ready-annotation-patch-timeout=0'],
    '-zpdb.pod-ready-annotation-patch-timeout must be greater than 0: got 0s',
  ],
  'exits 1 for a predecessor horizon of 0 (D-50)': [
    ['-kubernetes.namespace=x', '-rollout.predecessor-horizon=0'],
    '-rollout.predecessor-horizon must be greater than 0: got 0s',
  ],
  'exits 1 for a lease duration of 0': [
    ['-kubernetes.namespace=x', '-leader-election.lease-duration=0'],
    '-leader-election.lease-duration must be greater than 0: got 0s',
  ],
  'exits 1 for a negative renew deadline': [
    ['-kubernetes.namespace=x', '-leader-election.renew-deadline=-1s'],
    '-leader-election.renew-deadline must be greater than 0: got -1s',
  ],
  'exits 1 for a retry period of 0': [
    ['-kubernetes.namespace=x', '-leader-election.retry-period=0'],
    '-leader-election.retry-period must be greater than 0: got 0s',
  ],
  'exits 1 for a lease duration as short as the renew deadline': [
    ['-kubernetes.namespace=x', '-leader-election.lease-duration=10s'],
    '-leader-election.lease-duration must be greater than -leader-election.renew-deadline: got 10s and 10s',
  ],
  'exits 1 for a renew deadline of 1.2 times the retry period': [
    ['-kubernetes.namespace=x', '-leader-election.renew-deadline=2400ms'],
    '-leader-election.renew-deadline must be greater than 1.2 times -leader-election.retry-period: got 2.4s and 2s',
  ],
  'exits 1 for a lease duration of more than ten minutes': [
    ['-kubernetes.namespace=x', '-leader-election.lease-duration=11m'],
    '-leader-election.lease-duration must be at most 10m0s: got 11m0s',
  ],
  'exits 1 for a Lease name that the API server refuses': [
    ['-kubernetes.namespace=x', '-leader-election.resource-name=Rollout_Operator'],
    '-leader-election.resource-name must be lower-case letters, digits, "-" and ".": got "Rollout_Operator"',
  ],
  'exits 1 for a Lease name that the API server refuses, by the flag of the peer [found R-22]': [
    ['-kubernetes.namespace=x', '-leader-election.lease-name=Rollout_Operator'],
    '-leader-election.lease-name must be lower-case letters, digits, "-" and ".": got "Rollout_Operator"',
  ],
  'exits 1 for an empty Lease name': [
    ['-kubernetes.namespace=x', '-leader-election.resource-name='],
    '-leader-election.resource-name must be lower-case letters, digits, "-" and ".": got ""',
  ],
  'exits 1 for a port that does not exist': [
    ['-kubernetes.namespace=x', '-server.port=99999'],
    '-server.port must be from 0 to 65535: got 99999',
  ],
  'exits 1 for a port of the webhooks that does not exist': [
    ['-kubernetes.namespace=x', '-server-tls.enabled', '-server-tls.port=-1'],
    '-server-tls.port must be from 0 to 65535: got -1',
  ],
  'exits 1 for an unknown log format': [
    ['-kubernetes.namespace=x', '-log.format=text'],
    '-log.format must be one of logfmt, json: got "text"',
  ],
  'exits 1 for a self-signed certificate without a life': [
    ['-kubernetes.namespace=x', '-server-tls.enabled', '-server-tls.self-signed-cert.expiration=0'],
    '-server-tls.self-signed-cert.expiration must be greater than 0: got 0s',
  ],
  'exits 1 for a self-signed certificate without a Secret': [
    ['-kubernetes.namespace=x', '-server-tls.enabled', '-server-tls.self-signed-cert.secret-name='],
    '-server-tls.self-signed-cert.secret-name must not be empty',
  ],
  '[admission 92] exits 1 for files without both paths': [
    [
      '-kubernetes.namespace=x',
      '-server-tls.enabled=true',
      '-server-tls.self-signed-cert.enabled=false',
      '-server-tls.cert-file=/tls/tls.crt',
      '-webhooks.update-ca-bundle=false',
    ],
    '-server-tls.key-file must be set while -server-tls.self-signed-cert.enabled is false',
  ],
  '[found X-1] exits 1 for CAs of clients where no webhooks are served': [
    ['-kubernetes.namespace=x', '-server-tls.client-ca=/ca.crt'],
    '-server-tls.client-ca must be set together with -server-tls.enabled=true',
  ],
  '[admission 92] exits 1 for files whose CA it should publish': [
    [
      '-kubernetes.namespace=x',
      '-server-tls.enabled=true',
      '-server-tls.self-signed-cert.enabled=false',
      '-server-tls.cert-file=/tls/tls.crt',
      '-server-tls.key-file=/tls/tls.key',
    ],
    '-webhooks.update-ca-bundle must be false while -server-tls.self-signed-cert.enabled is false',
  ],
  'exits 1 for a user agent that is no regular expression (FL-25)': [
    ['-kubernetes.namespace=x', '-server.cluster-validation.http.excluded-user-agents=ok,(['],
    '-server.cluster-validation.http.excluded-user-agents must hold regular expressions: got "([" ' +
      '(Invalid regular expression: /([/: Unterminated character class)',
  ],
};
for (const [fact, [args, line]] of Object.entries(moreExits)) {
  test(`readConfig() ${fact}`, () => {
    assert.deepEqual(exitOf(readConfig(args)), [1, line]);
  });
}

/** Each command line breaks the rule and all later ones; the earliest is reported (FL-50). */
const inOrder: readonly (readonly [flag: string, reported: RegExp])[] = [
  ['-log.level=x', /log\.level/],
  ['-log.format=x', /log\.format/],
  ['-server-tls.enabled -server-tls.self-signed-cert.expiration=0', /expiration/],
  ['-server-tls.enabled -server-tls.self-signed-cert.enabled=false', /cert-file/],
  ['-server.cluster-validation.http.soft-validation', /soft-validation/],
  ['-leader-election.lease-duration=0', /leader-election/],
  ['-rollout.predecessor-horizon=0', /predecessor-horizon/],
  ['-zpdb.pod-ready-annotation-patch-timeout=0', /annotation-patch-timeout/],
  ['-server-tls.request-timeout=0', /request-timeout/],
  ['-kubernetes.client-burst=0', /client-burst/],
  ['-use-zone-tracker -zone-tracker.config-map-name=', /config-map-name/],
  ['-kubernetes.api-url=u', /api-url/],
  ['-kubernetes.namespace=', /namespace/],
  ['-kubernetes.cluster-domain=', /cluster-domain/],
];
for (const [index, [flag, reported]] of inOrder.entries()) {
  test(`readConfig() reports ${flag} before all that FL-50 checks later`, () => {
    const later = inOrder.slice(0, index + 1).flatMap(([other]) => other.split(' '));
    const [code, line] = exitOf(readConfig(['-kubernetes.namespace=x', ...later]));
    assert.equal(code, 1);
    assert.match(line.split(' ')[0] ?? '', reported);
  });
}

test('readConfig() prints one line and no usage with exit code 1 (FL-50)', () => {
  const outcome = readConfig([]);
  assert.deepEqual(outcome, {
    kind: 'exit',
    code: 1,
    stderr: '-kubernetes.namespace must not be empty\n',
  });
});

test('readConfig() prints the reason and the whole usage with exit code 2 (FL-5)', () => {
  const outcome = readConfig(['-server.port=x']);
  assert.deepEqual(outcome, {
    kind: 'exit',
    code: 2,
    stderr: `invalid value "x" for flag -server.port: parse error\n${operatorFlags().set.usage()}`,
  });
});

test('readConfig() accepts a kubeconfig without an API URL (D-14)', () => {
  const { apiUrl, configFile } = configFrom('-kubernetes.config-file=/etc/k').kubernetes;
  assert.deepEqual([apiUrl, configFile], [undefined, '/etc/k']);
});

test('readConfig() accepts a kubeconfig with an API URL', () => {
  const args = ['-kubernetes.config-file=/etc/k', '-kubernetes.api-url=https://k:6443'];
  const { apiUrl, configFile } = configFrom(...args).kubernetes;
  assert.deepEqual([apiUrl, configFile], ['https://k:6443', '/etc/k']);
});

test('readConfig() limits at the default rate when that rate is given (D-14)', () => {
  assert.deepEqual(configFrom('-kubernetes.client-qps=5').kubernetes.limiter, {
    qps: 5,
    burst: 10,
  });
});

test('readConfig() switches no limiter on for a burst alone (D-14)', () => {
  assert.equal(configFrom('-kubernetes.client-burst=3').kubernetes.limiter, undefined);
});

test('readConfig() switches the limiter off for a negative rate (FL-16)', () => {
  assert.equal(configFrom('-kubernetes.client-qps=-1').kubernetes.limiter, undefined);
});

for (const span of ['0', '-1s']) {
  test(`readConfig() switches the periodic look off for an interval of ${span} (D-14)`, () => {
    assert.equal(configFrom(`-reconcile.interval=${span}`).reconcile.resync, undefined);
  });

  test(`readConfig() sets no time limit for a pod timeout of ${span} (FL-18)`, () => {
    assert.equal(configFrom(`-pods.client-timeout=${span}`).pods.clientTimeout, undefined);
  });
}

test('readConfig() sets no time limit for a client timeout of 0 (FL-15)', () => {
  assert.equal(configFrom('-kubernetes.client-timeout=0').kubernetes.clientTimeout, undefined);
});

test('readConfig() takes 0 for "pods are never stuck by time alone" (D-48)', () => {
  assert.equal(configFrom('-rollout.stuck-after=0').rollout.stuckAfter, undefined);
  assert.equal(configFrom('-rollout.stuck-after=1h').rollout.stuckAfter, 3_600_000);
});

test('readConfig() accepts a Lease of 3 s and the name of a peer', () => {
  const { leaderElection, rollout } = configFrom(
    '-leader-election.lease-duration=3s',
    '-leader-election.renew-deadline=2s',
    '-leader-election.retry-period=500ms',
    '-leader-election.resource-name=304add93.sts.plus',
    '-rollout.predecessor-horizon=6s',
  );
  assert.deepEqual(leaderElection, {
    isEnabled: true,
    leaseDuration: 3_000,
    renewDeadline: 2_000,
    retryPeriod: 500,
    resourceName: '304add93.sts.plus',
  });
  assert.equal(rollout.predecessorHorizon, 6_000);
});

test('readConfig() accepts any durations of a Lease that is switched off (D-14)', () => {
  const config = configFrom('-leader-election.enabled=false', '-leader-election.lease-duration=0');
  assert.equal(config.leaderElection.isEnabled, false);
});

test('readConfig() reads what shapes the webhooks and their certificate, also while TLS is off (D-14)', () => {
  const config = configFrom(
    '-use-zone-tracker=true',
    '-zone-tracker.config-map-name=zones',
    '-server-tls.self-signed-cert.secret-name=certificate',
    '-server-tls.self-signed-cert.expiration=90d',
    '-server-tls.self-signed-cert.dns-name=operator.test',
    '-webhooks.update-ca-bundle=false',
  );
  assert.deepEqual(config.zoneTracker, { isEnabled: true, configMapName: 'zones' });
  assert.deepEqual(config.tls.selfSigned, {
    isEnabled: true,
    secretName: 'certificate',
    dnsName: 'operator.test',
    organization: 'Grafana Labs',
    expiration: 7_776_000_000,
  });
});

test('[found X-1] readConfig() reads where the CAs of clients are, and has every client answered without', () => {
  const given = configFrom('-server-tls.enabled=true', '-server-tls.client-ca=/ca/ca.crt');
  assert.equal(given.tls.clientCa, '/ca/ca.crt');
  assert.equal(configFrom('-server-tls.enabled=true').tls.clientCa, '');
});

test('readConfig() replaces the default excluded paths by those given (FL-24)', () => {
  const config = configFrom(
    '-server.cluster-validation.http.enabled',
    '-server.cluster-validation.http.soft-validation',
    '-server.cluster-validation.http.excluded-paths=a,b',
  );
  assert.deepEqual(config.server.clusterValidation, {
    isEnabled: true,
    isSoft: true,
    excludedPaths: ['a', 'b'],
    excludedUserAgents: [],
  });
});

test('readConfig() understands leading flags and named groups of Go expressions (FL-25)', () => {
  const flag = '-server.cluster-validation.http.excluded-user-agents';
  const patterns = configFrom(`${flag}=(?i)kube-probe,^(?P<a>curl)/`).server.clusterValidation;
  const agents = ['Kube-Probe/1.36', 'curl/8.1', 'other'];
  assert.deepEqual(
    agents.map((agent) => patterns.excludedUserAgents.map((pattern) => pattern.test(agent))),
    [
      [true, false],
      [false, true],
      [false, false],
    ],
  );
});

test('readConfig() answers a configuration that is frozen at every depth', () => {
  const open: string[] = [];
  const visit = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) return;
    if (!Object.isFrozen(value)) open.push(path);
    for (const [key, member] of Object.entries(value)) visit(member, `${path}.${key}`);
  };
  visit(configFrom('-kubernetes.client-qps=1'), 'config');
  assert.deepEqual(open, []);
});

test('readConfig() takes the flags of the peer since v0.40 that name Lease and pod [found R-22]', () => {
  const { leaderElection, kubernetes } = configFrom(
    '-leader-election.resource-name=ours',
    '-leader-election.lease-name=theirs',
    '-kubernetes.pod-name=rollout-operator-7d',
  );
  assert.equal(leaderElection.resourceName, 'theirs');
  assert.equal(kubernetes.podName, 'rollout-operator-7d');
});
