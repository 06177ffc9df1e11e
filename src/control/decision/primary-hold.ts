import type { Decision } from './decision.ts';
import { type Reason, reasonCatalogue } from './reasons.ts';

/** A decision to do nothing about a set. */
export type Hold = Extract<Decision, { kind: 'hold' }>;

/**
 * Returns the one hold that says best what a group waits for: the first that does not merely follow from another; undefined
 * when nothing holds it.
 */
export function primaryHold(decisions: readonly Decision[]): Hold | undefined {
  const holds = decisions.filter((decision) => decision.kind === 'hold');
  return holds.find((hold) => !isSecondary(hold.because.reason)) ?? holds[0];
}

/** Reports whether `reason` only follows from another one, or from a person's wish. */
function isSecondary(reason: Reason): boolean {
  const { urgency } = reasonCatalogue[reason];
  return urgency === 'secondary' || urgency === 'wished';
}
