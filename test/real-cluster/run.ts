/**
 * The real lane: runs the scenarios on a real control plane, and beside them on the embedded cluster.
 *
 *     npm run test:real -- [--kubernetes oldest | baseline | newest | all] [--context <name>] [<test file> …]
 *
 * The control plane is the cluster of `TEST_KUBECONFIG` if `--context` names one of its contexts, else started from the
 * binaries in `KUBEBUILDER_ASSETS`, else from those in the cache folder, which are built there with Go when missing.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { delimiter, join } from 'node:path';
import { parseArgs } from 'node:util';
import { errorOf } from '#base/error-of.ts';
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
    const { files, context, versions } = read(args);
    const existing = await chosenCluster(env, context);
    if (existing !== undefined) {
      say(`Running on the cluster of context "${existing.context}" in ${existing.path}`);
      return await runTests(files, {
        REAL_LANE_CONTEXT: existing.context,
        REAL_LANE_START: `${start}`,
      });
    }
    let worst = 0;
    for (const version of versions) {
      const binaries = await findBinaries({ env, say, version });
      say(`Running on binaries from ${binaries.source}`);
      const code = await runTests(files, {
        KUBEBUILDER_ASSETS: binaries.folder,
        // The kubectl of that version, where the folder has one, before any other.
        PATH: `${binaries.folder}${delimiter}${env['PATH'] ?? ''}`,
        REAL_LANE_START: `${start}`,
      });
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
  readonly context: string | undefined;
  readonly versions: readonly VersionName[];
}

/** @throws {Error} one sentence, for wrong arguments */
function read(args: readonly string[]): Choice {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { kubernetes: { type: 'string' }, context: { type: 'string' } },
  });
  const { context, kubernetes } = values;
  const assets = process.env['KUBEBUILDER_ASSETS'] ?? '';
  if (kubernetes !== undefined && assets !== '') {
    throw new Error(
      `--kubernetes chooses a version, but KUBEBUILDER_ASSETS names one folder: unset one of them`,
    );
  }
  return {
    files: positionals.length === 0 ? defaultFiles : positionals,
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
  files: readonly string[],
  variables: Readonly<Record<string, string>>,
): Promise<number> {
  const options = [
    '--disable-warning=ExperimentalWarning',
    '--test',
    '--test-concurrency=1',
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    `--test-reporter=${join(import.meta.dirname, 'report.ts')}`,
    '--test-reporter-destination=stdout',
  ];
  const child = spawn(process.execPath, [...options, ...files], {
    cwd: root,
    env: { ...process.env, ...variables },
    stdio: 'inherit',
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

process.exitCode = await main(process.argv.slice(2));
