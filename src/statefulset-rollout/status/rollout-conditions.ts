import type { JsonObject } from '#base/json.ts';
import type { Instant } from '#base/units.ts';
import { nextConditions, type WantedCondition } from '#kubernetes/custom-resource/conditions.ts';
import { arrayAt, objectsIn } from '#statefulset/parse-fields.ts';
import type { SlackHealth } from '../notification/slack-reports.ts';
import type { RolloutView } from '../parse-resource.ts';
import { parallelismOf } from '../plan/plan-budget.ts';
import type { RolloutPlan } from '../plan/plan-decision.ts';
import { whyNotPinned } from '../plan/plan-pin-switch.ts';
import { isPinned } from '../plan/plan-pinned-set.ts';
import { isLeaked, namesOf, type Place } from '../plan/plan-places.ts';
import { isTerminal } from '../progress.ts';
import type { RolledSet, RolloutSnapshot } from '../snapshot.ts';
import { discoveryCondition } from './discovery-status.ts';

/** What conditions are made of. */
export interface ConditionParts {
  readonly rollout: RolloutView;
  readonly snapshot: RolloutSnapshot;
  readonly plan: RolloutPlan;
  readonly places: readonly Place[];
  /** How Slack takes messages, as far as this process has sent some. */
  readonly slack?: SlackHealth | undefined;
}

type Wanted = Record<string, WantedCondition>;

/** Returns the conditions as they are to be; those of others stay. */
export function rolloutConditions(parts: ConditionParts, now: Instant): readonly JsonObject[] {
  const { rollout } = parts;
  const wanted: Wanted = {
    ...overall(parts),
    ...budget(parts),
    ...limits(parts),
    ...leak(parts),
    ...callback(parts),
    ...notifications(parts),
    ...discoveryCondition(parts.snapshot),
  };
  return nextConditions(rollout.writtenStatus, wanted, { generation: rollout.generation, now });
}

function overall({ plan }: ConditionParts): Wanted {
  const { progress, because = { reason: 'RolloutStarted', message: '' } } = plan;
  const isDone = progress.phase === 'RolloutDone' && because.reason !== 'SetNotFound';
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

/** Returns the condition of limits: pods that are made one after the other stay away for long where several go at once. */
function limits({ snapshot }: ConditionParts): Wanted {
  const isOrdered = snapshot.target?.set.spec.isOrdered === true;
  const because = isOrdered
    ? {
        reason: 'OrderedReady',
        message:
          'podManagementPolicy OrderedReady recreates pods one after the other; Parallel is faster',
      }
    : { reason: 'Parallel', message: 'pods are recreated in parallel' };
  return snapshot.target === undefined
    ? {}
    : { ParallelismLimited: { status: isOrdered ? 'True' : 'False', because } };
}

/** Returns the condition of notifications; what was stored by another process stays. */
function notifications({ slack }: ConditionParts): Wanted {
  if (slack === undefined) return {};
  if (slack.kind === 'healthy') {
    const because = { reason: 'MessagesSent', message: 'Slack takes the messages' };
    return { NotificationsHealthy: { status: 'True', because } };
  }
  const because = { reason: 'MessagesRefused', message: slack.error };
  return { NotificationsHealthy: { status: 'False', because } };
}

/** Returns whether the receiver was notified, from the first attempt on. */
function callback({ snapshot, plan }: ConditionParts): Wanted {
  const { spec } = snapshot.resource;
  const { deliveredStage, callback: last } = plan.progress;
  if (spec.kind === 'invalid' || spec.value.callback === undefined) return {};
  const { stageId } = spec.value.callback;
  if (deliveredStage === stageId) {
    const because = { reason: 'CallbackDelivered', message: `stage ${stageId} was called back` };
    return { CallbackDelivered: { status: 'True', because } };
  }
  if (last.stageId !== stageId || last.code === '') return {};
  const because = { reason: last.code, message: last.message };
  return { CallbackDelivered: { status: 'False', because } };
}

function leak({ snapshot, plan, places }: ConditionParts): Wanted {
  const { target } = snapshot;
  if (target === undefined) return {};
  const leaked = places.filter(isLeaked);
  const status = leaked.length === 0 ? 'False' : 'True';
  const cause = whyUnpinned({ snapshot, plan, places });
  if (cause !== undefined) return { VersionLeak: { status, because: cause } };
  if (leaked.length === 0) {
    return { VersionLeak: { status, because: noLeak(plan, target) } };
  }
  const isFull = places.every(({ pod, isStale }) => pod !== undefined && !isStale);
  const message = `${namesOf(leaked)} came back on the new version before the rollout reached them`;
  const because = { reason: isFull ? 'FullyLeaked' : 'PodsLeaked', message };
  return { VersionLeak: { status, because } };
}

function noLeak({ progress }: RolloutPlan, { set }: RolledSet): WantedCondition['because'] {
  if (!isPinned(progress, set)) {
    return { reason: 'NoLeak', message: 'every new pod was let go by the rollout' };
  }
  const message = `the ${set.spec.partition} lowest pods come back on ${set.status.currentRevision} when they are lost`;
  return { reason: 'Pinned', message };
}

/** Returns why pods are not pinned that are to be; undefined where they are, where that is not wanted, or is a matter of time. */
function whyUnpinned({
  snapshot,
  plan,
  places,
}: Pick<ConditionParts, 'snapshot' | 'plan' | 'places'>): WantedCondition['because'] | undefined {
  const { resource, target } = snapshot;
  const { spec } = resource;
  if (spec.kind === 'invalid' || spec.value.leakPolicy !== 'Pin') return undefined;
  if (target === undefined || isPinned(plan.progress, target.set)) return undefined;
  const why = whyNotPinned(snapshot, places);
  const isForNow = !isTerminal(plan.progress.phase) && !places.some(({ isStale }) => isStale);
  if (why === undefined || (isForNow && snapshot.pinSupport.kind === 'supported')) return undefined;
  return { reason: 'PinUnavailable', message: why };
}

/** Returns why pods cannot be pinned, where that is new against what is in `before`; undefined where it is not. */
export function newlyUnpinned(
  parts: Pick<ConditionParts, 'snapshot' | 'plan' | 'places'>,
  before: JsonObject,
): WantedCondition['because'] | undefined {
  const cause = whyUnpinned(parts);
  const isTold = objectsIn(arrayAt(before, 'conditions')).some(
    (each) => each['type'] === 'VersionLeak' && each['reason'] === cause?.reason,
  );
  return isTold ? undefined : cause;
}
