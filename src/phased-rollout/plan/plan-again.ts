import { isRollback, type Step } from '../status.ts';
import { isToBeChecked, resumedAt } from './made-again.ts';
import { goesOn, nameAt, type Outcome, type Pass, setPartition } from './plan-outcome.ts';

/**
 * Returns what a set that was made again over its pods in the middle of a rollout needs, so that this goes on at `step`, as the status
 * has it; undefined where that is so already, and for every other set.
 */
export function planAgain(pass: Pass, step: Step | undefined): Outcome | undefined {
  const { target, snapshot } = pass;
  const { set } = target;
  if (!isToBeChecked(target, snapshot.resource.status)) return undefined;
  if (step !== undefined && isRollback(step.status)) return paused(pass, step);
  const to = resumedAt(target, step);
  if (to === set.spec.partition || set.status.observedGeneration < set.generation) return undefined;
  const message = `Pods of ${set.name} from ${nameAt(set, to)} on run ${set.status.updateRevision} already`;
  return { decisions: [setPartition(pass, to, { reason: 'RolloutResumed', message })] };
}

/**
 * Returns the pause of an update that has failed, and whose set was made again with it: a set that is new knows of no revision from
 * before, to which its pods could go back.
 */
function paused(pass: Pass, step: Step): Outcome {
  const { set } = pass.target;
  const message =
    `The update to ${set.status.updateRevision} has failed, and ${set.name} was made again with it: ` +
    'no pod goes back to another revision, as the set knows of none';
  const because = { reason: 'CheckFailed', message } as const;
  const conditions = { Updated: { status: 'False', because } } as const;
  const next = { ...step, status: 'Paused', partition: set.spec.partition } as const;
  return goesOn(pass, { ...pass.snapshot.resource.status, step: next }, { conditions });
}
