import type { Because } from '#base/because.ts';
import { podsText } from '#base/text/pods-text.ts';
import type { Instant } from '#base/units.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import type { RolloutProgress } from '../progress.ts';
import type { RolloutSnapshot } from '../snapshot.ts';
import { otherScaler, scaledText } from '../statefulset/scaled-by-other.ts';
import { parallelismOf } from './plan-budget.ts';
import type { RolloutPlan } from './plan-decision.ts';
import { namesOf, type Place, placesAfter } from './plan-places.ts';

/** What is reported besides what a plan does or waits for. */
export type NoticeReason =
  | 'NoBudget'
  | 'OrderedReadyLimitsParallelism'
  | 'StatefulSetAdopted'
  | 'AdoptedDuringRollingUpdate'
  | 'RollbackDetected'
  | 'PartialRollback'
  | 'NewVersionStaged'
  | 'StalePodsLeft'
  | 'ScaledByOther'
  | 'VersionLeak';

export type Notice = Because<NoticeReason>;

/** What notices are made of. */
export interface NoticeParts {
  readonly snapshot: RolloutSnapshot;
  readonly plan: RolloutPlan;
  readonly now: Instant;
  /** As it is in the status that the plan's replaces. */
  readonly before: RolloutProgress;
  /** Names of pods that were reported as leaked. */
  readonly leakedBefore: ReadonlySet<string>;
}

/** Returns what is to be reported once the progress of the plan is stored. */
export function noticesOfProgress(parts: NoticeParts): readonly Notice[] {
  const places = placesAfter(parts.snapshot, parts.plan.progress, parts.now);
  return [
    ...ofEviction(parts),
    ...ofRollback(parts, places),
    ...ofStaging(parts, places),
    ...ofLeak(parts, places),
  ];
}

/** Returns what keeps pods from going faster, or hastier, than people may think. */
function ofEviction({ snapshot, plan }: NoticeParts): readonly Notice[] {
  const { budgets, target, resource } = snapshot;
  const { spec } = resource;
  if (plan.action?.kind !== 'evict' || target === undefined || spec.kind === 'invalid') return [];
  const { replicas, isOrdered } = target.set.spec;
  const { most, kind } = {
    most: 0,
    ...parallelismOf(budgets, replicas, spec.value.parallelWithoutBudget),
  };
  const without = `no PodDisruptionBudget selects the pods of ${target.set.name}: ${most} at a time`;
  const ordered = `podManagementPolicy OrderedReady of ${target.set.name} recreates pods one after the other; Parallel is faster`;
  return [
    ...(kind === 'no-budget' ? [notice('NoBudget', without)] : []),
    ...(isOrdered ? [notice('OrderedReadyLimitsParallelism', ordered)] : []),
  ];
}

/** Returns the notices of a rollback: the version of the set is seen to be a former one. */
function ofRollback(
  { snapshot, plan, before }: NoticeParts,
  places: readonly Place[],
): readonly Notice[] {
  const { isRollback, targetRevision } = plan.progress;
  if (!isRollback || targetRevision === before.targetRevision) return [];
  const { spec } = snapshot.resource;
  const percent = spec.kind === 'valid' ? spec.value.percent : 100;
  const left = places.filter(({ isTarget, isStale }) => isStale && !isTarget);
  const message = `${targetRevision} is older than ${before.targetRevision}, which is given up`;
  const partial = `${namesOf(left)} keep the version that is given up at ${percent} percent`;
  return [
    notice('RollbackDetected', message),
    ...(left.length > 0 ? [notice('PartialRollback', partial)] : []),
  ];
}

/** Returns the notices of a version that no pod runs on purpose. */
function ofStaging(
  { snapshot, plan, before }: NoticeParts,
  places: readonly Place[],
): readonly Notice[] {
  const { spec } = snapshot.resource;
  if (spec.kind === 'invalid' || spec.value.leakPolicy !== 'Report') return [];
  const isEnd = before.outcome === undefined && plan.progress.outcome?.result === 'Done';
  const old = places.filter(({ isStale }) => isStale);
  if (spec.value.percent > 0 || !isEnd || old.length === 0) return [];
  const message = `the new version is written, and ${podsText(old.length)} still run the old one: whichever is lost comes back new`;
  return [notice('NewVersionStaged', message)];
}

function ofLeak({ leakedBefore }: NoticeParts, places: readonly Place[]): readonly Notice[] {
  const news = places.filter(({ isLeaked, name }) => isLeaked && !leakedBefore.has(name));
  if (news.length === 0) return [];
  const all = places.filter(({ isLeaked }) => isLeaked).length;
  const message = `${namesOf(news)} came back on the new version before the rollout reached them; ${podsText(all)} in all`;
  return [notice('VersionLeak', message)];
}

/** Returns what is to be reported once the set is written as the plan says. */
export function noticesOfWrite({ snapshot, plan, now }: NoticeParts): readonly Notice[] {
  const { target } = snapshot;
  if (target === undefined) return [];
  switch (plan.action?.kind) {
    case 'update-set':
      return target.isOurs ? [] : ofAdoption(target.set);
    case 'scale-set':
      return ofScaleBack(snapshot, target.set, plan.action.scale.to);
    case 'release-set':
      return ofRelease(target.set, placesAfter(snapshot, plan.progress, now));
    default:
      return [];
  }
}

function ofAdoption({ name, spec, status }: StatefulSetView): readonly Notice[] {
  const { currentRevision, updateRevision } = status;
  const isMidway = spec.updateStrategy === 'RollingUpdate' && currentRevision !== updateRevision;
  const message = `${name} was there before, and stays when this resource goes`;
  const midway = `${name} was going from ${currentRevision} to ${updateRevision} by itself when it was adopted`;
  return [
    notice('StatefulSetAdopted', message),
    ...(isMidway ? [notice('AdoptedDuringRollingUpdate', midway)] : []),
  ];
}

function ofRelease({ name }: StatefulSetView, places: readonly Place[]): readonly Notice[] {
  const stale = places.filter(({ isStale }) => isStale);
  if (stale.length === 0) return [];
  const message = `${namesOf(stale)} of ${name} run an old version; its strategy stays OnDelete, so no controller replaces them`;
  return [notice('StalePodsLeft', message)];
}

/** Returns the notice that the number of another client was not kept. */
function ofScaleBack(
  snapshot: RolloutSnapshot,
  set: StatefulSetView,
  to: number,
): readonly Notice[] {
  const by = otherScaler(snapshot, set);
  if (by === undefined) return [];
  const advice =
    'scale by spec.statefulset.spec.replicas, or have others scale it with spec.replicasOwnership: External';
  return [
    notice('ScaledByOther', `${scaledText(set, to, by)}, which has been written again: ${advice}`),
  ];
}

function notice(reason: NoticeReason, message: string): Notice {
  return { reason, message };
}
