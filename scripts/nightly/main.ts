/**
 * Runs all that the gate leaves out, in stages, and says what ran, what failed, what was skipped and why, and how long it took.
 *
 *     npm run nightly                          all stages that have not run yet on what is checked out
 *     npm run nightly -- <word> …              those whose name has one of the words: phased-rollout, mutants, "real oldest"
 *     npm run nightly -- --list                what there is, and how it ended
 *     npm run nightly -- --again [<word> …]    those that have failed once more
 *
 * A night that was cut off goes on where it was: results are kept in the cache folder of the user, by commit and changes.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { cacheFolder } from '../../test/real-cluster/control-plane/binaries.ts';
import { runStage } from './run-stage.ts';
import type { StageResult } from './stage.ts';
import { StageBook, stateOf } from './stage-book.ts';
import { allStages } from './stages.ts';
import { summarize } from './summary.ts';

const root = join(import.meta.dirname, '../..');

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    again: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
});

const stages = await allStages(root);
const chosen = stages.filter(
  ({ name }) => positionals.length === 0 || positionals.some((word) => name.includes(word)),
);
if (chosen.length === 0) {
  process.stderr.write(`No stage has such a name: npm run nightly -- --list\n`);
  process.exit(2);
}

const state = stateOf(root);
const book = new StageBook(join(cacheFolder(process.env), 'nightly', state));
const results = new Map<string, StageResult>();
for (const { name } of chosen) {
  const result = book.read(name);
  if (result !== undefined) results.set(name, result);
}

if (!values.list) {
  for (const stage of chosen) {
    const known = results.get(stage.name);
    if (known !== undefined && !(values.again && known.verdict === 'failed')) continue;
    process.stdout.write(`${new Date().toISOString()} ${stage.name}\n`);
    results.set(stage.name, await runStage(stage, root, book));
  }
  process.stdout.write('\n');
}

const left = stages.filter((stage) => !chosen.includes(stage)).map(({ name }) => name);
process.stdout.write(summarize({ state, chosen: chosen.map(({ name }) => name), left, results }));
const isGood = chosen.every(({ name }) => results.get(name)?.verdict === 'passed');
process.exitCode = isGood || values.list ? 0 : 1;
