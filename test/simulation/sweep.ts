/**
 * `npm run do sweep`: tells each story of scenario.ts once with each fault at each call and event (SWEEP-1), then with
 * many orders of events. Prints a line for each class of faults, and for each failure the command that tells it again.
 */

import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { errorOf } from '#base/error-of.ts';
import { seconds } from '#base/units.ts';
import {
  deathName,
  percentDeaths,
  percentStories,
  percentTold,
} from '../integration/statefulset-rollout/percent-sweep.ts';
import { failureText } from './compare-runs.ts';
import { faultName } from './fault-name.ts';
import { fuzzed } from './fuzz.ts';
import type { Scenario } from './scenario.ts';
import { scenarios } from './scenarios.ts';
import { sweep, type Tally, tellReference } from './sweep-engine.ts';

const percentNames = Object.keys(percentStories);

const usage = `usage: npm run do -- sweep [--scenario NAME] [--fault NAME] [--list] [--seeds N] [--threads N]

  --scenario  one of: ${[...scenarios.map(({ name }) => name), ...percentNames].join(', ')}; default all
  --fault     only this fault, with the log of the operators
  --list      print the names of the faults of a scenario, run nothing else
  --seeds     orders of events to try besides the faults; default 50
  --threads   default the number of cores
`;

interface Options {
  readonly scenario?: string;
  readonly fault?: string;
  readonly list: boolean;
  readonly seeds: number;
  readonly threads: number;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      scenario: { type: 'string' },
      fault: { type: 'string' },
      list: { type: 'boolean', default: false },
      seeds: { type: 'string', default: '50' },
      threads: { type: 'string', default: String(availableParallelism()) },
    },
  });
  return { ...values, seeds: Number(values.seeds), threads: Math.max(1, Number(values.threads)) };
}

/** @returns how many runs failed */
async function main(options: Options): Promise<number> {
  const chosen = scenarios.filter(
    ({ name }) => options.scenario === undefined || options.scenario === name,
  );
  const percents = percentNames.filter(
    (name) => options.scenario === undefined || options.scenario === name,
  );
  if (chosen.length + percents.length === 0)
    throw new Error(`There is no scenario "${options.scenario}"\n${usage}`);
  let failed = 0;
  for (const scenario of chosen) {
    if (options.list) failed += await list(scenario);
    else if (options.fault === undefined) failed += await tellAll(scenario, options);
    else failed += await replay(scenario, options.fault);
  }
  for (const name of percents) failed += await tellPercent(name, options);
  return failed;
}

async function list(scenario: Scenario): Promise<number> {
  const { faults } = await tellReference(scenario);
  for (const fault of faults) print(`${fault.test} ${faultName(fault)}`);
  return 0;
}

/** StatefulsetRollouts have a stage of their own: each write and each call of the operator is where it is killed. */
async function tellPercent(name: string, { list: isList, fault }: Options): Promise<number> {
  const startedAt = performance.now();
  const all = await percentDeaths(name);
  const deaths = all.filter((death) => fault === undefined || deathName(death) === fault);
  let failed = 0;
  for (const death of deaths) {
    if (isList) print(deathName(death));
    const faults = isList ? [] : await percentTold(name, death);
    if (faults.length > 0) failed += 1;
    for (const each of faults) {
      print(`${each}\n  npm run do -- sweep --scenario ${name} --fault "${deathName(death)}"`);
    }
  }
  const took = ((performance.now() - startedAt) / 1_000).toFixed(1);
  if (!isList) print(`${name}: ${deaths.length - failed}/${deaths.length} in ${took} s`);
  return failed;
}

async function replay(scenario: Scenario, name: string): Promise<number> {
  const told = await tellReference(scenario);
  const fault = told.faults.find((each) => faultName(each) === name);
  if (fault === undefined) throw new Error(`${scenario.name} has no fault "${name}"; see --list`);
  const [tally] = await sweep([fault], told, {
    onRun: ({ world }) => {
      const start = world.cluster.eventLog.commits[0]?.at ?? 0;
      for (const { at, client, level, message, fields } of world.record.log) {
        const time = `t+${((at - start) / 1_000).toFixed(3)}s`;
        print(`${time} ${client} ${level} ${message} ${JSON.stringify(fields)}`);
      }
    },
  });
  const failures = tally?.failures ?? [];
  print(failures.length === 0 ? `${scenario.name}, ${name}: all promises kept` : '');
  for (const failure of failures) print(failure);
  return failures.length;
}

async function tellAll(scenario: Scenario, { seeds, threads }: Options): Promise<number> {
  const startedAt = performance.now();
  const { run } = await tellReference(scenario);
  if (run.problems.length > 0) {
    print(failureText(run));
    return 1;
  }
  const parts = await Promise.all(
    Array.from({ length: threads }, async (_, part) => sweepPart(scenario.name, part, threads)),
  );
  const tallies = merge(parts.flat());
  const orders = await tellOrders(scenario, seeds);
  const all = [...tallies, orders];
  const took = ((performance.now() - startedAt) / 1_000).toFixed(1);
  const counts = all.map(({ test, runs, failures }) => `${test} ${runs - failures.length}/${runs}`);
  const { sample = 1 } = scenario;
  const which = sample === 1 ? '' : ` (one fault in ${sample})`;
  print(`${scenario.name}${which}: ${counts.join(', ')} in ${took} s`);
  for (const failure of all.flatMap(({ failures }) => failures)) print(failure);
  return all.reduce((sum, { failures }) => sum + failures.length, 0);
}

async function sweepPart(name: string, part: number, parts: number): Promise<readonly Tally[]> {
  const worker = new Worker(new URL('./sweep-part.ts', import.meta.url), {
    workerData: { name, part, parts },
  });
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

function merge(tallies: readonly Tally[]): readonly Tally[] {
  const merged = new Map<string, Tally>();
  for (const { test, runs, failures } of tallies) {
    const sum = merged.get(test) ?? { test, runs: 0, failures: [] };
    sum.runs += runs;
    sum.failures.push(...failures);
    merged.set(test, sum);
  }
  return [...merged.values()].sort((one, other) => one.test.localeCompare(other.test));
}

async function tellOrders(scenario: Scenario, seeds: number): Promise<Tally> {
  const tally: Tally = { test: 'cluster 59', runs: 0, failures: [] };
  for (let seed = 1; seed <= seeds; seed += 1) {
    const { run } = await tellReference(fuzzed(scenario, seed, seconds(0.2)));
    tally.runs += 1;
    if (run.problems.length > 0) tally.failures.push(failureText(run));
  }
  return tally;
}

/** @returns the exit code: 1 when a story broke a promise, 2 for wrong arguments */
async function run(): Promise<number> {
  let options: Options;
  try {
    options = readOptions();
  } catch (error) {
    process.stderr.write(`${errorOf(error).message}\n\n${usage}`);
    return 2;
  }
  return (await main(options)) === 0 ? 0 : 1;
}

process.exitCode = await run();
