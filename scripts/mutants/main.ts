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
 *     npm run do -- mutants --room <room>    those that tests of a room or a capability must notice
 *     npm run do -- mutants --gate           those that stand for a promise and a kind (test/gate/promises.ts), right after
 *                                            all tests were seen to pass
 *     npm run do -- mutants --carry [<word> …]
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gateBugs } from '../../test/gate/gate-bugs.ts';
import { carryMutants } from './carry-mutants.ts';
import { type Mutant, readMutants, roomOf } from './mutant.ts';
import { describeResults, runMutants } from './run-mutants.ts';

const root = join(import.meta.dirname, '../..');

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    carry: { type: 'boolean', default: false },
    gate: { type: 'boolean', default: false },
    room: { type: 'string' },
  },
});

function isChosen(mutant: Mutant): boolean {
  if (values.gate) return gateBugs.has(mutant.name);
  if (values.room !== undefined && roomOf(mutant) !== values.room) return false;
  return positionals.length === 0 || positionals.some((word) => mutant.name.includes(word));
}

const mutants = (await readMutants(root)).filter(isChosen);
if (mutants.length === 0) {
  process.stdout.write('No planted bug in test/mutants was chosen\n');
  process.exitCode = 1;
} else if (values.carry) {
  for (const line of await carryMutants(root, mutants)) process.stdout.write(`${line}\n`);
} else {
  const results = await runMutants(mutants, { root, atOnce: 2, arePassing: values.gate });
  process.stdout.write(describeResults(results));
  process.exitCode = results.every(({ verdict }) => verdict === 'caught') ? 0 : 1;
}
