/**
 * Shows that the tests notice the bugs they are there for (D-46). Each `test/mutants/<name>.patch` plants one, and names the
 * test that must then fail in the lines above its diff:
 *
 *     Bug: a pod that is terminating counts as available
 *     Test: src/statefulset/availability.test.ts
 *     Name: isAvailable() is false for a terminating pod
 *
 * `Name` is the title of a test or a group, or a part of it. The place of a bug is found by what stands there, so that neither
 * a move nor a rename breaks it; `--carry` writes today's paths, names and lines into the patches.
 *
 *     npm run do mutants [<word> …]          those whose file name has one of the words in it; all without a word
 *     npm run do -- mutants --gate           those that stand for a promise and a kind (test/gate/promises.ts)
 *     npm run do -- mutants --carry [<word> …]
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { carryMutants } from './carry-mutants.ts';
import { type Mutant, readMutants } from './mutant.ts';
import { describeResults, runMutants } from './run-mutants.ts';

const root = join(import.meta.dirname, '../..');

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { carry: { type: 'boolean', default: false } },
});

function isNamed({ name }: Mutant): boolean {
  return positionals.length === 0 || positionals.some((word) => name.includes(word));
}

const mutants = (await readMutants(root)).filter(isNamed);
if (mutants.length === 0) {
  process.stdout.write('No planted bug in test/mutants has such a name\n');
  process.exitCode = 1;
} else if (values.carry) {
  for (const line of await carryMutants(root, mutants)) process.stdout.write(`${line}\n`);
} else {
  const results = await runMutants(mutants, { root, atOnce: 2 });
  process.stdout.write(describeResults(results));
  process.exitCode = results.every(({ verdict }) => verdict === 'caught') ? 0 : 1;
}
