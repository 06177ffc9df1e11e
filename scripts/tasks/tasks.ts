/** What contributors run beside `npm start`, `npm test`, `npm run ok` and `npm run format`: each with a line of help. */

/** A command of this checkout. */
export interface Task {
  /** What it is for, as a line of the list. */
  readonly help: string;
  /** For /bin/sh, in the root of the checkout, with `node_modules/.bin` on the path; arguments are added behind. */
  readonly command: string;
}

/** Tasks that belong together, under the title of the group. */
export type TaskGroup = Readonly<Record<string, Task>>;

const node = 'exec sh scripts/with-node.sh';
const quiet = `${node} --disable-warning=ExperimentalWarning`;

/** Prints dots, the skips with their reasons, and the times of files where `TEST_TIMES` asks for them. */
const reporters = [
  '--test-reporter=dot',
  '--test-reporter-destination=stdout',
  '--test-reporter=./scripts/tests/note-skips.ts',
  '--test-reporter-destination=stdout',
].join(' ');
/** One process for all files, ended and explained where it stands still. */
const oneProcess = 'scripts/tests/run-files.ts';
const nightly = '"test/**/*.nightly.test.ts"';

const run: TaskGroup = {
  operator: {
    help: 'the operator alone, against the cluster that the flags, the kubeconfig or the pod name',
    command: `${node} --max-semi-space-size=4 src/main.ts`,
  },
  cluster: {
    help: 'the embedded cluster alone, with a kubeconfig for kubectl',
    command: `${node} src/main.ts cluster`,
  },
  build: { help: 'bundles the program for the image', command: `${quiet} scripts/build.ts` },
  image: {
    help: 'builds the image with docker, podman or buildah',
    command: `${quiet} scripts/image.ts`,
  },
};

const tests: TaskGroup = {
  'test:unit': {
    help: 'the tests beside the sources',
    command: `${quiet} --test-timeout=120000 ${oneProcess} "{src,cluster,demo,test/support}/**/*.test.ts"`,
  },
  'test:scripts': {
    help: 'the tests of scripts/ and test/gate/',
    command: `${quiet} ${oneProcess} "{scripts,test/gate}/**/*.test.ts"`,
  },
  'test:integration': {
    help: 'the program on the embedded cluster, and as processes',
    command: `${quiet} scripts/tests/run-folders.ts "test/integration/*" "test/scenarios" "test/scenarios/*"`,
  },
  'test:simulation': {
    help: 'a share of the sweeps; TEST_EXTENT=whole tells all',
    command: `${quiet} --test-timeout=300000 ${oneProcess} "test/simulation/*.test.ts"`,
  },
  'test:nightly': {
    help: 'tests in real time that the gate leaves to the night',
    command: `${quiet} --test --test-concurrency=2 --test-timeout=300000 ${reporters} ${nightly}`,
  },
  'test:real': {
    help: 'the scenarios on a real control plane; --gate: the most telling of each topic',
    command: `${node} test/real-cluster/run.ts`,
  },
  'test:mixin': {
    help: 'alerts and dashboards by promtool, and against scrapes of the program',
    command: `${quiet} --test --test-concurrency=2 --test-timeout=180000 ${reporters} "test/mixin/**/*.test.ts"`,
  },
  'test:image': {
    help: 'builds the image twice, and rolls a group with it on a real control plane',
    command: `${quiet} test/image/run.ts`,
  },
  'test:lies': {
    help: 'makes the embedded cluster behave wrongly in each way, and expects a scenario to fail',
    command: `${quiet} --test --test-concurrency=1 ${reporters} "test/lies/**/*.test.ts"`,
  },
  mutants: {
    help: 'plants bugs, and expects the named test to fail; --gate, --carry, or words',
    command: `${node} scripts/mutants/main.ts`,
  },
  sweep: {
    help: 'tells each story with each fault at each call and event',
    command: `${node} test/simulation/sweep.ts`,
  },
  fuzz: { help: 'posts generated bodies to every webhook', command: `${node} test/fuzz/main.ts` },
  bench: {
    help: 'measures, and holds each figure against its bound',
    command: `${node} bench/main.ts`,
  },
};

const generators: TaskGroup = {
  manifests: {
    help: 'writes the manifests of deploy/; with a namespace prints them for it',
    command: `${quiet} scripts/generate-deploy.ts`,
  },
  chart: {
    help: 'writes the chart and the kustomize bases',
    command: `${quiet} scripts/generate-install.ts`,
  },
  mixin: { help: 'renders alerts and dashboards', command: `${quiet} test/mixin/render.ts` },
  diagram: {
    help: 'draws the rooms in docs/architecture.md',
    command: `${quiet} scripts/docs/generate-diagram.ts`,
  },
  metrics: { help: 'writes docs/metrics.md', command: `${quiet} scripts/docs/generate-metrics.ts` },
  keys: {
    help: 'writes docs/labels-and-annotations.md',
    command: `${quiet} scripts/docs/generate-keys.ts`,
  },
  reasons: { help: 'writes docs/reasons.md', command: `${quiet} scripts/docs/generate-reasons.ts` },
  promises: {
    help: 'writes docs/rules/promises-shown.md',
    command: `${quiet} scripts/docs/generate-promises.ts`,
  },
  hooks: {
    help: 'has git check the messages of commits in this clone',
    command: 'git config core.hooksPath scripts/hooks',
  },
};

const checks: TaskGroup = {
  'check:format': {
    help: 'format and order of imports',
    command: 'biome check --error-on-warnings .',
  },
  'check:lint': { help: 'oxlint, with types', command: 'oxlint --type-aware --deny-warnings' },
  'check:types': { help: 'the compiler', command: 'tsc -p .' },
  'check:imports': {
    help: 'layers, purity of the core, adapters, cycles',
    command: `${quiet} scripts/checks/check-imports.ts`,
  },
  'check:dead': {
    help: 'exports, files and dependencies that nothing uses',
    command: 'knip --no-progress --no-config-hints',
  },
  'check:scenarios': {
    help: 'each required scenario of the specifications has a test that runs',
    command: `${node} scripts/checks/check-scenarios.ts`,
  },
  'check:ids': {
    help: 'each id of a rule is explained in docs/rules, and no text for users names one',
    command: `${quiet} scripts/checks/check-ids.ts`,
  },
  'check:comments': {
    help: 'doc comments of functions begin with a verb; --list <folder> names the others',
    command: `${quiet} scripts/checks/check-comments.ts`,
  },
  'check:duplicates': {
    help: 'no run of six or more equal lines stands in two files',
    command: `${quiet} scripts/checks/check-duplicates.ts`,
  },
};

/** All of them, by the titles under which they are listed. */
export const taskGroups: Readonly<Record<string, TaskGroup>> = {
  'Run the program': run,
  Test: tests,
  'Write generated files': generators,
  Check: checks,
};

/** All of them, by name. */
export const tasks: ReadonlyMap<string, Task> = new Map(
  Object.values(taskGroups).flatMap((group) => Object.entries(group)),
);

/** The gate of every commit, in less than a minute; the longest first. */
export const okTasks: readonly string[] = [
  'test:unit',
  'check:lint',
  'test:scripts',
  'check:types',
  'check:imports',
  'check:format',
  'check:dead',
  'check:scenarios',
  'check:ids',
  'check:comments',
  'check:duplicates',
];
