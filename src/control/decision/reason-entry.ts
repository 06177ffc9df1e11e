/** What a reason is: one row of the table of a capability, read by all that reports it, and by `docs/reasons.md`. */
export interface ReasonEntry {
  /**
   * `act`: something is done. `hold`: nothing is done, and why; also a label of the blocked gauge. `warn`: input
   * that cannot be used as it is, while work goes on.
   */
  readonly kind: 'act' | 'hold' | 'warn';
  readonly urgency: Urgency;
  /** When the reason is true; a checker evaluates it against the cluster's state (LIVE-2). */
  readonly isTrueWhen: string;
  /** What a person can do about it. */
  readonly remedy: string;
}

/**
 * How much attention something that is waited for deserves. `alarming`: a user has to look, so that the Event and the log
 * line are warnings. `ordinary`: it is a part of any rollout. `secondary`: it only follows from another hold, which says better what
 * is waited for. `wished`: a user asked for it, so that telling it once is enough.
 */
type Urgency = 'alarming' | 'ordinary' | 'secondary' | 'wished';

/** Returns the row of what is done; said of a wait, too, it is a part of any rollout. */
export function act(isTrueWhen: string): ReasonEntry {
  const remedy = 'Nothing; this is the work itself.';
  return { kind: 'act', urgency: 'ordinary', isTrueWhen, remedy };
}

/** Returns the row of a hold that is a part of any rollout. */
export function hold(isTrueWhen: string, remedy: string): ReasonEntry {
  return { kind: 'hold', urgency: 'ordinary', isTrueWhen, remedy };
}

/** Returns the row of a hold that a user has to look into. */
export function alarm(isTrueWhen: string, remedy: string): ReasonEntry {
  return { kind: 'hold', urgency: 'alarming', isTrueWhen, remedy };
}

/** Returns the row of a hold that only follows from another one. */
export function secondary(isTrueWhen: string, remedy: string): ReasonEntry {
  return { kind: 'hold', urgency: 'secondary', isTrueWhen, remedy };
}

/** Returns the row of a hold that a user asked for. */
export function wish(isTrueWhen: string, remedy: string): ReasonEntry {
  return { kind: 'hold', urgency: 'wished', isTrueWhen, remedy };
}

/** Returns the row of a warning. */
export function warn(isTrueWhen: string, remedy: string): ReasonEntry {
  return { kind: 'warn', urgency: 'alarming', isTrueWhen, remedy };
}
