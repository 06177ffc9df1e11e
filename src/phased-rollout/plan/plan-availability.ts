import { isUnavailable } from '#statefulset/slot.ts';
import type { Step } from '../status.ts';
import { type Outcome, type Pass, slotsIn } from './plan-outcome.ts';
import { beginRollback, isRollbackWanted } from './plan-rollback.ts';
import { awaitingPods, planStuckPod, stuckOnUpdate } from './plan-stuck.ts';

/**
 * Returns what is done while not all pods are available, each by what it says itself and not by a count that may be old;
 * undefined where all are. No pod goes while another is away: not before the analysis, and not after it either.
 */
export function planUnavailable(pass: Pass, step: Step): Outcome | undefined {
  const slots = slotsIn(pass);
  const missing = slots.filter(isUnavailable);
  if (missing.length === 0) return undefined;
  const failed = isRollbackWanted(pass) ? stuckOnUpdate(pass, slots) : undefined;
  if (failed !== undefined) return beginRollback(pass, step, failed);
  return planStuckPod(pass, slots) ?? awaitingPods(pass, missing);
}
