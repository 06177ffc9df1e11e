/**
 * The rollout of one set by percent, a StatefulsetRollout: pods are evicted within a budget until enough of them run the
 * target. The room owns that resource and the set that it describes; which receivers to notify is decided here, and sent by `notification/`.
 */
import { problemText } from '#base/parsed.ts';
import { type Instant, millis } from '#base/units.ts';
import { isAsked, planEnd } from './plan/plan-callback.ts';
import { unlessLate } from './plan/plan-deadline.ts';
import type { RolloutPlan } from './plan/plan-decision.ts';
import { planDeletion, planDisowning } from './plan/plan-deletion.ts';
import { withDiscovered } from './plan/plan-discovery.ts';
import { becauseEnded } from './plan/plan-ended.ts';
import { because, planOf, type RolloutPass, type Step } from './plan/plan-outcome.ts';
import { pinnedFrom, planPinAtRest } from './plan/plan-pin-switch.ts';
import { unpinnedIn } from './plan/plan-rolling.ts';
import { contestOf, planScale, planSet, tooLargeOf } from './plan/plan-set.ts';
import { isTerminal, noProgress, type RolloutProgress } from './progress.ts';
import type {
  RolledSet,
  RolloutSnapshot,
  SetComparison,
  WantedRollout,
  WantedScale,
} from './snapshot.ts';

/**
 * Returns what to do next about one StatefulsetRollout, and why not more: at most one thing that touches the set or its
 * pods, and where that leaves the rollout. Total and deterministic.
 */
export function planStatefulsetRollout(snapshot: RolloutSnapshot, now: Instant): RolloutPlan {
  const { resource, wanted } = snapshot;
  const { progress, spec } = resource;
  if (resource.isDeleting) return planOf(progress, planDeletion(snapshot, now));
  if (!resource.hasFinalizer) {
    const message = 'nothing is done to the set without it';
    const action = { kind: 'add-finalizer' } as const;
    const step = planOf(progress, {
      phase: 'Pending',
      because: because('FinalizerMissing', message),
      action,
    });
    return { ...step, progress };
  }
  if (spec.kind === 'invalid' || wanted === undefined) {
    const message = spec.kind === 'invalid' ? problemText(spec.problem) : 'the spec cannot be read';
    return planOf(progress, invalidSpec(progress, message, now));
  }
  const disowning = planDisowning(snapshot, spec.value);
  // Before all else: whoever deletes the resource does not wait for a rollout.
  if (disowning !== undefined) return { ...planOf(progress, disowning), progress };
  const known = withPastEviction(withEvictions(progress, snapshot), now);
  const seen = withDiscovered(known, snapshot.discovery);
  const pass: RolloutPass = { snapshot, spec: spec.value, progress: seen, now };
  if (wanted.key !== progress.key) {
    const first = begun(pass, wanted);
    return planOf(first, beginning(pass, first));
  }
  const step = planPass(pass);
  return planOf(progressIn(pass, step), step);
}

/** Returns the progress with what was accepted since the last step. */
function withEvictions(progress: RolloutProgress, { evictions }: RolloutSnapshot): RolloutProgress {
  const at = evictions?.acceptedAt;
  if (at === undefined || (progress.lastProgress ?? 0) >= at) return progress;
  return { ...progress, lastProgress: at, pausedSinceProgress: millis(0) };
}

/**
 * Returns the progress with no eviction ahead, where a clock that was set back leaves one: for all that is known it was just
 * now.
 */
function withPastEviction(progress: RolloutProgress, now: Instant): RolloutProgress {
  const { lastEviction } = progress;
  return lastEviction === undefined || lastEviction <= now
    ? progress
    : { ...progress, lastEviction: now };
}

function progressIn({ progress }: RolloutPass, { phase }: Step): RolloutProgress {
  return phase === 'Paused' || progress.pausedSince === undefined
    ? progress
    : { ...progress, pausedSince: undefined };
}

/** Holds a spec that cannot be read; once it can be, it begins a rollout, be it the one from before. */
function invalidSpec(
  { key, finishedAt, outcome }: RolloutProgress,
  message: string,
  now: Instant,
): Step {
  const isTold = key === '' && outcome?.message === message;
  return {
    phase: 'RolloutFailed',
    because: because('InvalidSpec', message),
    changes: {
      key: '',
      finishedAt: isTold ? finishedAt : now,
      outcome: { result: 'Failed', code: 'InvalidSpec', message },
    },
  };
}

/** Returns where a rollout stands that begins: pods that were let go on the same version need not go again. */
function begun(
  { progress, now }: RolloutPass,
  { key, templateHash }: WantedRollout,
): RolloutProgress {
  const { isCreator, isAdopted, isDeleted, lastEviction, batch } = progress;
  const { targetRevision, isRollback, partition } = progress;
  const isSameVersion = templateHash === progress.templateHash;
  const hasFailed = progress.outcome?.result === 'Failed';
  return {
    ...noProgress,
    key,
    templateHash,
    isCreator,
    isAdopted,
    isDeleted,
    lastEviction,
    batch,
    targetRevision,
    partition,
    isRollback: isSameVersion && isRollback,
    isWritten: isSameVersion && progress.isWritten,
    attempt: isSameVersion && hasFailed ? progress.attempt + 1 : 1,
    startedAt: now,
    lastProgress: now,
    rotated: isSameVersion ? progress.rotated : new Set(),
    percentDeployed: isSameVersion ? progress.percentDeployed : 0,
  };
}

function beginning({ spec, snapshot }: RolloutPass, { attempt }: RolloutProgress): Step {
  const again = attempt > 1 ? `, attempt ${attempt}` : '';
  const message = `${spec.percent} percent of ${spec.set.name}, generation ${snapshot.resource.generation}${again}`;
  return { phase: 'Pending', because: because('RolloutStarted', message) };
}

function planPass(pass: RolloutPass): Step {
  const { progress, spec } = pass;
  if (isTerminal(progress.phase)) return isAsked(pass) ? planEnd(pass) : planEnded(pass);
  if (progress.phase === 'CallingBack') return planEnd(pass);
  if (spec.isPauseRequested) return planPause(pass);
  if (progress.phase === 'Paused') return planResumption(pass);
  return unlessLate(pass, planSet(pass));
}

function planPause({ progress, now }: RolloutPass): Step {
  const since = progress.pausedSince ?? now;
  return {
    phase: 'Paused',
    because: because(
      'RolloutPaused',
      'pauseRequested is true; pods that have gone still come back',
    ),
    changes: { pausedSince: since },
  };
}

function planResumption({ progress, now }: RolloutPass): Step {
  const { pausedSince = now, pausedTime, pausedSinceProgress } = progress;
  const paused = Math.max(0, now - pausedSince);
  return {
    phase: 'UpdatingStatefulSet',
    because: because('RolloutResumed', `goes on after a pause of ${Math.round(paused / 1_000)} s`),
    changes: {
      pausedSince: undefined,
      pausedTime: millis(pausedTime + paused),
      pausedSinceProgress: millis(pausedSinceProgress + paused),
    },
  };
}

/** Plans nothing any more, but that the set gets as many pods as a later edit says. */
function planEnded(pass: RolloutPass): Step {
  const { snapshot, progress } = pass;
  const { target } = snapshot;
  const { phase = 'RolloutDone' } = progress;
  const rest: Step = {
    phase,
    because: becauseEnded(pass),
    changes: {
      isDeleted: target === undefined && progress.targetRevision !== '',
      ...unpinnedIn(progress, target),
    },
  };
  if (target === undefined || !isOwn(snapshot)) return rest;
  const pinning = planPinAtRest(pass, target);
  if (pinning !== undefined) {
    return { ...pinning, phase, changes: { ...rest.changes, ...pinning.changes } };
  }
  return planEdited(pass, target, { ...rest, ...pinnedFrom(pass, target) });
}

/** Plans for an edit after the end, which may change how many pods there are. */
function planEdited(pass: RolloutPass, target: RolledSet, rest: Step): Step {
  const { resource, comparison } = pass.snapshot;
  if (resource.generation <= resource.observedGeneration) return rest;
  const tooLarge = tooLargeOf(pass);
  if (tooLarge !== undefined) return { ...rest, because: tooLarge };
  if (comparison.kind === 'unread') {
    const text = `reading ${target.set.name} as it is now`;
    return { ...rest, because: because('AwaitingComparison', text), action: { kind: 'compare' } };
  }
  const scale = scaleIn(comparison, target);
  return scale === undefined ? rest : planScale(pass, target, scale);
}

/**
 * Returns the wanted replicas. What else differs is not what the edit is about: it stays, as it does without an edit. A set
 * that was never taken on, too.
 */
function scaleIn(comparison: SetComparison, { isOurs }: RolledSet): WantedScale | undefined {
  if (comparison.kind === 'replicas') return comparison;
  const differs = comparison.kind === 'differs' || comparison.kind === 'immutable';
  return differs && isOurs ? comparison.scale : undefined;
}

/** Reports whether the set is there, and its own. */
function isOwn(snapshot: RolloutSnapshot): boolean {
  const { target, owner } = snapshot;
  const isContested = owner !== undefined || contestOf(snapshot) !== undefined;
  return !isContested && target?.set.isDeleting === false;
}
