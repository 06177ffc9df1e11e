import { podsText } from '#base/text/pods-text.ts';
import { isTooLarge } from '#statefulset/parse-ordinal.ts';
import type { RolledSet } from '../snapshot.ts';
import type { BecauseRollout } from './plan-decision.ts';
import { because, type RolloutPass } from './plan-outcome.ts';
import { namesOf, rolloutPlaces } from './plan-places.ts';
import { doneText } from './plan-rolling.ts';

/**
 * Returns where a rollout stands that has ended: how it failed; else what is true of its set and of its pods now, as others go on
 * changing both.
 */
export function becauseEnded(pass: RolloutPass): BecauseRollout {
  const { snapshot, progress, spec } = pass;
  const { phase, outcome, targetRevision } = progress;
  const { target } = snapshot;
  const text = outcome?.message ?? '';
  if (phase !== 'RolloutDone') return because('RolloutFailed', text);
  if (target === undefined) {
    if (targetRevision === '') return because('RolloutDone', text);
    const message = `there is no StatefulSet ${spec.set.name} any more; another version, percentage or rolloutIdentity makes it again`;
    return because('SetNotFound', message);
  }
  if (target.set.isDeleting) {
    return because('SetNotFound', `StatefulSet ${target.set.name} is being deleted`);
  }
  return because('RolloutDone', podsNow(pass, target));
}

/** Returns how many pods are new and ready now, in the words of the end; which are not, where some are missing. */
function podsNow({ snapshot, spec, progress, now }: RolloutPass, target: RolledSet): string {
  const { outcome } = progress;
  if (isTooLarge(target.set)) return outcome?.message ?? '';
  const seen = { ...snapshot, resource: { ...snapshot.resource, progress } };
  const places = rolloutPlaces(target, seen, { percent: spec.percent, now });
  const away = places.filter(({ isUnavailable }) => isUnavailable);
  if (away.length === 0) {
    return outcome?.code === 'RolloutDone' ? doneText(spec, places) : (outcome?.message ?? '');
  }
  const left = places.length - away.length;
  return `${left} of ${podsText(places.length)} are ready now, all but ${namesOf(away)}`;
}
