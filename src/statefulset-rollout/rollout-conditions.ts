import type { JsonObject } from '#base/json.ts';
import type { Instant } from '#base/units.ts';
import { nextConditions, type WantedCondition } from '#kubernetes/conditions.ts';
import { discoveryCondition } from './discovery-status.ts';
import type { RolloutView } from './parse-resource.ts';
import { parallelismOf } from './plan-budget.ts';
import type { RolloutPlan } from './plan-decision.ts';
import { isLeaked, type Place } from './plan-places.ts';
import { namesOf } from './plan-rotation.ts';
import { isTerminal } from './progress.ts';
import type { RolloutSnapshot } from './snapshot.ts';

/** What conditions are made of. */
export interface ConditionParts {
  readonly rollout: RolloutView;
  readonly snapshot: RolloutSnapshot;
  readonly plan: RolloutPlan;
  readonly places: readonly Place[];
}

type Wanted = Record<string, WantedCondition>;

/** Returns the conditions as they are to stand; those of others stay. */
export function rolloutConditions(parts: ConditionParts, now: Instant): readonly JsonObject[] {
  const { rollout } = parts;
  const wanted: Wanted = {
    ...overall(parts),
    ...budget(parts),
    ...limits(parts),
    ...leak(parts),
    ...discoveryCondition(parts.snapshot),
  };
  return nextConditions(rollout.writtenStatus, wanted, { generation: rollout.generation, now });
}

function overall({ plan }: ConditionParts): Wanted {
  const { progress, because = { reason: 'RolloutStarted', message: '' } } = plan;
  const isDone = progress.phase === 'RolloutDone';
  const isMoving = !isTerminal(progress.phase) && progress.phase !== 'Paused';
  return {
    Ready: { status: isDone ? 'True' : 'False', because },
    Progressing: { status: isMoving ? 'True' : 'False', because },
  };
}

function budget({ snapshot }: ConditionParts): Wanted {
  const { spec } = snapshot.resource;
  if (spec.kind === 'invalid' || snapshot.target === undefined) return {};
  const { replicas } = snapshot.target.set.spec;
  const found = parallelismOf(snapshot.budgets, replicas, spec.value.parallelWithoutBudget);
  if (found.kind === 'budget') {
    const message = `${found.name} lets ${found.most} of ${replicas} pods be away`;
    return { BudgetAvailable: { status: 'True', because: { reason: 'OneBudget', message } } };
  }
  const isNone = found.kind === 'no-budget';
  const message = isNone
    ? `no PodDisruptionBudget selects the pods: ${found.most} at a time`
    : `${found.names.join(' and ')} select the same pods, and the API server evicts none of those`;
  const reason = isNone ? 'NoBudget' : 'MultipleBudgets';
  return { BudgetAvailable: { status: 'False', because: { reason, message } } };
}

/** Pods that are made one after the other stay away for long where several go at once. */
function limits({ snapshot }: ConditionParts): Wanted {
  const isOrdered = snapshot.target?.set.spec.isOrdered === true;
  const because = isOrdered
    ? {
        reason: 'OrderedReady',
        message:
          'podManagementPolicy OrderedReady makes pods anew one after the other; Parallel is faster',
      }
    : { reason: 'Parallel', message: 'pods are made anew beside one another' };
  return snapshot.target === undefined
    ? {}
    : { ParallelismLimited: { status: isOrdered ? 'True' : 'False', because } };
}

function leak({ snapshot, places }: ConditionParts): Wanted {
  const leaked = places.filter(isLeaked);
  const isFull =
    places.length > 0 && places.every(({ pod, isStale }) => pod !== undefined && !isStale);
  if (snapshot.target === undefined) return {};
  if (leaked.length === 0) {
    const because = { reason: 'NoLeak', message: 'every new pod was let go by the rollout' };
    return { VersionLeak: { status: 'False', because } };
  }
  const message = `${namesOf(leaked)} came back on the new version before the rollout reached them`;
  const because = { reason: isFull ? 'FullyLeaked' : 'PodsLeaked', message };
  return { VersionLeak: { status: 'True', because } };
}
