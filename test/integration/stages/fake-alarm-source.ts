import type { Instant } from '#base/units.ts';
import type { Alarm, AlarmSource, AlarmsRead } from '#check/cloudwatch/alarm.ts';

/** CloudWatch on the clock of a test: every alarm is in one state. */
export class FakeAlarmSource implements AlarmSource {
  /** The names of each call. */
  readonly calls: (readonly string[])[] = [];
  /** What was answered, and when. */
  readonly answers: { readonly at: Instant; readonly state: string }[] = [];
  state = 'OK';
  /** What is answered in place of a state. */
  failure: Extract<AlarmsRead, { kind: 'error' }> | undefined;
  readonly #now: () => Instant;

  constructor(now: () => Instant) {
    this.#now = now;
  }

  describe(names: readonly string[]): Promise<AlarmsRead> {
    this.calls.push(names);
    const { state } = this;
    this.answers.push({ at: this.#now(), state });
    const alarms = names.map((name): Alarm => ({ name, state }));
    return Promise.resolve(this.failure ?? { kind: 'alarms', region: 'eu-west-1', alarms });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
