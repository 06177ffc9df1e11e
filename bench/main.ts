/**
 * Runs benchmarks and says whether each figure reaches its bound.
 *
 *     npm run bench -- <name> … | all  [--size full|tiny] [--cluster embedded|real] [--json]
 */
import { parseArgs } from 'node:util';
import { admission } from './admission.ts';
import type { Bench } from './bench.ts';
import { type Findings, formatFindings, type Size } from './figures.ts';
import { idle } from './idle.ts';
import { reaction } from './reaction.ts';
import { rollout } from './rollout.ts';
import { rotation } from './rotation.ts';
import { scaling } from './scaling.ts';
import { server } from './server.ts';
import { start } from './start.ts';

const benches: Readonly<Record<string, Bench>> = {
  rollout,
  reaction,
  scaling,
  start,
  idle,
  server,
  admission,
  rotation,
};

/** Runs what `args` name. @returns the exit code: 1 when a figure misses its bound, 2 for wrong arguments */
async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      size: { type: 'string', default: 'full' },
      cluster: { type: 'string', default: 'embedded' },
      json: { type: 'boolean' },
    },
  });
  const names = positionals.includes('all') ? Object.keys(benches) : positionals;
  const chosen = names.map((name) => benches[name]).filter((bench) => bench !== undefined);
  const { size, cluster, json: isJson = false } = values;
  const runs = chosen.map((bench) => runOn(cluster, bench)).filter((run) => run !== undefined);
  if (runs.length === 0 || runs.length < names.length || !isSize(size)) {
    process.stderr.write(usage());
    return 2;
  }
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

/** How `bench` runs on `cluster`; undefined where it cannot. */
function runOn(cluster: string, bench: Bench): Bench['run'] | undefined {
  if (cluster === 'real') return bench.runOnReal;
  return cluster === 'embedded' ? (size) => bench.run(size) : undefined;
}

function isSize(text: string): text is Size {
  return text === 'full' || text === 'tiny';
}

function usage(): string {
  const lines = Object.entries(benches).map(([name, { about }]) => `  ${name.padEnd(9)} ${about}`);
  return `npm run bench -- <name> … | all [--size full|tiny] [--cluster embedded|real] [--json]\n\n${lines.join('\n')}\n`;
}

process.exitCode = await main(process.argv.slice(2));
