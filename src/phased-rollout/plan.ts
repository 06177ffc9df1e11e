/**
 * The rollout of one set by its partition, a PhasedRollout: each step waits for its checks. The room owns that resource
 * and the annotation of its owner; questions are asked by `check/`, pods are replaced by the StatefulSet controller.
 */
import { assertNever } from '#base/assert-never.ts';
import { problemText } from '#base/parsed.ts';
import type { Instant } from '#base/units.ts';
import { setRef } from '#control/decision/refs.ts';
import { strategyWriterText } from '#statefulset/metadata/writer-text.ts';
import { isTooLarge } from '#statefulset/parse-ordinal.ts';
import { unusableRevision } from '#statefulset/revision.ts';
import { isToBeChecked } from './plan/made-again.ts';
import type { PhasedDecision, PhasedPlan, PhasedReason } from './plan/plan-decision.ts';
import {
  completed,
  goesOn,
  held,
  type Outcome,
  type Pass,
  setPartition,
  stopped,
  unlessHeld,
} from './plan/plan-outcome.ts';
import { planDeletion, releasesOf } from './plan/plan-release.ts';
import { planRollout } from './plan/plan-rollout.ts';
import { planSteady } from './plan/plan-steady.ts';
import type { PhasedSnapshot } from './snapshot.ts';
import { isRollback, type RolloutStatus } from './status.ts';

/**
 * Returns what to do next about one PhasedRollout, and why not more; one step of the state machine at a time, so that each
 * is stored before the next rests on it.
 *
 * Total and deterministic. The decisions are carried out before the status is stored, each only against the
 * resourceVersion that it names: a plan on an old view changes nothing.
 */
export function planPhasedRollout(snapshot: PhasedSnapshot, now: Instant): PhasedPlan {
  const { resource } = snapshot;
  // Never past the cleanup, no matter whose finalizer keeps it alive.
  if (resource.isDeleting) return completed(snapshot, planDeletion(snapshot));
  if (!resource.hasFinalizer) {
    const because = { reason: 'FinalizerMissing', message: 'Nothing is owned without it' } as const;
    return completed(snapshot, { decisions: [{ kind: 'add-finalizer', because }] });
  }
  const outcome = planTarget(snapshot, now);
  const decisions = [...releasesOf(snapshot, snapshot.former), ...(outcome.decisions ?? [])];
  const isDryRun = resource.spec.kind === 'valid' && resource.spec.value.isDryRun === true;
  const told = isDryRun ? decisions.map(onlyTold) : decisions;
  return completed(snapshot, { ...outcome, decisions: told });
}

/** Returns what would be done to a set or a pod, as no more than a word about it; all else as it is. */
function onlyTold(decision: PhasedDecision): PhasedDecision {
  switch (decision.kind) {
    case 'adopt':
    case 'release':
    case 'set-partition':
    case 'delete-pod': {
      const message = `Dry run, nothing is done; otherwise ${wouldOf(decision)}: ${decision.because.message}`;
      return { kind: 'hold', because: { reason: 'DryRun', message } };
    }
    default:
      return decision;
  }
}

function wouldOf(
  decision: Extract<PhasedDecision, { kind: 'adopt' | 'release' | 'set-partition' | 'delete-pod' }>,
): string {
  switch (decision.kind) {
    case 'adopt':
      return `${decision.set.name} would be taken over`;
    case 'release':
      return `${decision.set.name} would be released`;
    case 'set-partition':
      return `the partition of ${decision.set.name} would go from ${decision.from} to ${decision.to}`;
    case 'delete-pod':
      return `${decision.pod.name} would be deleted`;
    default:
      return assertNever(decision);
  }
}

function planTarget(snapshot: PhasedSnapshot, now: Instant): Outcome {
  const { resource, target } = snapshot;
  const { spec } = resource;
  if (spec.kind === 'invalid') return held('InvalidSpec', problemText(spec.problem));
  if (target === undefined || target.set.isDeleting) {
    const { targetRef } = spec.value;
    const message =
      target === undefined
        ? `There is no StatefulSet ${targetRef} in the namespace`
        : `StatefulSet ${targetRef} is being deleted`;
    return {
      ...held('SetNotFound', message),
      ...stopped(snapshot, 'ErrorSTSNotFound', {
        because: { reason: 'ErrorSTSNotFound', message },
      }),
    };
  }
  return planOwnership({ snapshot, target, spec: spec.value, now });
}

function planOwnership(pass: Pass): Outcome {
  const { snapshot, target } = pass;
  const { resource, others, conflicts } = snapshot;
  const { set, owner } = target;
  if (conflicts.length > 0) {
    const message = `${set.name} is left alone, as ${conflicts.join(', ')} would move it, too`;
    return unmanageable(pass, 'ConflictingOwners', message);
  }
  if (owner === resource.name) return planStrategy(pass);
  const other = others.find(({ name }) => name === owner);
  if (other?.targetRef === set.name) {
    return unmanageable(pass, 'OwnedByAnother', `${set.name} is rolled out by ${other.name}`);
  }
  // What comes after is reported, too, without it.
  if (pass.spec.isDryRun === true) return planStrategy(pass);
  const message = `${set.name} is rolled out by nothing else`;
  return {
    decisions: [
      {
        kind: 'adopt',
        set: setRef(set),
        revision: set.resourceVersion,
        ...(isBlockedAtOnce(pass) && { partition: set.spec.replicas }),
        because: { reason: 'Adopted', message },
      },
    ],
  };
}

/**
 * Reports whether no pod may go from the moment in which the set is taken over: one that was made again has lost its partition, and
 * the controller takes a pod as soon as it can. Where an update is under way, that is left alone.
 */
function isBlockedAtOnce({ snapshot, target, spec }: Pass): boolean {
  const { set } = target;
  const isGated = set.spec.updateStrategy === 'RollingUpdate' && !spec.standardRollingUpdate;
  if (!isGated || set.spec.partition >= set.spec.replicas) return false;
  return set.status.updateRevision === '' || isToBeChecked(target, snapshot.resource.status);
}

function unmanageable({ snapshot }: Pass, reason: PhasedReason, message: string): Outcome {
  const hold = held(reason, message);
  const isNew = snapshot.resource.status.phase !== 'ErrorCannotManage';
  return {
    ...hold,
    ...stopped(snapshot, 'ErrorCannotManage', {
      because: { reason: 'ErrorCannotManage', message },
    }),
    decisions: [
      ...(isNew ? [told('Warning', 'CannotManage', message)] : []),
      ...(hold.decisions ?? []),
    ],
  };
}

function told(type: 'Normal' | 'Warning', reason: PhasedReason, message: string): PhasedDecision {
  return { kind: 'tell', type, because: { reason, message } };
}

function planStrategy(pass: Pass): Outcome {
  const { set } = pass.target;
  const { updateStrategy } = set.spec;
  if (updateStrategy !== 'RollingUpdate') {
    const message = `${set.name} has the update strategy ${updateStrategy} instead of RollingUpdate${strategyWriterText(set)}`;
    return unmanageable(pass, 'WrongUpdateStrategy', message);
  }
  if (isTooLarge(set))
    return held('SetTooLarge', `${set.name} has too many replicas to be handled`);
  return pass.spec.standardRollingUpdate ? planSuspended(pass) : planGated(pass);
}

function planSuspended(pass: Pass): Outcome {
  const { snapshot, target } = pass;
  const message = 'Updates roll without checks, as spec.standardRollingUpdate says';
  if (target.set.spec.partition > 0) {
    return unlessHeld(snapshot, 'lifted', () => ({
      decisions: [setPartition(pass, 0, { reason: 'Suspended', message })],
    }));
  }
  const isNew = snapshot.resource.status.phase !== 'Suspended';
  return {
    ...stopped(snapshot, 'Suspended', { because: { reason: 'Suspended', message }, isReady: true }),
    decisions: isNew ? [told('Normal', 'Suspended', message)] : [],
  };
}

function planGated(pass: Pass): Outcome {
  const { takenBack } = pass.snapshot;
  if (takenBack !== undefined) return planTakenBack(pass, takenBack);
  const { currentRevision, updateRevision } = pass.target.set.status;
  const isAgain = isToBeChecked(pass.target, pass.snapshot.resource.status);
  if (currentRevision === updateRevision && !isAgain) return planSteady(pass);
  if (currentRevision === '' || updateRevision === '') {
    return held('RevisionMissing', `${pass.target.set.name} does not report both of its revisions`);
  }
  return planStart(pass) ?? planUsable(pass) ?? planRollout(pass);
}

/** Holds a rollout whose pods would not be made again. */
function planUsable({ target }: Pass): Outcome | undefined {
  const why = unusableRevision(target.set);
  return why === undefined ? undefined : held('RevisionUnusable', why);
}

/** Answers a request that lifted the gate and arrived after the user had taken that back. */
function planTakenBack(pass: Pass, before: number): Outcome {
  const to = Math.min(before, pass.target.set.spec.replicas);
  const message =
    'spec.standardRollingUpdate is false: a request that was under way, or that an earlier process sent, lifted the gate; the gate is set up again';
  return { decisions: [setPartition(pass, to, { reason: 'SuspensionTakenBack', message })] };
}

/** Begins a rollout, or begins it again on another revision; undefined while one is under way. */
function planStart(pass: Pass): Outcome | undefined {
  const { snapshot, target, now } = pass;
  const { status } = snapshot.resource;
  const { partition, replicas } = target.set.spec;
  const { updateRevision } = target.set.status;
  const isAnother = status.updateRevision !== updateRevision;
  const isRolling = status.phase === 'Rolling';
  if (isRolling && !isAnother) return undefined;
  // What was let go for another revision is blocked before anything else; an update at partition 0 that no controller followed is not.
  if (isAnother && partition < replicas && (isRolling || partition > 0)) {
    const message = `No pod may run ${updateRevision} before it is checked`;
    return { decisions: [setPartition(pass, replicas, { reason: 'RevisionChanged', message })] };
  }
  const again = isAnother ? undefined : goneOnWith(status);
  if (again !== undefined) return goesOn(pass, again);
  const message = `${target.set.name} is to run ${updateRevision}`;
  const begun = {
    phase: 'Rolling',
    updateRevision,
    rolloutStart: now,
    rolloutEnd: undefined,
    step: undefined,
  } as const;
  return goesOn(pass, begun, {
    conditions: {
      Ready: { status: 'True', because: { reason: 'Ready', message: 'It can be rolled out' } },
      Updated: { status: 'False', because: { reason: 'Rolling', message } },
    },
    decisions: isRolling ? [] : [told('Normal', 'RolloutStarted', message)],
  });
}

/**
 * Returns the status with which an update that has failed goes on where it was, after the set could not be managed for a
 * while, or was not there: that a user corrected this is no wish to try the same revision once more. Undefined where it has not failed.
 */
function goneOnWith(status: RolloutStatus): RolloutStatus | undefined {
  const { phase, step } = status;
  const isError = phase === 'ErrorCannotManage' || phase === 'ErrorSTSNotFound';
  if (!isError || step === undefined) return undefined;
  // Each is entered again, so that the conditions say so.
  if (isRollback(step.status)) {
    return { ...status, phase: 'Rolling', step: { ...step, status: 'RollingBack' } };
  }
  if (step.status !== 'Paused') return undefined;
  return { ...status, phase: 'Rolling', step: { ...step, status: 'WaitForChecks' } };
}
