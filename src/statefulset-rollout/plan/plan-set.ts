import { setRef } from '#control/decision/refs.ts';
import { integerAt, objectAt } from '#statefulset/parse-fields.ts';
import { largestSet } from '#statefulset/parse-ordinal.ts';
import type { Phase } from '../progress.ts';
import type { RolledSet, RolloutSnapshot, SetComparison, WantedScale } from '../snapshot.ts';
import { otherScaler, scaledText } from '../statefulset/scaled-by-other.ts';
import type { BecauseRollout } from './plan-decision.ts';
import { because, failing, type RolloutPass, type Step } from './plan-outcome.ts';
import { namesOf, rolloutPlaces } from './plan-places.ts';
import { planRolling } from './plan-rolling.ts';

/** Returns the next step towards the set that is wanted, and then towards its pods. */
export function planSet(pass: RolloutPass): Step {
  const { snapshot, spec } = pass;
  const { resource, owner, target } = snapshot;
  const { namespace = resource.namespace, name } = spec.set;
  if (namespace !== resource.namespace) {
    const message = `spec.statefulset.metadata.namespace must be ${resource.namespace}, where the resource is: got ${namespace}`;
    return failing('NamespaceMismatch', message);
  }
  const tooLarge = tooLargeOf(pass);
  if (tooLarge !== undefined) return failing('SetTooLarge', tooLarge.message);
  if (owner !== undefined) return failing('StatefulSetOwnedByOther', `${name} belongs to ${owner}`);
  const contest = contestOf(snapshot);
  if (contest !== undefined) return { phase: phaseOf(pass), because: contest };
  if (target === undefined) return planCreation(pass);
  if (target.set.isDeleting) {
    const message = `${name} is being deleted; it is recreated once it is gone`;
    return {
      phase: 'CreatingStatefulSet',
      because: because('AwaitingDeletion', message),
      changes: { isDeleted: true },
    };
  }
  return planFound(pass, target);
}

/**
 * Returns why no controller moves the set: something else would, too, or may (D-63). Not even its template is written then: another
 * one's set would lose what that has written.
 */
export function contestOf({
  conflicts,
  unknownOwners,
  target,
}: Pick<RolloutSnapshot, 'conflicts' | 'unknownOwners' | 'target'>): BecauseRollout | undefined {
  if (conflicts.length > 0) {
    const message = `${target?.set.name ?? 'the set'} is left alone, as ${conflicts.join(', ')} would move it, too`;
    return because('ConflictingOwners', message);
  }
  return unknownOwners === undefined ? undefined : because('ViewNotFresh', unknownOwners);
}

/** Returns why the set does not get as many pods as are wanted: a list of their names would take all the memory there is. */
export function tooLargeOf({ spec }: Pick<RolloutPass, 'spec'>): BecauseRollout | undefined {
  const { name, replicas = 1 } = spec.set;
  if (replicas <= largestSet) return undefined;
  const message = `${name} is to have ${replicas} replicas, and no set of more than ${largestSet} is rolled out`;
  return because('SetTooLarge', message);
}

/** Returns the phase, where it is known already. */
function phaseOf({ progress }: RolloutPass): Phase {
  return progress.phase ?? 'Pending';
}

function planCreation(pass: RolloutPass): Step {
  const { progress, spec } = pass;
  const { name, replicas = 1 } = spec.set;
  const unasked = planValidation(pass);
  if (unasked !== undefined) return unasked;
  if (progress.phase !== 'CreatingStatefulSet') {
    const isLost = progress.targetRevision !== '';
    const message = isLost ? `${name} has gone, and is recreated` : `${name} is not there yet`;
    return {
      phase: 'CreatingStatefulSet',
      because: because('StatefulSetCreated', message),
      ...(isLost && { changes: { isDeleted: true } }),
    };
  }
  const start = ordinalsStartOf(pass);
  const pods = Array.from({ length: replicas }, (_, index) => `${name}-${start + index}`);
  return {
    phase: 'WaitingForReady',
    because: because('StatefulSetCreated', `${name} with ${replicas} replicas`),
    action: { kind: 'create-set' },
    // There is no older version of it: whatever the percentage, all pods are new.
    changes: {
      isCreator: !progress.isAdopted,
      isDeleted: false,
      rotated: new Set([...progress.rotated, ...pods]),
    },
  };
}

function ordinalsStartOf({ spec }: RolloutPass): number {
  return integerAt(objectAt(objectAt(spec.set.object, 'spec'), 'ordinals'), 'start') ?? 0;
}

/** Asks whether the API server takes what is wanted, before anything becomes of it. */
function planValidation(pass: RolloutPass): Step | undefined {
  const { validation } = pass.snapshot;
  if (validation.kind === 'accepted') return undefined;
  if (validation.kind === 'refused') return failing('InvalidStatefulSet', validation.message);
  return {
    phase: phaseOf(pass),
    because: because(
      'AwaitingValidation',
      'asking the API server whether it accepts the StatefulSet',
    ),
    action: { kind: 'validate' },
  };
}

function planFound(pass: RolloutPass, target: RolledSet): Step {
  const { comparison } = pass.snapshot;
  switch (comparison.kind) {
    case 'unread':
      return {
        phase: phaseOf(pass),
        because: because('AwaitingComparison', `reading ${target.set.name} as it is now`),
        action: { kind: 'compare' },
      };
    case 'immutable':
      return planImmutable(pass, target, comparison);
    case 'differs':
      return planUpdate(pass, target, comparison);
    case 'replicas':
      return planScale(pass, target, comparison);
    default:
      return planRolling(pass, target);
  }
}

function planImmutable(
  { spec, progress }: RolloutPass,
  { set, isControlled }: RolledSet,
  { paths, isSelectorEqual }: Extract<SetComparison, { kind: 'immutable' }>,
): Step {
  const fields = paths.join(', ');
  if (spec.onImmutableChange === 'Fail' || !isSelectorEqual) {
    const message = `immutable fields of ${set.name} differ: ${fields}`;
    return failing('ImmutableFieldChanged', message);
  }
  return {
    phase: 'CreatingStatefulSet',
    because: because(
      'StatefulSetRecreated',
      `${fields} can only be changed by recreating ${set.name} over its pods`,
    ),
    action: { kind: 'orphan-pods', set: setRef(set) },
    changes: { isAdopted: !(progress.isCreator && isControlled) },
  };
}

/** Returns what is said of a change. Our own marks change with whatever else does; they are named where nothing else is. */
function toldOf(paths: readonly string[]): string {
  const others = paths.filter((path) => !path.includes('bedrock.operator.slack.com/'));
  return (others.length === 0 ? paths : others).join(', ');
}

function planUpdate(
  pass: RolloutPass,
  { set }: RolledSet,
  { paths, partition }: Extract<SetComparison, { kind: 'differs' }>,
): Step {
  const { progress } = pass;
  const unasked = planValidation(pass);
  if (unasked !== undefined) return unasked;
  const message = `${toldOf(paths)} of ${set.name}`;
  if (progress.phase !== 'UpdatingStatefulSet') {
    return { phase: 'UpdatingStatefulSet', because: because('StatefulSetUpdated', message) };
  }
  return {
    phase: 'RollingOut',
    because: because('StatefulSetUpdated', message),
    action: { kind: 'update-set', set: setRef(set), revision: set.resourceVersion },
    changes: { isDeleted: false, ...(partition !== undefined && { partition }) },
  };
}

/** Returns the step that gives the set as many pods as the resource says; new ones are new, and count as let go. */
export function planScale(
  pass: RolloutPass,
  target: RolledSet,
  { to, partition }: WantedScale,
): Step {
  const waiting = planScaleBack(pass, target, to);
  if (waiting !== undefined) return waiting;
  const { set } = target;
  const scale = { to, ...(partition !== undefined && { partition }) };
  const { progress } = pass;
  const { replicas: from, ordinalsStart } = set.spec;
  const added = Array.from(
    { length: Math.max(0, to - from) },
    (_, index) => `${set.name}-${ordinalsStart + from + index}`,
  );
  return {
    phase: phaseOf(pass),
    because: because('StatefulSetScaled', `${set.name} from ${from} to ${to} replicas`),
    action: {
      kind: 'scale-set',
      set: setRef(set),
      revision: set.resourceVersion,
      scale,
    },
    changes: {
      rotated: new Set([...progress.rotated, ...added]),
      ...(partition !== undefined && { partition }),
    },
  };
}

/**
 * Returns the wait of a set that another client has given more pods than it is to have: while pods that stay are not there, those
 * beyond serve in their place. Pods that cannot become ready are not waited for.
 */
function planScaleBack(pass: RolloutPass, target: RolledSet, to: number): Step | undefined {
  const { snapshot, spec, now } = pass;
  const { set } = target;
  const by = otherScaler(snapshot, set);
  if (by === undefined || set.spec.replicas <= to) return undefined;
  const places = rolloutPlaces(target, snapshot, { percent: spec.percent, now });
  const away = places.filter(
    ({ index, isUnavailable, stuckBy }) => index < to && isUnavailable && stuckBy === undefined,
  );
  if (away.length === 0) return undefined;
  const message = `${scaledText(set, to, by)}, which is written again once ${namesOf(away)} can serve`;
  return { phase: phaseOf(pass), because: because('AwaitingPods', message) };
}
