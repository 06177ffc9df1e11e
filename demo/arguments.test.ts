import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseClusterArguments } from './cluster-options.ts';
import { parseDemoArguments } from './demo-options.ts';

const usual = {
  scenario: 'rollout',
  isOnce: false,
  speed: 1,
  pods: undefined,
  maxUnavailable: undefined,
};

const demoCases: Record<string, { args: readonly string[]; want: object }> = {
  'has a default for everything': { args: [], want: usual },
  'reads a value after a space, or after an equals sign': {
    args: ['--speed', '2.5', '--pods=10', '--max-unavailable=3'],
    want: { ...usual, speed: 2.5, pods: 10, maxUnavailable: 3 },
  },
  'reads the scenario': {
    args: ['--once', '--scenario', 'broken-image'],
    want: { ...usual, isOnce: true, scenario: 'broken-image' },
  },
  'scales as many pods, as fast as wanted': {
    args: ['--scenario=delayed-downscale', '--pods=2', '--speed=4'],
    want: { ...usual, scenario: 'delayed-downscale', pods: 2, speed: 4 },
  },
  'drains and rolls as many pods': {
    args: ['--scenario=drain', '--pods=4', '--max-unavailable=3'],
    want: { ...usual, scenario: 'drain', pods: 4, maxUnavailable: 3 },
  },
  'updates as many pods of each zone in steps': {
    args: ['--scenario=exponential', '--pods=4', '--max-unavailable=3', '--speed=10'],
    want: { scenario: 'exponential', speed: 10, pods: 4, maxUnavailable: 3 },
  },
  'rolls as many pods of one set by percentages': {
    args: ['--scenario=percent', '--once', '--pods=3', '--max-unavailable=3'],
    want: { scenario: 'percent', speed: 1, pods: 3, maxUnavailable: 3 },
  },
  'lets the last of two win': { args: ['--pods=1', '--pods=2'], want: { ...usual, pods: 2 } },
};

for (const [fact, { args, want }] of Object.entries(demoCases)) {
  test(`parseDemoArguments() ${fact}`, () => {
    assert.deepEqual(parseDemoArguments(args), { kind: 'run', options: want });
  });
}

const refusals: Record<string, { args: readonly string[]; text: string }> = {
  'an unknown option': {
    args: ['--fast'],
    text: 'Cannot understand "--fast": the options are --once, --scenario, --speed, --pods, --max-unavailable, --help\n',
  },
  'a word that belongs to no option': {
    args: ['rollout'],
    text: 'Cannot understand "rollout": the options are --once, --scenario, --speed, --pods, --max-unavailable, --help\n',
  },
  'a name of the prototype of objects': {
    args: ['--constructor'],
    text: 'Cannot understand "--constructor": the options are --once, --scenario, --speed, --pods, --max-unavailable, --help\n',
  },
  'a value of a flag': { args: ['--once=yes'], text: '--once takes no value: got "yes"\n' },
  'an option without its value': { args: ['--pods'], text: '--pods needs a value\n' },
  'an unknown scenario': {
    args: ['--scenario=fire'],
    text: '--scenario must be rollout, broken-image, hiccup, hand-over, delayed-downscale, no-downscale, drain, phased, exponential or percent: got "fire"\n',
  },
  'a limit where no pod is replaced': {
    args: ['--scenario=delayed-downscale', '--max-unavailable=2'],
    text: '--max-unavailable and --scenario delayed-downscale exclude each other: it replaces no pod\n',
  },
  'a limit where scale-downs are reviewed': {
    args: ['--scenario=no-downscale', '--max-unavailable=2'],
    text: '--max-unavailable and --scenario no-downscale exclude each other: it replaces no pod\n',
  },
  'a single pod where one has to go': {
    args: ['--scenario=delayed-downscale', '--pods=1'],
    text: '--pods must be an integer from 2 to 500: got "1"\n',
  },
  'fewer pods than percentages can part': {
    args: ['--scenario=percent', '--pods=2'],
    text: '--pods must be an integer from 3 to 500: got "2"\n',
  },
  'a half pod': {
    args: ['--pods=1.5'],
    text: '--pods must be an integer from 1 to 500: got "1.5"\n',
  },
  'no pods at all': {
    args: ['--pods=0'],
    text: '--pods must be an integer from 1 to 500: got "0"\n',
  },
  'a speed that is no number': {
    args: ['--speed=fast'],
    text: '--speed must be a number from 0.1 to 100: got "fast"\n',
  },
  'a limit below one': {
    args: ['--max-unavailable', '0'],
    text: '--max-unavailable must be an integer from 1 to 500: got "0"\n',
  },
};

for (const [fact, { args, text }] of Object.entries(refusals)) {
  test(`parseDemoArguments() refuses ${fact} in one sentence`, () => {
    assert.deepEqual(parseDemoArguments(args), { kind: 'exit', code: 2, text });
  });
}

test('parseDemoArguments() answers --help whatever else is asked', () => {
  const answer = parseDemoArguments(['--once', '--help']);
  assert.equal(answer.kind, 'exit');
  assert.equal('code' in answer && answer.code, 0);
});

const clusterCases: Record<string, { args: readonly string[]; want: object }> = {
  'runs the examples on a free port': {
    args: [],
    want: {
      kind: 'run',
      options: {
        folder: undefined,
        isApplied: true,
        port: undefined,
        kubeconfig: undefined,
        speed: 1,
      },
    },
  },
  'takes a folder, a port and a file': {
    args: ['--apply=my', '--port=6443', '--kubeconfig=kc'],
    want: {
      kind: 'run',
      options: { folder: 'my', isApplied: true, port: 6443, kubeconfig: 'kc', speed: 1 },
    },
  },
  'rolls a cluster that runs': {
    args: ['--roll=next', '--kubeconfig=kc'],
    want: { kind: 'roll', options: { image: 'next', kubeconfig: 'kc' } },
  },
  'refuses to roll an unnamed cluster': {
    args: ['--roll=next'],
    want: {
      kind: 'exit',
      code: 2,
      text: '--roll needs --kubeconfig: the file that the running cluster named\n',
    },
  },
  'refuses to apply a folder and none': {
    args: ['--apply=my', '--no-apply'],
    want: { kind: 'exit', code: 2, text: '--apply and --no-apply exclude each other\n' },
  },
};

for (const [fact, { args, want }] of Object.entries(clusterCases)) {
  test(`parseClusterArguments() ${fact}`, () => {
    assert.deepEqual(parseClusterArguments(args), want);
  });
}
