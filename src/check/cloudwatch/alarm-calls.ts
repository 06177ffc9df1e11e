import type { Clock } from '#base/clock.ts';
import { type Monotonic, minutes } from '#base/units.ts';
import type { Finding } from '../answer.ts';
import type { AlarmsRead } from './alarm.ts';
import { judgeAlarm } from './plan-alarm.ts';

/** Asks for alarms in one call; never rejects. */
export type DescribeNames = (names: readonly string[]) => Promise<AlarmsRead>;

/** Alarms that one call of CloudWatch is for. */
const mostInCall = 100;
/** So long a name that was refused alone is kept from the calls of others. */
const apartFor = minutes(10);

/**
 * Which alarms are called for together. CloudWatch refuses a call as a whole because of one name in it, which any client may have
 * written: those of a call that was refused are asked for one by one, and one that is refused alone stays alone for a while.
 */
export class AlarmCalls {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** When each name was last refused alone. */
  readonly #refused = new Map<string, Monotonic>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Asks for all of `names` at once, and judges what is answered: at most two calls for each. */
  async findings(
    names: readonly string[],
    describe: DescribeNames,
  ): Promise<ReadonlyMap<string, Finding>> {
    this.#forgetOld();
    const apart = names.filter((name) => this.#refused.has(name));
    const together = names.filter((name) => !this.#refused.has(name));
    const calls = [...inCalls(together), ...apart.map((name) => [name])];
    const found = await Promise.all(calls.map((each) => this.#call(each, describe)));
    return new Map(found.flat());
  }

  async #call(
    names: readonly string[],
    describe: DescribeNames,
  ): Promise<readonly (readonly [string, Finding])[]> {
    const read = await describe(names);
    const isRefused = read.kind === 'error' && read.mayBeOfOneName === true;
    if (isRefused && names.length > 1) {
      const found = await Promise.all(names.map((name) => this.#call([name], describe)));
      return found.flat();
    }
    if (isRefused) for (const name of names) this.#refused.set(name, this.#clock.monotonic());
    return names.map((name) => [name, judgeAlarm(name, read)] as const);
  }

  #forgetOld(): void {
    const now = this.#clock.monotonic();
    for (const [name, at] of this.#refused) {
      if (now - at >= apartFor) this.#refused.delete(name);
    }
  }
}

function inCalls(names: readonly string[]): readonly (readonly string[])[] {
  return Array.from({ length: Math.ceil(names.length / mostInCall) }, (_, at) =>
    names.slice(at * mostInCall, (at + 1) * mostInCall),
  );
}
