/**
 * Runs benchmarks and says whether each figure reaches its bound. One file a bench; what they measure is run as users run
 * it, and no test depends on a figure.
 *
 *     npm run do -- bench <name> … | all  [--size full|tiny] [--cluster embedded|real] [--json]
 */
import { parseArgs } from 'node:util';
import { errorOf } from '#base/error-of.ts';
import type { Bench } from './bench.ts';
import { benches } from './benches.ts';
import type { Findings, Size } from './figures.ts';
import { formatFindings } from './format-findings.ts';

interface Choice {
  readonly runs: readonly Bench['run'][];
  readonly size: Size;
  readonly isJson: boolean;
}

/** Runs what `args` name. @returns the exit code: 1 when a figure misses its bound, 2 for wrong arguments */
async function main(args: readonly string[]): Promise<number> {
  let choice: Choice;
  try {
    choice = read(args);
  } catch (error) {
    process.stderr.write(`${errorOf(error).message}\n\n${usage()}`);
    return 2;
  }
  const { runs, size, isJson } = choice;
  const found: Findings[] = [];
  for (const run of runs) {
    const findings = await run(size);
    if (!isJson) process.stdout.write(`${findings.map(formatFindings).join('\n')}\n`);
    found.push(...findings);
  }
  if (isJson) process.stdout.write(`${JSON.stringify(found, null, 2)}\n`);
  const hasFailed = found.some(({ figures }) => figures.some(({ verdict }) => verdict === 'FAIL'));
  return hasFailed ? 1 : 0;
}

/** @throws {Error} one sentence, for wrong arguments */
function read(args: readonly string[]): Choice {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      size: { type: 'string', default: 'full' },
      cluster: { type: 'string', default: 'embedded' },
      json: { type: 'boolean', default: false },
    },
  });
  const { size, cluster, json: isJson } = values;
  if (size !== 'full' && size !== 'tiny') throw new Error(`--size is "${size}": full or tiny`);
  if (positionals.length === 0) throw new Error('Nothing to run: name a benchmark, or all');
  const names = positionals.includes('all') ? Object.keys(benches) : positionals;
  return { runs: names.map((name) => runOn(cluster, name)), size, isJson };
}

/** How the benchmark, or the part of one, `name` runs on `cluster`. @throws {Error} one sentence, where it cannot */
function runOn(cluster: string, name: string): Bench['run'] {
  const [whole = '', part] = name.split('/', 2);
  const bench = benches[whole];
  if (bench === undefined) throw new Error(`There is no benchmark "${name}"`);
  const { run, runOnReal } = part === undefined ? bench : partOf(bench, name, part);
  if (cluster === 'embedded') return run;
  if (cluster !== 'real') throw new Error(`--cluster is "${cluster}": embedded or real`);
  if (runOnReal === undefined) throw new Error(`${name} does not run on a real control plane`);
  return runOnReal;
}

function partOf({ about, parts }: Bench, name: string, part: string): Bench {
  const run = parts?.[part];
  if (run === undefined) throw new Error(`There is no benchmark "${name}"`);
  return { about, run };
}

function usage(): string {
  const lines = Object.entries(benches).map(([name, { about }]) => `  ${name.padEnd(15)} ${about}`);
  return `npm run do -- bench <name> … | all [--size full|tiny] [--cluster embedded|real] [--json]\n\n${lines.join('\n')}\n`;
}

process.exitCode = await main(process.argv.slice(2));
