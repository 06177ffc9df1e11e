import { runInNewContext } from 'node:vm';

/**
 * Returns what `work` returns. It is interrupted after ten seconds, thousands of times what the tests ask of it: work that
 * grows faster than its input fails then, instead of standing still with all other tests.
 *
 * @throws when it was interrupted
 */
export function endingInTime<T>(work: () => T): T {
  let result: { readonly value: T } | undefined;
  const run = (): void => {
    result = { value: work() };
  };
  runInNewContext('run()', { run }, { timeout: 10_000 });
  if (result === undefined) throw new Error('The work has not run');
  return result.value;
}
