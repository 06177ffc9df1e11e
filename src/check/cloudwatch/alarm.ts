import type { Instant } from '#base/units.ts';
import type { CheckReason } from '../answer.ts';

/** One alarm as its server reports it. */
export interface Alarm {
  readonly name: string;
  /** As the server wrote it: `OK`, `ALARM`, `INSUFFICIENT_DATA`, or what is not known yet. */
  readonly state: string;
  /** Why it is in that state, for people. */
  readonly reason?: string;
  /** Since when it is in that state. */
  readonly since?: Instant;
}

/** Why nothing is known of alarms. */
export type NoAlarms = Extract<
  CheckReason,
  | 'BadConfiguration'
  | 'NoCredentials'
  | 'Unreachable'
  | 'TimedOut'
  | 'Throttled'
  | 'Refused'
  | 'TooLong'
  | 'Unreadable'
  | 'GivenUp'
>;

/** What a server reports about the alarms that it was asked for, before they are judged. */
export type AlarmsRead =
  | {
      readonly kind: 'alarms';
      /** Where was looked, such as `eu-west-1`. */
      readonly region: string;
      /** Those that are there, in any order; two of one name are two. */
      readonly alarms: readonly Alarm[];
    }
  | {
      readonly kind: 'error';
      readonly reason: NoAlarms;
      /** A sentence that names who was asked, and why there is no answer. */
      readonly message: string;
      /** Whether one of the names may be why, so that a question without it may be answered. */
      readonly mayBeOfOneName?: true;
    };

/** Who knows alarms. */
export interface AlarmSource {
  /** Asks for all of `names`, 100 at most, at once. Never rejects, and answers soon after `signal` aborts. */
  describe(names: readonly string[], signal: AbortSignal): Promise<AlarmsRead>;
  /** Ends all connections. */
  close(): Promise<void>;
}
