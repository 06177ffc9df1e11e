/** What a `bedrock.yaml` may say (H-1…H-3, H-13…H-15), and how each mistake is reported with its line. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assert as check, constantFrom, property } from 'fast-check';
import type { Stage } from './bedrock-file.ts';
import { findingLines } from './finding.ts';
import { type ParsedBedrock, parseBedrock } from './parse-bedrock.ts';

/** The file of the article, in its own words. */
const published = `images:
  tester:
    dockerfile: Dockerfile
services:
  tester:
    notify_settings:
      launch:
        level: "debug"
        channel: "#devel-rollouts"
    kind: StatefulSet
    disruption_policy:
      max_unavailable: 50%
    containers:
      - image: tester
    stages:
      dev:
        strategy: OnDelete
        orchestration:
          min_pod_eviction_interval_seconds: 10
          phases:
            - 1
            - 50
            - 100
        clusters:
          - playground
        replicas: 2
`;

function parsed(text: string, isLenient = false): ParsedBedrock {
  return parseBedrock(text, { isLenient });
}

function stageOf(text: string): Stage {
  const read = parsed(text);
  const service = read.kind === 'valid' ? read.file.services.get('tester') : undefined;
  const stage = service?.kind === 'stateful-set' ? service.stages.get('dev') : undefined;
  assert.ok(stage, findingLines('f', read.findings).join('\n'));
  return stage;
}

/** What is said of the published file where `from` is `to`. */
function said([from, to]: readonly [string, string], isLenient = false): string {
  assert.ok(published.includes(from), from);
  const read = parsed(
    published.replace(from, () => to),
    isLenient,
  );
  return read.findings.length === 0 ? 'valid' : findingLines('f', read.findings).join('\n');
}

test('parseBedrock() reads the file of the article', () => {
  const stage = stageOf(published);
  assert.deepEqual(stage, {
    service: 'tester',
    name: 'dev',
    path: 'services.tester.stages.dev',
    unsupported: undefined,
    namespace: 'default',
    dc: undefined,
    clusters: ['playground'],
    replicas: 2,
    phases: [1, 50, 100],
    minPodEvictionIntervalSeconds: 10,
    workload: {
      containers: [
        {
          image: 'tester',
          name: 'tester',
          path: 'services.tester.containers[0]',
          fields: { name: 'tester' },
        },
      ],
      maxUnavailable: '50%',
      notify: { channel: '#devel-rollouts', level: 'debug' },
      serviceName: undefined,
      labels: {},
      annotations: {},
      volumeClaimTemplates: [],
      podSpec: {},
    },
  });
});

const replicas = '        replicas: 2\n';
const budget = 'max_unavailable: 50%';
const container = '- image: tester';
const phases = 'phases:\n            - 1\n            - 50\n            - 100';
const clusters = 'clusters:\n          - playground';
const stages = '    stages:\n';

/** Pairs of what is taken out of the file and what is there instead. */
const refused: Record<
  string,
  { readonly change: readonly [string, string]; readonly wanted: RegExp }
> = {
  'a key beside images and services': {
    change: ['images:', 'image: {}\nimages:'],
    wanted: /^f:1: image is not a known key: the keys are images, services$/,
  },
  'a key of a service': {
    change: [stages, `    replica: 1\n${stages}`],
    wanted: /^f:15: services\.tester\.replica is not a known key/,
  },
  'a key of a stage': {
    change: [replicas, '        replica: 2\n'],
    wanted: /^f:26: services\.tester\.stages\.dev\.replica is not a known key/,
  },
  'a key of a container': {
    change: [container, `${container}\n        livenessprobe: {}`],
    wanted: /^f:15: services\.tester\.containers\[0\]\.livenessprobe is not a known key.*core\/v1/,
  },
  'a key of the orchestration': {
    change: ['phases:', 'phase: 1\n          phases:'],
    wanted: /^f:20: .*orchestration\.phase is not a known key/,
  },
  'a key of the budget': {
    change: [budget, `${budget}\n      min_available: 1`],
    wanted: /^f:13: .*min_available is not a known key/,
  },
  'a key of the settings for messages': {
    change: ['launch:', 'start:'],
    wanted: /^f:7: services\.tester\.notify_settings\.start is not a known key/,
  },
  'a key of a message': {
    change: ['level:', 'lvl:'],
    wanted: /^f:8: .*launch\.lvl is not a known key/,
  },
  'a key of an image': {
    change: ['dockerfile:', 'file:'],
    wanted: /^f:3: images\.tester\.file is not a known key/,
  },
  'no services': {
    change: [published.slice(published.indexOf('services')), ''],
    wanted: /^f:1: services must be a map with at least one service/,
  },
  'services that are a list': {
    change: ['services:', 'services: []\nx:'],
    wanted: /services must be a map: got a list/,
  },
  'a service that is nothing': {
    change: ['services:\n', 'services:\n  web:\n'],
    wanted: /^f:5: services\.web must be a map: got nothing$/m,
  },
  'a service without a kind': {
    change: ['    kind: StatefulSet\n', ''],
    wanted: /^f:5: services\.tester\.kind must be StatefulSet: got nothing$/,
  },
  'a kind that is a number': {
    change: ['kind: StatefulSet', 'kind: 1'],
    wanted: /^f:10: services\.tester\.kind must be a text .*: got 1$/,
  },
  'a service without stages': {
    change: [published.slice(published.indexOf(stages)), ''],
    wanted: /^f:5: services\.tester\.stages must be a map with at least one stage/,
  },
  'a service in upper case': {
    change: ['  tester:\n    notify', '  Tester:\n    notify'],
    wanted: /^f:5: services\.Tester must be a name of lower case/,
  },
  'a service that leads out of the folder': {
    change: ['  tester:\n    notify', '  ../../etc:\n    notify'],
    wanted: /^f:5: services\["..\/..\/etc"\] must be a name .*: got "..\/..\/etc"$/,
  },
  'a stage that leads out of the folder': {
    change: ['      dev:', '      ../dev:'],
    wanted: /^f:16: .*stages\["..\/dev"\] must be a name/,
  },
  'a cluster that leads out of the folder': {
    change: ['- playground', '- ../playground'],
    wanted: /^f:25: .*clusters\[0\] must be a name/,
  },
  'a cluster that is the folder itself': {
    change: ['- playground', '- ..'],
    wanted: /^f:25: .*clusters\[0\] must be a name/,
  },
  'a cluster with two dots in it': {
    change: ['- playground', '- a..b'],
    wanted: /clusters\[0\] must be a name/,
  },
  'a cluster with a NUL': {
    change: ['- playground', '- "a\\0b"'],
    wanted: /clusters\[0\] must be a name .*: got "a\\u0000b"$/,
  },
  'a cluster from the root': {
    change: ['- playground', '- /etc'],
    wanted: /clusters\[0\] must be a name/,
  },
  'a cluster that is nothing': {
    change: ['- playground', '-'],
    wanted: /clusters\[0\] must be a name .*: got nothing/,
  },
  'a cluster twice': {
    change: ['- playground', '- playground\n          - Playground'],
    wanted: /^f:24: .*clusters must have each cluster once/,
  },
  'a cluster that is no list': {
    change: [clusters, 'clusters: playground'],
    wanted: /^f:24: .*clusters must be a list: got "playground"/,
  },
  'a namespace with a slash': {
    change: [replicas, '        namespace: a/b\n'],
    wanted: /^f:26: .*namespace must be a name/,
  },
  'a datacenter with a space': {
    change: [replicas, '        dc: a b\n'],
    wanted: /^f:26: .*dc must have 1 to 64 letters/,
  },
  'another strategy': {
    change: ['strategy: OnDelete', 'strategy: RollingUpdate'],
    wanted: /^f:17: .*strategy must be OnDelete: .*: got "RollingUpdate"/,
  },
  'a negative number of replicas': {
    change: ['replicas: 2', 'replicas: -1'],
    wanted: /^f:26: .*replicas must be an integer from 0 to 2147483647: got -1/,
  },
  'replicas in quotes': {
    change: ['replicas: 2', 'replicas: "2"'],
    wanted: /replicas must be an integer .*: got "2"/,
  },
  'replicas that are nothing': {
    change: ['replicas: 2', 'replicas:'],
    wanted: /replicas must be an integer .*: got nothing/,
  },
  'an interval of two days': {
    change: ['seconds: 10', 'seconds: 172800'],
    wanted: /^f:19: .*must be an integer from 0 to 86400: got 172800/,
  },
  'a phase of 0': {
    change: ['- 1\n', '- 0\n'],
    wanted: /^f:21: .*phases\[0\] must be an integer from 1 to 100: got 0/,
  },
  'a phase of 101': {
    change: ['- 100', '- 101'],
    wanted: /^f:23: .*phases\[2\] must be an integer from 1 to 100: got 101/,
  },
  'half a phase': { change: ['- 50', '- 49.5'], wanted: /^f:22: .*phases\[1\] must be an integer/ },
  'a phase with a percent sign': {
    change: ['- 50', '- 50%'],
    wanted: /^f:22: .*phases\[1\] must be an integer .*: got "50%"/,
  },
  'phases that fall': {
    change: ['- 100', '- 40'],
    wanted: /^f:23: .*phases\[2\] must be more than 50, before it: got 40/,
  },
  'a phase twice': {
    change: ['- 100', '- 50'],
    wanted: /^f:23: .*phases\[2\] must be more than 50/,
  },
  'no phase at all': {
    change: [phases, 'phases: []'],
    wanted: /^f:20: .*phases must have at least one percentage/,
  },
  'a budget of 0 [T-98]': {
    change: [budget, 'max_unavailable: 0'],
    wanted:
      /^f:12: services\.tester\.disruption_policy\.max_unavailable must be .* no rollout could ever move: got 0$/,
  },
  'a budget of 0% [T-98]': {
    change: [budget, 'max_unavailable: 0%'],
    wanted: /no rollout could ever move: got "0%"$/,
  },
  'a budget of 101%': {
    change: [budget, 'max_unavailable: 101%'],
    wanted: /must be "1%" to "100%", or an integer of 1 or more: got "101%"/,
  },
  'a negative budget': {
    change: [budget, 'max_unavailable: -1'],
    wanted: /integer of 1 or more: got -1/,
  },
  'a budget in quotes without a sign': {
    change: [budget, 'max_unavailable: "5"'],
    wanted: /: got "5"/,
  },
  'half a budget': { change: [budget, 'max_unavailable: 1.5'], wanted: /: got 1\.5/ },
  'an unknown level': {
    change: ['"debug"', 'loud'],
    wanted: /^f:8: .*level must be one of debug, info, error: got "loud"/,
  },
  'a channel without its sign': {
    change: ['"#devel-rollouts"', 'devel'],
    wanted: /^f:9: .*channel must be "#" and the name/,
  },
  'both words for the settings': {
    change: ['      launch:', '      release: {}\n      launch:'],
    wanted: /^f:8: .*launch is another word for release/,
  },
  'a container of an image that does not there': {
    change: [container, '- image: other'],
    wanted:
      /^f:14: .*containers\[0\]\.image must be one of the images of the file: "tester": got "other"/,
  },
  'a container without an image': {
    change: [container, '- name: a'],
    wanted: /^f:14: .*containers\[0\]\.image must be one of .*: got nothing/,
  },
  'an image that every object has': {
    change: [container, '- image: constructor'],
    wanted: /image must be one of .*: got "constructor"/,
  },
  'a container that is a text': {
    change: [container, '- tester'],
    wanted: /^f:14: .*containers\[0\] must be a map with the key image: got "tester"/,
  },
  'no container': {
    change: [`containers:\n      ${container}`, 'containers: []'],
    wanted: /^f:13: .*containers must have at least one container/,
  },
  'no containers anywhere': {
    change: [`    containers:\n      ${container}\n`, ''],
    wanted: /^f:14: services\.tester\.stages\.dev must have containers/,
  },
  'two containers of one name': {
    change: [container, `${container}\n      ${container}`],
    wanted: /^f:15: .*containers\[1\] must have a name of its own: got "tester" again/,
  },
  'a name that no container can have': {
    change: [container, `${container}\n        name: A_B`],
    wanted: /^f:15: .*containers\[0\]\.name must be a name of lower case/,
  },
  'a label that is no text': {
    change: [stages, `    labels: {tier: 1}\n${stages}`],
    wanted: /^f:15: services\.tester\.labels\.tier must be a text .*: got 1/,
  },
  'a label with a bad name': {
    change: [stages, `    labels: {"a b": c}\n${stages}`],
    wanted: /^f:15: services\.tester\.labels\["a b"\] must have a name such as/,
  },
  'a label with a bad value': {
    change: [stages, `    labels: {a: "b c"}\n${stages}`],
    wanted: /labels\.a must be a text of at most 63/,
  },
  'the label app': {
    change: [stages, `    labels: {app: x}\n${stages}`],
    wanted:
      /^f:15: .*labels\.app is made of the service and the stage, and cannot be given: got "x"/,
  },
  'the label of the version': {
    change: [stages, `    labels: {app.kubernetes.io/version: x}\n${stages}`],
    wanted: /is made of --version/,
  },
  'an annotation that is no text': {
    change: [stages, `    annotations: {a: true}\n${stages}`],
    wanted: /annotations\.a must be a text: got true/,
  },
  'a claim that is no map': {
    change: [stages, `    volume_claim_templates: [a]\n${stages}`],
    wanted: /volume_claim_templates\[0\] must be a PersistentVolumeClaim: got "a"/,
  },
  'containers in the pod spec': {
    change: [stages, `    pod_spec: {containers: []}\n${stages}`],
    wanted: /pod_spec\.containers cannot be here/,
  },
  'a pod spec that is a list': {
    change: [stages, `    pod_spec: []\n${stages}`],
    wanted: /pod_spec must be a map: got a list/,
  },
  'init containers that are a map': {
    change: [stages, `    pod_spec: {initContainers: {}}\n${stages}`],
    wanted: /initContainers must be a list: got a map/,
  },
  'a name of a Service with a dot': {
    change: [stages, `    service_name: a.b\n${stages}`],
    wanted: /service_name must be a name/,
  },
};

for (const [fact, { change, wanted }] of Object.entries(refused)) {
  test(`parseBedrock() refuses ${fact}`, () => assert.match(said(change), wanted));
}

test('parseBedrock() warns of unknown keys where it is lenient, and of nothing else', () => {
  assert.equal(
    said([replicas, '        replica: 2\n'], true).replace(/: the keys are.*/, ''),
    'f:26: warning: services.tester.stages.dev.replica is not a known key',
  );
  assert.match(said(['replicas: 2', 'replicas: -1'], true), /^f:26: services/);
});

test('parseBedrock() tells all that is wrong, not the first alone', () => {
  const text = published.replace('replicas: 2', 'replicas: x').replace('- 50', '- y');
  assert.equal(parsed(text).findings.length, 2);
});

test('parseBedrock() does not look into a service of another kind', () => {
  const text = `${published}  front:\n    kind: Deployment\n    autoscaling: {max: 3}\n`;
  const read = parsed(text);
  assert.deepEqual(read.kind === 'valid' && read.file.services.get('front'), {
    kind: 'unsupported',
    unsupported: { kind: 'Deployment', path: 'services.front.kind', line: 28 },
  });
});

test('parseBedrock() has a stage say something in place of its service, and all else as that', () => {
  const own = '        disruption_policy: {max_unavailable: 3}\n        labels: {a: b}\n';
  const stage = stageOf(published.replace(replicas, own));
  assert.equal(stage.workload.maxUnavailable, 3);
  assert.deepEqual(stage.workload.labels, { a: 'b' });
  assert.deepEqual(stage.workload.notify, { channel: '#devel-rollouts', level: 'debug' });
  assert.equal(stage.replicas, undefined);
});

test('parseBedrock() has one phase of 100 where the file names none', () => {
  assert.deepEqual(
    stageOf(published.replace(phases, '{}').replace('{}', 'phases: [100]')).phases,
    [100],
  );
  const without = published.slice(0, published.indexOf('        orchestration'));
  assert.deepEqual(stageOf(without).phases, [100]);
});

test('parseBedrock() takes release for what the article calls launch', () => {
  const { notify } = stageOf(published.replace('launch:', 'release:')).workload;
  assert.deepEqual(notify, { channel: '#devel-rollouts', level: 'debug' });
});

test('parseBedrock() never throws, whatever word of the file becomes another', () => {
  const words = published.match(/[\w%#"-]+:?/g) ?? [];
  const others = ['[]', '{}', '~', '-1', '1e9', 'true', '"\\0"', '..', '&a', '*a', ':', '\n', '- '];
  check(
    property(constantFrom(...words), constantFrom(...others), (from, to) => {
      const { findings, kind } = parsed(published.replace(from, () => to));
      assert.equal(
        kind === 'invalid',
        findings.some(({ severity }) => severity === 'error'),
      );
    }),
    { numRuns: 500 },
  );
});
