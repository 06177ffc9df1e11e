/** The tools for `bedrock.yaml` as a person runs them: arguments and a file in, text, files and an exit code out. */
import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import type { JsonObject } from '#base/json.ts';
import { millis } from '#base/units.ts';
import { createCluster, type EmbeddedCluster } from '#cluster/create-cluster.ts';
import type { Client } from '#kubernetes/client.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { statefulsetRolloutDefinition } from '#statefulset-rollout/definition.ts';
import { parseStatefulsetRollout } from '#statefulset-rollout/spec/parse-spec.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { nothingToDrive } from '#support/external-services/drive-ports.ts';
import { FileError, randomIdentity, readInput, writeFiles } from './bedrock/bedrock-io.ts';
import { bedrockCommand } from './bedrock.ts';

const exampleFile = join(import.meta.dirname, '../../examples/bedrock/bedrock.yaml');
const digest = `sha256:${'a1'.repeat(32)}`;
const image = `kv=registry.example/kv@${digest}`;

/** Of the published shape. */
const file = `images:
  kv: {dockerfile: Dockerfile}
services:
  kv:
    notify_settings: {release: {level: info, channel: "#kv-deploys"}}
    kind: StatefulSet
    disruption_policy: {max_unavailable: 50%}
    containers: [{image: kv}]
    stages:
      dev:
        strategy: OnDelete
        orchestration: {min_pod_eviction_interval_seconds: 10, phases: [1, 50, 100]}
        clusters: [playground]
        replicas: 2
`;

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** Text by path, the folder included. */
  readonly files: Readonly<Record<string, string>>;
}

async function run(args: readonly string[], text: string = file): Promise<Ran> {
  let out = '';
  let err = '';
  const files: Record<string, string> = {};
  const code = await bedrockCommand(args, {
    ...nothingToDrive(),
    readInput: (path) =>
      path === 'gone' ? Promise.reject(new FileError('Cannot read gone')) : Promise.resolve(text),
    writeFiles: (folder, written) => {
      for (const { path, text } of written) files[`${folder}/${path}`] = text;
      return Promise.resolve();
    },
    randomIdentity: () => 'k3Jd82hsQmZpL0aXw9Ty',
    out: (piece) => void (out += piece),
    err: (piece) => void (err += piece),
  });
  return { code, out, err, files };
}

const usual = ['convert', '-f', 'f', '--service', 'kv', '--stage', 'dev', '--image', image];

function convert(more: readonly string[] = [], text: string = file): Promise<Ran> {
  return run([...usual, ...more], text);
}

function objectsIn(text: string): readonly JsonObject[] {
  return parseAllDocuments(text).map((each) => each.toJS() as JsonObject);
}

/** The `spec` of the rollout of what was written to standard output. */
async function specOf(more: readonly string[] = [], text: string = file): Promise<JsonObject> {
  const { code, out, err } = await convert(more, text);
  assert.equal(code, 0, err);
  return objectsIn(out)[1]?.['spec'] as JsonObject;
}

test('bedrock convert makes what the published shape says, and no budget in the rollout [T-96]', async () => {
  const { code, out, err } = await convert();
  assert.equal(err, '');
  assert.equal(code, 0);
  assert.deepEqual(objectsIn(out), [
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'kv-dev', namespace: 'default', labels: { app: 'kv-dev' } },
      spec: { maxUnavailable: '50%', selector: { matchLabels: { app: 'kv-dev' } } },
    },
    {
      apiVersion: 'bedrock.operator.slack.com/v1',
      kind: 'StatefulsetRollout',
      metadata: { name: 'kv-dev', namespace: 'default', labels: { app: 'kv-dev' } },
      spec: {
        percent: 1,
        rolloutIdentity: 'k3Jd82hsQmZpL0aXw9Ty',
        pauseRequested: false,
        minPodEvictionIntervalSeconds: 10,
        channel: '#kv-deploys',
        notifications: { slack: { level: 'info' } },
        statefulset: {
          apiVersion: 'apps/v1',
          kind: 'StatefulSet',
          metadata: { name: 'kv-dev', labels: { app: 'kv-dev' } },
          spec: {
            replicas: 2,
            podManagementPolicy: 'Parallel',
            updateStrategy: { type: 'OnDelete' },
            selector: { matchLabels: { app: 'kv-dev' } },
            template: {
              metadata: { labels: { app: 'kv-dev' } },
              spec: { containers: [{ name: 'kv', image: `registry.example/kv@${digest}` }] },
            },
          },
        },
      },
    },
  ]);
});

test('bedrock convert --all-phases writes three files with one identity [T-97]', async () => {
  const { code, files, out } = await convert(['--all-phases', '--out', 'd']);
  assert.deepEqual([code, out], [0, '']);
  assert.deepEqual(Object.keys(files), [
    'd/phase-001.yaml',
    'd/phase-050.yaml',
    'd/phase-100.yaml',
  ]);
  const specs = Object.values(files).map((text) => objectsIn(text)[1]?.['spec'] as JsonObject);
  assert.deepEqual(
    specs.map(({ percent }) => percent),
    [1, 50, 100],
  );
  const identities = new Set(specs.map(({ rolloutIdentity }) => rolloutIdentity));
  assert.deepEqual([...identities], ['k3Jd82hsQmZpL0aXw9Ty']);
});

test('bedrock convert says with exit code 2 where a budget of 0 stands [T-98]', async () => {
  const { code, err, out } = await convert([], file.replace('50%', '0'));
  assert.deepEqual([code, out], [2, '']);
  assert.match(err, /^f:7: services\.kv\.disruption_policy\.max_unavailable must be .*got 0\n$/);
});

test('bedrock convert ends with exit code 3 for a Deployment [T-99]', async () => {
  const { code, err, out } = await convert(
    [],
    file.replace('kind: StatefulSet', 'kind: Deployment'),
  );
  assert.deepEqual([code, out], [3, '']);
  assert.equal(
    err,
    'f:6: services.kv.kind unsupported kind "Deployment": only StatefulSet is built here\n',
  );
});

test('bedrock convert refuses an image without a digest, unless tags are allowed [T-100]', async () => {
  const args = [...usual.slice(0, -1), 'kv=registry.example/kv:1'];
  const { code, err } = await run(args);
  assert.equal(code, 2);
  assert.match(
    err,
    /^f:8: services\.kv\.containers\[0\]\.image must be a reference with a digest, .*: got "registry.example\/kv:1"\n$/,
  );
  assert.equal((await run([...args, '--allow-tags'])).code, 0);
});

/** Changes to the file and further arguments, and what is made of them. */
const mapped: Record<
  string,
  {
    readonly change?: readonly [string, string];
    readonly args?: readonly string[];
    readonly at: string;
    readonly want: unknown;
  }
> = {
  'no replicas where none are given': {
    change: ['        replicas: 2\n', ''],
    at: 'statefulset.spec.replicas',
    want: undefined,
  },
  'no interval where none is given': {
    change: ['min_pod_eviction_interval_seconds: 10, ', ''],
    at: 'minPodEvictionIntervalSeconds',
    want: undefined,
  },
  'OnDelete where no strategy is given': {
    change: ['        strategy: OnDelete\n', ''],
    at: 'statefulset.spec.updateStrategy.type',
    want: 'OnDelete',
  },
  'the percentage that is asked for': { args: ['--percent', '50'], at: 'percent', want: 50 },
  'the percentage in a place': { args: ['--phase-index', '2'], at: 'percent', want: 100 },
  'a percentage that is no phase, by force': {
    args: ['--percent=30', '--force'],
    at: 'percent',
    want: 30,
  },
  'the identity that is given': {
    args: ['--rollout-identity', 'r1'],
    at: 'rolloutIdentity',
    want: 'r1',
  },
  'no service discovery without a datacenter': { at: 'serviceDiscovery', want: undefined },
  'the service as discovery knows it, without the stage': {
    args: ['--dc', 'dc1'],
    at: 'serviceDiscovery',
    want: { dc: 'dc1', serviceNames: ['kv'] },
  },
  "the stage's own datacenter": {
    change: ['replicas: 2', 'dc: dc9'],
    at: 'serviceDiscovery.dc',
    want: 'dc9',
  },
  'the datacenter of the command line first': {
    change: ['replicas: 2', 'dc: dc9'],
    args: ['--dc', 'dc1'],
    at: 'serviceDiscovery.dc',
    want: 'dc1',
  },
  'who is called back': {
    args: ['--bapi-url', 'https://b.example', '--stage-id', 's1'],
    at: 'bapi',
    want: { bapiUrl: 'https://b.example', stageId: 's1' },
  },
  'the version on pods, which tell it': {
    args: ['--version', 'v1.custom-1709074522'],
    at: 'statefulset.spec.template.metadata.labels',
    want: { app: 'kv-dev', 'app.kubernetes.io/version': 'v1.custom-1709074522' },
  },
  'where it comes from on the set, and not on pods': {
    args: ['--git-branch', 'main', '--git-sha', 'abc'],
    at: 'statefulset.spec.template.metadata.annotations',
    want: undefined,
  },
  'where it comes from on the set': {
    args: ['--git-branch', 'main', '--git-origin', 'git@git.example:kv.git', '--git-sha', 'abc'],
    at: 'statefulset.metadata.annotations',
    want: {
      'slack.com/bedrock.git.branch': 'main',
      'slack.com/bedrock.git.origin': 'git@git.example:kv.git',
      'slack.com/bedrock.git.sha': 'abc',
    },
  },
  'the name of the Service': {
    change: ['replicas: 2', 'service_name: kv-pods'],
    at: 'statefulset.spec.serviceName',
    want: 'kv-pods',
  },
  claims: {
    change: ['replicas: 2', 'volume_claim_templates: [{metadata: {name: data}}]'],
    at: 'statefulset.spec.volumeClaimTemplates',
    want: [{ metadata: { name: 'data' } }],
  },
  'labels on pods': {
    change: ['replicas: 2', 'labels: {tier: db}'],
    at: 'statefulset.spec.template.metadata.labels.tier',
    want: 'db',
  },
  'annotations on pods': {
    change: ['replicas: 2', 'annotations: {example.com/scrape: "true"}'],
    at: 'statefulset.spec.template.metadata.annotations',
    want: { 'example.com/scrape': 'true' },
  },
  'the rest of a pod': {
    change: ['replicas: 2', 'pod_spec: {terminationGracePeriodSeconds: 90}'],
    at: 'statefulset.spec.template.spec.terminationGracePeriodSeconds',
    want: 90,
  },
  'fields of a container, and its own name': {
    change: ['{image: kv}', '{image: kv, name: main, env: [{name: A, value: "1"}]}'],
    at: 'statefulset.spec.template.spec.containers',
    want: [
      { name: 'main', image: `registry.example/kv@${digest}`, env: [{ name: 'A', value: '1' }] },
    ],
  },
  'an init container of an image of the file': {
    change: ['replicas: 2', 'pod_spec: {initContainers: [{name: a, image: kv}]}'],
    at: 'statefulset.spec.template.spec.initContainers',
    want: [{ name: 'a', image: `registry.example/kv@${digest}` }],
  },
  'a field of a container that is too new, where it is lenient': {
    change: ['{image: kv}', '{image: kv, newField: 1}'],
    args: ['--lenient'],
    at: 'statefulset.spec.template.spec.containers',
    want: [{ name: 'kv', image: `registry.example/kv@${digest}`, newField: 1 }],
  },
  'nothing of an unknown key of its own, where it is lenient': {
    change: ['replicas: 2', 'replica: 2'],
    args: ['--lenient'],
    at: 'statefulset.spec.replicas',
    want: undefined,
  },
};

/** What is at the path `at`; of names with dots in them there are none. */
function valueAt(object: unknown, at: string): unknown {
  return at
    .split('.')
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], object);
}

for (const [fact, { change = ['', ''], args = [], at, want }] of Object.entries(mapped)) {
  test(`bedrock convert makes ${fact}`, async () => {
    const [from, to] = change;
    assert.ok(file.includes(from));
    assert.deepEqual(
      valueAt(
        await specOf(
          args,
          file.replace(from, () => to),
        ),
        at,
      ),
      want,
    );
  });
}

const two = file.replace('[playground]', '[east, west]');

/** Arguments after those of every conversion, the file, and what is said with exit code 2. */
const refused: Record<
  string,
  { readonly args?: readonly string[]; readonly text?: string; readonly wanted: RegExp }
> = {
  'a percentage that is no phase': {
    args: ['--percent', '30'],
    wanted: /^--percent must be one of the phases 1, 50, 100, unless there is --force: got 30$/,
  },
  'a percentage of 101 by force': {
    args: ['--percent', '101', '--force'],
    wanted: /^--percent must be an integer from 0 to 100: got "101"$/,
  },
  'a place that no phase has': {
    args: ['--phase-index', '3'],
    wanted: /^--phase-index must be 0 to 2, for the phases 1, 50, 100: got 3$/,
  },
  'a place below the first': {
    args: ['--phase-index=-1'],
    wanted: /^--phase-index must be an integer from 0 to 99: got "-1"$/,
  },
  'two ways to choose': {
    args: ['--percent', '1', '--all-phases'],
    wanted: /^--percent and --all-phases exclude each other$/,
  },
  'all phases without a folder': { args: ['--all-phases'], wanted: /^--all-phases needs --out/ },
  'a cluster that is not listed': {
    args: ['--cluster', 'other'],
    wanted: /^--cluster must be one that the file names: "playground": got "other"$/,
  },
  'a cluster where there is none': {
    args: ['--cluster', 'x'],
    text: file.replace('[playground]', '[]'),
    wanted: /^--cluster cannot be given, as the file names none: got "x"$/,
  },
  'several clusters without a folder': {
    text: two,
    wanted: /^The stage has 2 clusters: name one with --cluster, or a folder with --out/,
  },
  'an image that the file has not': {
    args: ['--image', `b=b@${digest}`],
    wanted: /^--image must be one that the file names: "kv": got "b"$/,
  },
  'an image twice': {
    args: ['--image', image],
    wanted: /^--image can be given once for each name: got "kv" again$/,
  },
  'an image without a reference': {
    args: ['--image', 'kv'],
    wanted: /^--image must be <name>=<reference>: got "kv"$/,
  },
  'an image that does not given': {
    text: file.replace('kv: {', 'b: {}\n  kv: {').replace('{image: kv}', '{image: b}'),
    wanted: /^f:9: services\.kv\.containers\[0\]\.image is not given: add --image b=/,
  },
  'half a digest': {
    args: ['--allow-tags'],
    text: file.replace(
      'replicas: 2',
      'pod_spec: {initContainers: [{name: a, image: "b@sha256:12"}]}',
    ),
    wanted:
      /^f:14: .*initContainers\[0\]\.image must be a reference of an image: got "b@sha256:12"$/,
  },
  'an init container with a tag': {
    text: file.replace('replicas: 2', 'pod_spec: {initContainers: [{name: a, image: "b:1"}]}'),
    wanted: /^f:14: .*initContainers\[0\]\.image must be a reference with a digest/,
  },
  'an init container that is a text': {
    text: file.replace('replicas: 2', 'pod_spec: {initContainers: [a]}'),
    wanted: /initContainers\[0\]\.image must be/,
  },
  'half of who is called back': {
    args: ['--stage-id', 's'],
    wanted: /^--bapi-url and --stage-id need each other: got --stage-id alone$/,
  },
  'an address that is none': {
    args: ['--bapi-url', 'ftp://b', '--stage-id', 's'],
    wanted: /^--bapi-url must be a URL of http or https .*: got "ftp:\/\/b"$/,
  },
  'the id of a stage with a slash': {
    args: ['--bapi-url', 'https://b', '--stage-id', '../s'],
    wanted: /^--stage-id must have 1 to 128 letters/,
  },
  'an identity with a space': {
    args: ['--rollout-identity', 'a b'],
    wanted: /^--rollout-identity must have letters/,
  },
  'a datacenter with a slash': { args: ['--dc', 'a/b'], wanted: /^--dc must have 1 to 64 letters/ },
  'a version that is no label': {
    args: ['--version', 'v1+2'],
    wanted: /^--version must be 1 to 63 letters, .*: got "v1\+2"$/,
  },
  'both strict and lenient': {
    args: ['--strict', '--lenient'],
    wanted: /^--lenient and --strict exclude each other$/,
  },
  'another format': { args: ['-o', 'xml'], wanted: /^--output must be yaml or json: got "xml"$/ },
  'an unknown option': {
    args: ['--prune'],
    wanted: /^Cannot understand "--prune": the options are --file, /,
  },
  'an option that every object has': {
    args: ['--constructor'],
    wanted: /^Cannot understand "--constructor"/,
  },
  'a word that is no option': { args: ['dev'], wanted: /^Cannot understand "dev"/ },
  'an option twice': {
    args: ['--stage', 'prod'],
    wanted: /^--stage can be given once: got it again$/,
  },
  'an option without its value': { args: ['--out', '--force'], wanted: /^--out needs a value$/ },
  'a flag with a value': { args: ['--force=no'], wanted: /^--force takes no value: got "no"$/ },
  'an unknown key': {
    text: file.replace('replicas', 'replica'),
    wanted: /^f:14: services\.kv\.stages\.dev\.replica is not a known key/,
  },
  'phases that end early, where it is strict': {
    args: ['--strict'],
    text: file.replace(', 100', ''),
    wanted: /^f:12: .*orchestration\.phases should end with 100: got 50$/,
  },
  'no budget, where it is strict': {
    args: ['--strict'],
    text: file.replace('{max_unavailable: 50%}', '{}'),
    wanted: /disruption_policy\.max_unavailable is not there: the budget has 1$/,
  },
};

for (const [fact, { args, text, wanted }] of Object.entries(refused)) {
  test(`bedrock convert refuses ${fact}`, async () => {
    const { code, err, out, files } = await convert(args, text);
    assert.deepEqual([code, out, files], [2, '', {}]);
    assert.match(err.trimEnd(), wanted);
  });
}

test('bedrock convert refuses a service and a stage that make too long a name', async () => {
  const stage = 'd'.repeat(61);
  const args = ['convert', '-f', 'f', '--service', 'kv', '--stage', stage, '--image', image];
  const { code, err } = await run(args, file.replace('dev:', `${stage}:`));
  assert.equal(code, 2);
  assert.match(err, /^f:10: services\.kv\.stages\.d+ must make a name of at most 63 characters/);
});

for (const [option, value] of [
  ['--git-origin', 'https://alice:s3cret@git.example/kv.git'],
  ['--git-origin', 'https://s3cret@git.example/kv.git'],
  ['--git-origin', 'ssh://git:s3cret@git.example/kv.git'],
  ['--git-origin', 'alice:s3cret@git.example:kv.git'],
  ['--bapi-url', 'https://s3cret@b.example'],
] as const) {
  test(`bedrock convert neither stores nor shows the secret in ${option} ${value.slice(0, 8)}`, async () => {
    const { code, err, out } = await convert([
      option,
      value,
      ...(option === '--bapi-url' ? ['--stage-id', 's'] : []),
    ]);
    assert.deepEqual([code, out], [2, '']);
    assert.match(err, /must be an address without a user or password/);
    assert.doesNotMatch(err, /s3cret/);
  });
}

test('bedrock convert needs a file, a service and a stage', async () => {
  assert.equal((await run(['convert'])).err, '--file is needed\n');
  assert.equal((await run(['convert', '-ff'])).err, '--service is needed\n');
  assert.equal((await run(['convert', '-f=f', '--service', 'kv'])).err, '--stage is needed\n');
});

test('bedrock convert names the services and stages that there are', async () => {
  const { err } = await run(['convert', '-f', 'f', '--service', '__proto__', '--stage', 'dev']);
  assert.equal(err, '--service must be one that the file names: "kv": got "__proto__"\n');
  const other = await run(['convert', '-f', 'f', '--service', 'kv', '--stage', 'prod']);
  assert.equal(other.err, '--stage must be one that the file names: "dev": got "prod"\n');
});

test('bedrock convert warns of phases that end early, of no budget and of a long name, and goes on', async () => {
  const stage = 'd'.repeat(55);
  const text = file
    .replace(', 100', '')
    .replace('{max_unavailable: 50%}', '{}')
    .replace('dev:', `${stage}:`);
  const { code, err, out } = await run(
    ['convert', '-f', 'f', '--service', 'kv', '--stage', stage, '--image', image],
    text,
  );
  assert.equal(code, 0);
  assert.deepEqual(
    err
      .split('\n')
      .map((line) => /^f:\d+: warning: .*(should end|is not there|should have a)/.exec(line)?.[1]),
    ['should end', 'is not there', 'should have a', undefined],
  );
  assert.equal(valueAt(objectsIn(out)[0], 'spec.maxUnavailable'), 1);
});

test('bedrock convert writes a folder for each cluster, and none for the one that is named', async () => {
  const both = await convert(['--out', 'd'], two);
  assert.deepEqual(Object.keys(both.files), ['d/east/phase-001.yaml', 'd/west/phase-001.yaml']);
  assert.equal(both.err, 'wrote d/east/phase-001.yaml\nwrote d/west/phase-001.yaml\n');
  const one = await convert(['--out', 'd', '--cluster', 'west', '-o', 'json'], two);
  assert.deepEqual(Object.keys(one.files), ['d/phase-001.json']);
});

test('bedrock convert -o json writes one list, the budget first', async () => {
  const { out } = await convert(['-o', 'json']);
  const list = JSON.parse(out) as { kind: string; items: readonly { kind: string }[] };
  assert.equal(list.kind, 'List');
  assert.deepEqual(
    list.items.map(({ kind }) => kind),
    ['PodDisruptionBudget', 'StatefulsetRollout'],
  );
});

test('bedrock convert puts texts in quotes that readers of YAML 1.1 would take for something else', async () => {
  const env =
    '{image: kv, env: [{name: A, value: "yes"}, {name: B, value: "0755"}, {name: C, value: "1:30"}, {name: D, value: "~"}]}';
  const { out } = await convert([], file.replace('{image: kv}', env));
  const read: unknown = parse(out.slice(out.lastIndexOf('---\n') + 4), { version: '1.1' });
  const containers = valueAt(read, 'spec.statefulset.spec.template.spec.containers.0.env');
  assert.deepEqual(
    (containers as { value: unknown }[]).map(({ value }) => value),
    ['yes', '0755', '1:30', '~'],
  );
});

test('bedrock convert makes the same of the same', async () => {
  assert.equal((await convert(['--version', 'v1'])).out, (await convert(['--version', 'v1'])).out);
});

test('bedrock convert is not kept by a Deployment beside what it converts', async () => {
  const { code } = await convert([], `${file}  front: {kind: Deployment, autoscaling: {max: 9}}\n`);
  assert.equal(code, 0);
});

test('bedrock ends with exit code 1 where a file cannot be read', async () => {
  const { code, err } = await run(['validate', '-f', 'gone']);
  assert.deepEqual([code, err], [1, 'Cannot read gone\n']);
});

const validated: Record<
  string,
  {
    readonly args?: readonly string[];
    readonly text?: string;
    readonly want: readonly [code: number, said: RegExp];
  }
> = {
  'a file that is in order': { want: [0, /^kv\/dev: in order\n$/] },
  'a Deployment by passing it over': {
    text: `${file}  front: {kind: Deployment}\n`,
    want: [0, /^kv\/dev: in order\nfront: not looked into, as it is not a StatefulSet\n$/],
  },
  'a Deployment that is asked for [T-99]': {
    args: ['--service', 'front'],
    text: `${file}  front: {kind: Deployment}\n`,
    want: [3, /^f:15: services\.front\.kind unsupported kind "Deployment"/],
  },
  'a stage of another kind': {
    text: file.replace('replicas: 2', 'kind: Job'),
    args: ['--service', 'kv'],
    want: [3, /^f:14: services\.kv\.stages\.dev\.kind unsupported kind "Job"/],
  },
  'a service that is not there': {
    args: ['--service', 'x'],
    want: [2, /^--service must be one that the file names: "kv": got "x"\n$/],
  },
  'a budget of 0 [T-98]': {
    text: file.replace('50%', '0%'),
    want: [2, /^f:7: .*no rollout could ever move/],
  },
  'an unknown key': { text: file.replace('replicas', 'replica'), want: [2, /^f:14: /] },
  'an unknown key, where it is lenient': {
    args: ['--lenient'],
    text: file.replace('replicas', 'replica'),
    want: [0, /^f:14: warning: .*\nkv\/dev: in order\n$/],
  },
  'phases that end early': { text: file.replace(', 100', ''), want: [0, /^f:12: warning: /] },
  'phases that end early, where it is strict': {
    args: ['--strict'],
    text: file.replace(', 100', ''),
    want: [2, /^f:12: services/],
  },
  'both strict and lenient': { args: ['--strict', '--lenient'], want: [2, /exclude each other/] },
  'a name that no label can hold': {
    text: file.replace('dev:', `${'d'.repeat(61)}:`),
    want: [2, /^f:10: .* must make a name of at most 63/],
  },
  'an empty file': {
    text: '',
    want: [2, /^f: must be a map with the keys images and services: got nothing\n$/],
  },
};

for (const [fact, { args = [], text, want }] of Object.entries(validated)) {
  test(`bedrock validate judges ${fact}`, async () => {
    const { code, out, err, files } = await run(['validate', '-f', 'f', ...args], text);
    const [wanted, said] = want;
    assert.deepEqual([code, files], [wanted, {}]);
    assert.match(`${err}${out}`, said);
  });
}

test('bedrock tells how it is used', async () => {
  assert.deepEqual(
    [(await run([])).code, (await run(['apply'])).code, (await run(['--help'])).code],
    [2, 2, 0],
  );
  for (const name of ['convert', 'validate', 'run', 'status', 'pause', 'resume', 'retry', 'api']) {
    const { code, out } = await run([name, '--help']);
    assert.equal(code, 0);
    assert.match(out, new RegExp(`^Usage: rollout-operator bedrock ${name} `));
  }
});

const drive = ['run', '-f', 'f', '--service', 'kv', '--stage', 'dev', '--image', image];
const secrets = ['--token-file', 't', '--signing-key-file', 'k'];
const undriven: Record<string, { readonly args: readonly string[]; readonly wanted: RegExp }> = {
  'run with a phase of convert': { args: [...drive, '--percent', '1'], wanted: /"--percent"/ },
  'run from what is no phase': {
    args: [...drive, '--yes', '--from', '7'],
    wanted: /^--from must be one of the phases 1, 50, 100: got 7$/,
  },
  'run from what is no percentage': { args: [...drive, '--from', '0'], wanted: /^--from must be/ },
  'run without time': { args: [...drive, '--timeout', '0s'], wanted: /^--timeout must be a dur/ },
  'run by an API without a token': {
    args: [...drive, '--api', 'https://a'],
    wanted: /^--api needs --token-file$/,
  },
  'run by an API in the open': {
    args: [...drive, '--api', 'http://a.example', '--token-file', 't'],
    wanted: /^--api must be https, unless it is on this host$/,
  },
  'run by an API and a cluster': {
    args: [...drive, '--api', 'https://a', '--token-file', 't', '--kubeconfig', 'k'],
    wanted: /^--api and --kubeconfig exclude each other$/,
  },
  'run with a token for nobody': {
    args: [...drive, '--token-file', 't'],
    wanted: /^--token-file needs --api$/,
  },
  'status of nothing': {
    args: ['status', '-n', 'demo'],
    wanted: /^The name of a Stat.* is needed$/,
  },
  'status of a path': { args: ['status', '../x'], wanted: /^"..\/x" is not a name/ },
  'pause in a namespace that is none': {
    args: ['pause', 'kv', '-n', 'a/b'],
    wanted: /^--namespace must be a name: got "a\/b"$/,
  },
  'retry of two': { args: ['retry', 'kv', 'kw'], wanted: /^Cannot understand "kw"/ },
  'api without a token': { args: ['api'], wanted: /^--token-file is needed$/ },
  'api without a key': {
    args: ['api', '--token-file', 't'],
    wanted: /^--signing-key-file is needed$/,
  },
  'api without a namespace': {
    args: ['api', '--token-file', 't', '--signing-key-file', 'k'],
    wanted: /^--namespaces is needed: where it deploys, such as --namespaces demo$/,
  },
  'api in what is no namespace': {
    args: ['api', '--token-file', 't', '--signing-key-file', 'k', '--namespaces', 'demo,Kube'],
    wanted:
      /^--namespaces must be names of namespaces with commas between them, or \*: got "Kube"$/,
  },
  'run that replaces a deploy of no API': {
    args: [...drive, '--replaces', 'x'],
    wanted: /^--replaces needs --api$/,
  },
  'api on no address': {
    args: ['api', ...secrets, '--listen', '8443'],
    wanted: /^--listen must be/,
  },
  'api for others in the open': {
    args: ['api', ...secrets, '--listen', '10.0.0.1:80'],
    wanted: /^--tls-cert and --tls-key are needed, unless/,
  },
  'api with half a certificate': {
    args: ['api', ...secrets, '--tls-cert', 'c'],
    wanted: /^--tls-cert and --tls-key need each other: got --tls-cert alone$/,
  },
  'api everywhere without an address': {
    args: ['api', ...secrets, '--tls-cert', 'c', '--tls-key', 'k', '--listen', '[::]:1'],
    wanted: /^--public-url is needed, as :: is not an address/,
  },
  'api at an address with a user': {
    args: ['api', ...secrets, '--public-url', 'https://a@b.example'],
    wanted: /^--public-url must be/,
  },
};

for (const [fact, { args, wanted }] of Object.entries(undriven)) {
  test(`bedrock refuses ${fact}`, async () => {
    const { code, err, out } = await run(args);
    assert.deepEqual([code, out], [2, '']);
    assert.match(err.trimEnd(), wanted);
  });
}

test('bedrock run refuses several clusters, and what convert refuses', async () => {
  const several = await run([...drive, '--yes'], two);
  assert.equal(several.code, 2);
  assert.match(several.err, /^The stage has 2 clusters: name with --cluster/);
  const other = await run([...drive, '--yes'], file.replace('StatefulSet', 'Deployment'));
  assert.equal(other.code, 3);
});

test('bedrock run ends with exit code 1 where the cluster cannot be had', async () => {
  const { code, err } = await run([...drive, '--yes']);
  assert.deepEqual([code, err], [1, 'there is no cluster\n']);
});

test('randomIdentity() makes 20 letters and digits, another each time', () => {
  assert.match(randomIdentity(), /^[A-Za-z0-9]{20}$/);
  assert.notEqual(randomIdentity(), randomIdentity());
});

describe('bedrock on a disk', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bedrock-'));
  });
  after(() => rm(folder, { recursive: true }));

  const ports = {
    ...nothingToDrive(),
    readInput,
    writeFiles,
    randomIdentity,
    out: () => undefined,
    err: () => undefined,
  };

  test('bedrock convert writes the example below a new folder', async () => {
    const out = join(folder, 'new/out');
    const args = [
      'convert',
      '-f',
      exampleFile,
      '--service',
      'kv',
      '--stage',
      'prod',
      '--image',
      image,
    ];
    assert.equal(await bedrockCommand([...args, '--all-phases', '--out', out], ports), 0);
    assert.deepEqual((await readdir(out)).toSorted(), ['prod-1', 'prod-2']);
    const text = await readFile(join(out, 'prod-2/phase-010.yaml'), 'utf8');
    assert.equal(objectsIn(text).length, 2);
  });

  test('bedrock convert ends with exit code 1 where the folder is a file', async () => {
    const out = join(folder, 'file');
    await writeFile(out, '');
    const args = [
      'convert',
      '-f',
      exampleFile,
      '--service',
      'kv',
      '--stage',
      'dev',
      '--image',
      image,
    ];
    assert.equal(await bedrockCommand([...args, '--out', out], ports), 1);
  });

  const unreadable: Record<string, { readonly bytes?: Uint8Array; readonly why: RegExp }> = {
    'a file that is not there': { why: /^Cannot read .*: ENOENT/ },
    'a file that is no UTF-8': {
      bytes: Uint8Array.of(0x61, 0xff, 0xfe),
      why: /^Cannot read .*not valid/,
    },
    'a file of more than a megabyte': {
      bytes: new Uint8Array(1_048_577),
      why: /^Cannot read .*: it has more than 1048576 bytes/,
    },
  };
  for (const [fact, { bytes, why }] of Object.entries(unreadable)) {
    test(`readInput() refuses ${fact}`, async () => {
      const path = join(folder, fact);
      if (bytes !== undefined) await writeFile(path, bytes);
      await assert.rejects(
        readInput(path),
        (error) => error instanceof FileError && why.test(error.message),
      );
    });
  }

  test('readInput() refuses a file without an end', async () => {
    await assert.rejects(readInput('/dev/zero'), FileError);
  });
});

function uidOf({ metadata }: { readonly metadata: { readonly uid?: string } }): {
  readonly preconditions: { readonly uid: string };
} {
  return { preconditions: { uid: metadata.uid ?? '' } };
}

describe('what bedrock convert makes', () => {
  let cluster: EmbeddedCluster;
  let client: Client;
  before(async () => {
    const clock = new FakeClock(Date.UTC(2026, 0, 31));
    cluster = await createCluster({ clock, seed: 1 });
    const transport = cluster.transport({ user: 'user', client: 'user' });
    client = createClient({ transport, clock, timeout: millis(0), userAgent: 'test' });
    const body = statefulsetRolloutDefinition;
    await client.create(resourceTypes.customResourceDefinitions, {}, { body });
    await clock.advance(100);
  });
  after(() => cluster.close());

  const everything = [
    '--version',
    'v1',
    '--git-branch',
    'main',
    '--git-origin',
    'git@g:o',
    '--git-sha',
    'a',
    '--bapi-url',
    'https://b',
    '--stage-id',
    's',
  ];
  for (const { stage, args } of [
    { stage: 'dev', args: [] },
    { stage: 'dev', args: everything },
    { stage: 'prod', args: ['--cluster', 'prod-1'] },
    { stage: 'prod', args: ['--cluster', 'prod-2', '--percent', '100', ...everything] },
  ]) {
    test(`the example, stage ${stage} with ${args.length} more arguments, is stored as it is, and is a rollout that can be read`, async () => {
      const text = await readFile(exampleFile, 'utf8');
      const { code, out, err } = await run(
        ['convert', '-f', 'f', '--service', 'kv', '--stage', stage, '--image', image, ...args],
        text,
      );
      assert.deepEqual([code, err], [0, '']);
      const [budget = {}, rollout = {}] = objectsIn(out);
      assert.equal(parseStatefulsetRollout(rollout).kind, 'valid');
      const namespace = stage === 'dev' ? 'default' : 'storage';
      if (namespace === 'storage') {
        const body = { metadata: { name: namespace } };
        await client.create(resourceTypes.namespaces, {}, { body }).catch(() => undefined);
      }
      const stored = await client.create(
        resourceTypes.statefulsetRollouts,
        { namespace },
        { body: rollout },
      );
      assert.deepEqual(stored['spec'], rollout['spec']);
      const kept = await client.create(
        resourceTypes.podDisruptionBudgets,
        { namespace },
        { body: budget },
      );
      assert.deepEqual(kept['spec'], budget['spec']);
      const name = `kv-${stage}`;
      await client.delete(resourceTypes.statefulsetRollouts, { namespace, name }, uidOf(stored));
      await client.delete(resourceTypes.podDisruptionBudgets, { namespace, name }, uidOf(kept));
    });
  }
});
