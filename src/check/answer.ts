import type { Because } from '#base/because.ts';
import type { Monotonic } from '#base/units.ts';

/** What an answer says of a gate. Unknown is no answer to the question: an error, or what cannot be judged. */
export type CheckVerdict = 'passes' | 'fails' | 'unknown';

/** Why there is nothing to judge. */
export type NoReading =
  /** The question itself cannot be asked: its URL, its credentials, its certificates. */
  | 'BadConfiguration'
  /** The server cannot be reached, or the connection broke. */
  | 'Unreachable'
  /** There was no whole answer in time. */
  | 'TimedOut'
  /** The server refused: a status of 400 or more. */
  | 'Refused'
  /** The answer is longer than is read. */
  | 'TooLong'
  /** The answer is not what such a server answers. */
  | 'Unreadable'
  /** Redirects lead nowhere. */
  | 'Misdirected'
  /** The question was given up. */
  | 'GivenUp';

/** Why an answer is what it is. */
export type CheckReason =
  | NoReading
  /** What came back is as wanted. */
  | 'AsWanted'
  /** The query found nothing. */
  | 'NoData'
  /** A value is outside of its bounds. */
  | 'OutOfBounds'
  /** A value is too far from that of the baseline query. */
  | 'TooFarFromBaseline'
  /** The baseline query gave nothing to compare with. */
  | 'NoBaseline'
  /** A value is NaN, or no number at all. */
  | 'NotANumber'
  /** There are several values where one was expected. */
  | 'SeveralValues'
  /** The answer is of a type that cannot be judged. */
  | 'WrongType'
  /** The server warned that its answer may not be whole. */
  | 'Warned'
  /** The alarm rings. */
  | 'InAlarm'
  /** The alarm has too little data to judge. */
  | 'InsufficientData'
  /** There is no alarm of that name. */
  | 'NoSuchAlarm'
  /** The server was asked too often. */
  | 'Throttled'
  /** There are no credentials to ask with, or they have expired. */
  | 'NoCredentials';

/** What one answer, or several together, come to. */
export interface Finding {
  readonly verdict: CheckVerdict;
  /** The values seen, as the server wrote them; absent where there were none. */
  readonly value?: string;
  /** What the server warned of. */
  readonly warnings: readonly string[];
  readonly because: Because<CheckReason>;
}

/** What is asked, and for what; both are compared for equality only. */
export interface QuestionKey {
  /** Names the state that waits for the answers: object, revision, step, and when that began. */
  readonly subject: string;
  /** Names where is asked and what, such as `questionId` of a Prometheus query. */
  readonly id: string;
}

/** A finding with what it was asked for, and when; it never leaves the process that asked. */
export interface CheckAnswer extends Finding {
  readonly question: QuestionKey;
  /** When the question was asked, or had its turn: an answer is as old as its question. */
  readonly askedAt: Monotonic;
}
