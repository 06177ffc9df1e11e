import type { Alarm, AlarmSource, AlarmsRead } from '#check/cloudwatch/alarm.ts';

/** Alarms in memory, which answer at once unless they are set to wait. */
export class FakeAlarms implements AlarmSource {
  /** States by name. */
  readonly states = new Map<string, string>();
  /** The names of each call. */
  readonly calls: (readonly string[])[] = [];
  /** What all calls are answered with, in place of the states. */
  failure: Extract<AlarmsRead, { kind: 'error' }> | undefined;
  /** Names because of which a call is refused as a whole. */
  readonly refused = new Set<string>();
  /** Whether calls wait until they are given up. */
  isSilent = false;
  isClosed = false;

  async describe(names: readonly string[], signal: AbortSignal): Promise<AlarmsRead> {
    this.calls.push(names);
    if (this.isSilent) {
      await new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      return { kind: 'error', reason: 'GivenUp', message: 'given up' };
    }
    if (this.failure !== undefined) return this.failure;
    const refused = names.find((name) => this.refused.has(name));
    if (refused !== undefined) {
      const message = `${refused} is refused`;
      return { kind: 'error', reason: 'Refused', message, mayBeOfOneName: true };
    }
    const alarms = names.flatMap((name): readonly Alarm[] => {
      const state = this.states.get(name);
      return state === undefined ? [] : [{ name, state }];
    });
    return { kind: 'alarms', region: 'eu-west-1', alarms };
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }
}
