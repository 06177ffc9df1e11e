import { errorOf } from '#base/error-of.ts';
import type { Accepted, Outcome } from '#config/outcome.ts';

/**
 * Runs what `outcome` asks for.
 *
 * @returns the exit code: 0 when `serve` is done, 1 when it fails, which is printed; else that of `outcome`
 */
export async function exitCodeOf<C>(
  outcome: Outcome<C>,
  serve: (accepted: Accepted<C>) => Promise<void>,
): Promise<number> {
  if (outcome.kind === 'exit') {
    process.stderr.write(outcome.stderr);
    return outcome.code;
  }
  try {
    await serve(outcome);
    return 0;
  } catch (error) {
    process.stderr.write(`${errorOf(error).message}\n`);
    return 1;
  }
}
