import { assertNever } from '#base/assert-never.ts';
import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Millis } from '#base/units.ts';
import type { DrivePorts } from '../drive-ports.ts';
import type { PhaseDriver, PhaseEnd } from './phase-driver.ts';

/** The phases of a run, and how it is ended. */
export interface PhaseRun {
  readonly driver: PhaseDriver;
  readonly percents: readonly number[];
  /** Whether nothing is asked between two phases. */
  readonly isConfirmed: boolean;
  /** How long the whole run may take; undefined: as long as it takes. */
  readonly timeout: Millis | undefined;
  /** What a person who stops here does to go on with the phase of `percent`, in whole lines. */
  readonly howToGoOn: (percent: number) => string;
}

class TimedOutError extends Error {
  override readonly name = 'TimedOutError';
}

/**
 * Carries out phase after phase (H-20).
 *
 * @returns the exit code: 0 all of them are done, 1 it ended before that and the rollout goes on or waits, 4 one has failed
 */
export async function runPhases(run: PhaseRun, ports: DrivePorts): Promise<0 | 1 | 4> {
  const interruption = ports.interruption();
  const limit = limited(ports.clock, run.timeout);
  const signal = AbortSignal.any([interruption.signal, limit.signal]);
  const at = { percent: run.percents[0] ?? 0 };
  try {
    for (const [index, percent] of run.percents.entries()) {
      at.percent = percent;
      if (index > 0 && !(await isToGoOn(run, index, { ports, signal }))) {
        ports.err(`Stopped before ${percent}%\n${run.howToGoOn(percent)}`);
        return 1;
      }
      const code = codeOf(await run.driver.carryOut(index, signal), percent, ports);
      if (code !== 0) return code;
    }
    return 0;
  } catch (error) {
    if (!signal.aborted) throw error;
    const isLate = errorOf(signal.reason) instanceof TimedOutError;
    const why = isLate ? 'The time is over' : 'Interrupted';
    ports.err(`${why}: no longer waiting for ${at.percent}%\n${run.howToGoOn(at.percent)}`);
    return 1;
  } finally {
    limit.end();
    interruption.release();
  }
}

async function isToGoOn(
  { isConfirmed, percents }: PhaseRun,
  index: number,
  { ports, signal }: { readonly ports: DrivePorts; readonly signal: AbortSignal },
): Promise<boolean> {
  signal.throwIfAborted();
  if (isConfirmed) return true;
  const question = `${percents[index - 1]}% is done. Go on with ${percents[index]}%?`;
  return (await ports.confirm?.(question, signal)) ?? false;
}

function codeOf(end: PhaseEnd, percent: number, { err }: DrivePorts): 0 | 1 | 4 {
  switch (end.kind) {
    case 'done':
      return 0;
    case 'failed':
      err(`The rollout has failed at ${percent}%: ${end.reason}\n`);
      return 4;
    case 'lost':
      err(`Cannot wait for ${percent}% any more: ${end.why}\n`);
      return 1;
    default:
      return assertNever(end);
  }
}

function limited(
  clock: Clock,
  timeout: Millis | undefined,
): { readonly signal: AbortSignal; readonly end: () => void } {
  const controller = new AbortController();
  if (timeout === undefined) return { signal: controller.signal, end: () => undefined };
  const fire = (): void => controller.abort(new TimedOutError('the time is over'));
  const timer = clock.timer(timeout, fire, { owner: 'bedrock run', background: true });
  return { signal: controller.signal, end: () => timer.cancel() };
}
