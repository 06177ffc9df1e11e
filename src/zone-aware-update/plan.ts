/**
 * The update of one set over several zones, a ZoneAwareUpdate: ever more pods at once, a zone at a time, while no alarm
 * rings. The room owns that resource; what a zone is to a pod, and who may take it, is decided below.
 */
import { problemText } from '#base/parsed.ts';
import type { Instant } from '#base/units.ts';
import { strategyWriterText } from '#statefulset/metadata/writer-text.ts';
import { isTooLarge } from '#statefulset/parse-ordinal.ts';
import { unusableRevision } from '#statefulset/revision.ts';
import type { UpdatePlan } from './plan/plan-decision.ts';
import { held, type Outcome, type Pass } from './plan/plan-outcome.ts';
import { planPods } from './plan/plan-pods.ts';
import type { UpdateSnapshot } from './snapshot.ts';

/**
 * Returns what to do next about one ZoneAwareUpdate, and why not more: its set is updated zone by zone, in the order of
 * their names, few pods first and then ever more, each step once all pods are ready and no alarm rings.
 *
 * Total and deterministic. The status is stored after the decisions were carried out, by how many pods were deleted.
 */
export function planZoneAwareUpdate(snapshot: UpdateSnapshot, now: Instant): UpdatePlan {
  const { status } = snapshot.resource;
  return { statusAfter: () => status, ...planTarget(snapshot, now) };
}

function planTarget(snapshot: UpdateSnapshot, now: Instant): Outcome {
  const { resource, target } = snapshot;
  const { spec } = resource;
  if (spec.kind === 'invalid') return held('InvalidSpec', problemText(spec.problem));
  if (target === undefined) {
    const { statefulSet } = spec.value;
    const missing = statefulSet === '' ? 'spec.statefulset names no StatefulSet' : undefined;
    const message = missing ?? `There is no StatefulSet ${statefulSet} in the namespace`;
    return held('SetNotFound', message);
  }
  // Nothing makes its pods again, and those that it has given up are none of it any more.
  if (target.set.isDeleting) {
    return held('SetNotFound', `StatefulSet ${target.set.name} is being deleted`);
  }
  return planOwnership({ snapshot, target, spec: spec.value, now });
}

function planOwnership(pass: Pass): Outcome {
  const { rival, conflicts } = pass.snapshot;
  const { name } = pass.target.set;
  if (conflicts.length > 0) {
    const message = `${name} is left alone, as ${conflicts.join(', ')} would move it, too`;
    return held('ConflictingOwners', message);
  }
  if (rival !== undefined) {
    const message = `${name} is updated by ${rival}, which is the older ZoneAwareUpdate`;
    return held('OwnedByAnother', message);
  }
  return planSet(pass);
}

function planSet(pass: Pass): Outcome {
  const { set } = pass.target;
  const { updateStrategy } = set.spec;
  if (updateStrategy !== 'OnDelete' && !pass.spec.isDryRun) {
    const message = `${set.name} has the update strategy ${updateStrategy} instead of OnDelete${strategyWriterText(set)}`;
    return held('WrongUpdateStrategy', message);
  }
  if (isTooLarge(set)) {
    return held('SetTooLarge', `${set.name} has too many replicas to be handled`);
  }
  if (set.status.updateRevision === '') {
    return held('RevisionMissing', `${set.name} does not report its update revision`);
  }
  if (set.status.observedGeneration < set.generation) {
    return held('RevisionUnknown', `The newest spec of ${set.name} is not observed yet`);
  }
  const unusable = unusableRevision(set);
  if (unusable !== undefined) return held('RevisionUnusable', unusable);
  return planPods(pass);
}
