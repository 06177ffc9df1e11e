/**
 * The real lane: runs the scenarios on a real control plane, and beside them on the embedded cluster.
 *
 *     npm run do -- test:real [--kubernetes oldest | baseline | newest | all] [--context <name>] [--gate | <test file> …]
 *
 * `--gate` takes the scenarios that test/gate/real-lane.ts lists, and fails where one of them did not run.
 * The control plane is the cluster of `TEST_KUBECONFIG` if `--context` names one of its contexts, else started from the
 * binaries in `KUBEBUILDER_ASSETS`, else from those in the cache folder, which are built there with Go when missing.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { delimiter, join } from 'node:path';
import { parseArgs } from 'node:util';
import { errorOf } from '#base/error-of.ts';
import { realGate } from '../gate/real-lane.ts';
import { findBinaries, type VersionName, versionsOf } from './control-plane/binaries.ts';
import { chosenCluster } from './control-plane/existing-cluster.ts';

const root = join(import.meta.dirname, '../..');
const defaultFiles = ['test/real/**/*.test.ts', 'test/scenarios/**/*.test.ts'];

/** @returns the exit code: that of the tests; 1 when there is nothing to run them on; 2 for wrong arguments */
async function main(args: readonly string[]): Promise<number> {
  const start = Date.now();
  const { env } = process;
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  try {
    const { files, titles, context, versions } = read(args);
    const existing = await chosenCluster(env, context);
    if (existing !== undefined) {
      say(`Running on the cluster of context "${existing.context}" in ${existing.path}`);
      return await runTests(
        { files, titles },
        {
          REAL_LANE_CONTEXT: existing.context,
          REAL_LANE_START: `${start}`,
        },
      );
    }
    let worst = 0;
    for (const version of versions) {
      const binaries = await findBinaries({ env, say, version });
      say(`Running on binaries from ${binaries.source}`);
      const code = await runTests(
        { files, titles },
        {
          KUBEBUILDER_ASSETS: binaries.folder,
          // The kubectl of that version, where the folder has one, before any other.
          PATH: `${binaries.folder}${delimiter}${env['PATH'] ?? ''}`,
          REAL_LANE_START: `${start}`,
        },
      );
      worst = Math.max(worst, code);
    }
    return worst;
  } catch (error) {
    process.stderr.write(`${errorOf(error).message}\n`);
    return 1;
  }
}

interface Choice {
  readonly files: readonly string[];
  /** The only titles that run; undefined for all. */
  readonly titles: readonly string[] | undefined;
  readonly context: string | undefined;
  readonly versions: readonly VersionName[];
}

/** @throws {Error} one sentence, for wrong arguments */
function read(args: readonly string[]): Choice {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      kubernetes: { type: 'string' },
      context: { type: 'string' },
      gate: { type: 'boolean', default: false },
    },
  });
  const { context, kubernetes, gate } = values;
  if (gate && positionals.length > 0) throw new Error('--gate has files of its own: name none');
  const assets = process.env['KUBEBUILDER_ASSETS'] ?? '';
  if (kubernetes !== undefined && assets !== '') {
    throw new Error(
      `--kubernetes chooses a version, but KUBEBUILDER_ASSETS names one folder: unset one of them`,
    );
  }
  const taken = realGate.filter(({ titles }) => titles.length > 0);
  const named = positionals.length === 0 ? defaultFiles : positionals;
  return {
    files: gate ? taken.map(({ file }) => file) : named,
    titles: gate ? taken.flatMap(({ titles }) => titles) : undefined,
    context,
    versions: versionsNamed(kubernetes ?? 'baseline'),
  };
}

function versionsNamed(text: string): readonly VersionName[] {
  const names = Object.keys(versionsOf) as VersionName[];
  // Two names may stand for one version.
  if (text === 'all')
    return names.filter(
      (name, at) => names.findIndex((other) => versionsOf[other] === versionsOf[name]) === at,
    );
  const found = names.find((name) => name === text);
  if (found !== undefined) return [found];
  throw new Error(`--kubernetes is "${text}", but must be one of ${names.join(', ')}, all`);
}

async function runTests(
  { files, titles }: Pick<Choice, 'files' | 'titles'>,
  variables: Readonly<Record<string, string>>,
): Promise<number> {
  const options = [
    '--disable-warning=ExperimentalWarning',
    '--test',
    // Of what runs most is waiting for pods: with two files at once both cores have work.
    '--test-concurrency=2',
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    `--test-reporter=${join(import.meta.dirname, 'report.ts')}`,
    '--test-reporter-destination=stdout',
    ...(titles ?? []).map((title) => `--test-name-pattern=${patternOf(title)}`),
  ];
  const child = spawn(process.execPath, [...options, ...files], {
    cwd: root,
    env: { ...process.env, ...variables, REAL_LANE_TITLES: JSON.stringify(titles ?? []) },
    stdio: 'inherit',
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

/** Matches the titles that begin with `title`, alone or below a group. */
function patternOf(title: string): string {
  return `(?:^| )${title.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}`;
}

process.exitCode = await main(process.argv.slice(2));
