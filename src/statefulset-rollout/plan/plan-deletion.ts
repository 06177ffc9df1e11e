import type { Instant } from '#base/units.ts';
import { setRef } from '#control/decision/refs.ts';
import type { StatefulsetRolloutSpec } from '../api.ts';
import type { Outcome } from '../progress.ts';
import type { RolledSet, RolloutSnapshot } from '../snapshot.ts';
import { openCallback } from './plan-callback.ts';
import { because, type Step } from './plan-outcome.ts';

const phase = 'Deleting';

/** Returns the next step of a resource that is deleted: its set goes, or is let go; the receiver that waits is called back; then it may go. */
export function planDeletion(snapshot: RolloutSnapshot, now: Instant): Step {
  const { resource, target, owner } = snapshot;
  if (!resource.hasFinalizer) {
    return { phase, because: because('AwaitingDeletion', 'what others keep is theirs') };
  }
  if (target === undefined || owner !== undefined || !target.isOurs) {
    return planFarewell(snapshot, now);
  }
  const { set } = target;
  if (isKept(resource, target)) {
    const message = `${set.name} keeps running, without the marks of ${resource.name}`;
    return {
      phase,
      because: because('StatefulSetReleased', message),
      action: { kind: 'release-set', set: setRef(set), revision: set.resourceVersion },
    };
  }
  if (set.isDeleting) {
    return { phase, because: because('AwaitingDeletion', `waiting for ${set.name} to be gone`) };
  }
  return {
    phase,
    because: because(
      'StatefulSetDeleted',
      `${set.name}, as ${resource.name} is deleted that made it`,
    ),
    action: { kind: 'delete-set', set: setRef(set) },
  };
}

/**
 * Returns the step that takes the owner reference off a set which is to stay when the resource goes; undefined where it has none.
 * A foreground deletion lets the garbage collector delete all that has one, and asks nobody.
 */
export function planDisowning(
  { resource, target }: Pick<RolloutSnapshot, 'resource' | 'target'>,
  { deletionPolicy }: StatefulsetRolloutSpec,
): Step | undefined {
  if (deletionPolicy !== 'Orphan' || target?.isControlled !== true) return undefined;
  const { set } = target;
  const message = `${set.name} is to stay when ${resource.name} goes, so its owner reference is taken off`;
  return {
    phase: resource.progress.phase ?? 'Pending',
    because: because('StatefulSetDisowned', message),
    action: { kind: 'disown-set', set: setRef(set), revision: set.resourceVersion },
  };
}

/**
 * Plans the farewell of a resource of which nothing is left. Those who wait for its outcome are reported once, whatever becomes
 * of that: a receiver that does not answer keeps no resource.
 */
function planFarewell({ resource, target }: RolloutSnapshot, now: Instant): Step {
  const { progress, spec } = resource;
  const isDeleted = target === undefined;
  const callback =
    spec.kind === 'valid' && progress.key !== ''
      ? openCallback(progress, spec.value.callback)
      : undefined;
  if (callback === undefined) {
    return {
      phase,
      because: because('StatefulSetReleased', 'nothing is left that belongs to it'),
      action: { kind: 'remove-finalizer' },
      changes: { isDeleted },
    };
  }
  const message = `calling back with the outcome, for stage ${callback.stageId}, before it goes`;
  const outcome = progress.outcome ?? halfWay(resource.name);
  const finishedAt = progress.finishedAt ?? now;
  return {
    phase,
    because: because('CallingBack', message),
    action: { kind: 'call-back' },
    changes: { isDeleted, outcome, finishedAt, callback },
  };
}

function halfWay(name: string): Outcome {
  return {
    result: 'Failed',
    code: 'Deleted',
    message: `${name} was deleted before its rollout ended`,
  };
}

/**
 * Reports whether the set stays when the resource goes; a spec that cannot be read deletes nothing. That it is made is
 * stored before it is: another client may have been faster, so that what is there says whose it is.
 */
function isKept(
  { isOrphaning, spec, progress }: RolloutSnapshot['resource'],
  { isControlled }: RolledSet,
): boolean {
  if (isOrphaning || spec.kind === 'invalid') return true;
  const { deletionPolicy } = spec.value;
  const isMade = progress.isCreator && isControlled;
  return deletionPolicy === 'Auto' ? !isMade : deletionPolicy === 'Orphan';
}
