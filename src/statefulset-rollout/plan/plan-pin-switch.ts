import type { RolledSet, RolloutSnapshot } from '../snapshot.ts';
import { because, type RolloutPass, type Step } from './plan-outcome.ts';
import { planClosed, planRestored } from './plan-pin.ts';
import { isPinned, settingPartition } from './plan-pinned-set.ts';
import { namesOf, type Place, rolloutPlaces } from './plan-places.ts';
import { planRepair } from './plan-repair.ts';

/**
 * Returns why pods cannot be pinned now; undefined where they can. The revision that pods would go back to is the current one, and
 * under OnDelete that may be many versions old: so all pods must run the newest, to make it the current one first.
 */
export function whyNotPinned(
  { pinSupport }: Pick<RolloutSnapshot, 'pinSupport'>,
  places: readonly Place[],
): string | undefined {
  if (pinSupport.kind === 'unsupported') return pinSupport.message;
  const old = places.filter(({ isStale }) => isStale);
  if (old.length > 0) return `${namesOf(old)} run another version; it is pinned once all run one`;
  const away = places.filter(({ slot }) => slot.kind !== 'available');
  return away.length > 0 ? `${namesOf(away)} are not ready` : undefined;
}

/** Returns the step by which pods are pinned from now on; undefined where that is not wanted, is so already, or cannot be. */
export function planPinOn(
  pass: RolloutPass,
  { set }: RolledSet,
  places: readonly Place[],
): Step | undefined {
  const { spec, snapshot, progress } = pass;
  if (spec.leakPolicy !== 'Pin' || isPinned(progress, set)) return undefined;
  if (snapshot.pinSupport.kind !== 'supported' || snapshot.holds.length > 0) return undefined;
  if (whyNotPinned(snapshot, places) !== undefined) return undefined;
  const message = `all ${places.length} pods of ${set.name} run ${set.status.updateRevision}, which becomes its current revision`;
  return {
    phase: 'WaitingForReady',
    because: because('PinSwitchedOn', message),
    ...settingPartition(set, 0),
  };
}

/** Returns when what forbids for now that pods are pinned is over; nothing where time does not end it, or nothing is to be pinned. */
export function pinnedFrom(
  { spec, snapshot, progress }: RolloutPass,
  { set }: RolledSet,
): Pick<Step, 'until'> {
  const until = snapshot.holds[0]?.until;
  const isWanted = spec.leakPolicy === 'Pin' && progress.phase === 'RolloutDone';
  return isWanted && until !== undefined && !isPinned(progress, set) ? { until } : {};
}

/** Returns the step by which no pod is pinned any more; undefined where that is not wanted, or is so already. */
export function planPinOff({ spec, progress }: RolloutPass, { set }: RolledSet): Step | undefined {
  if (spec.leakPolicy === 'Pin' || !isPinned(progress, set)) return undefined;
  const message = `spec.versionLeak.policy is ${spec.leakPolicy}: a pod that is lost comes back on the newest version`;
  return {
    phase: 'RollingOut',
    because: because('PinSwitchedOff', message),
    ...settingPartition(set, undefined),
  };
}

/** Returns what is done about pinned pods once the rollout has ended; undefined where nothing is. */
export function planPinAtRest(pass: RolloutPass, target: RolledSet): Step | undefined {
  const { spec, snapshot, progress, now } = pass;
  const { set } = target;
  if (
    !target.isOurs ||
    set.status.observedGeneration < set.generation ||
    set.status.updateRevision === ''
  ) {
    return undefined;
  }
  const off = planPinOff(pass, target);
  if (off !== undefined || spec.leakPolicy !== 'Pin') return off;
  const places = rolloutPlaces(target, snapshot, { percent: spec.percent, now });
  if (isPinned(progress, set)) return planPinnedAtRest(pass, target, places);
  return progress.phase === 'RolloutDone' ? planPinOn(pass, target, places) : undefined;
}

function planPinnedAtRest(
  pass: RolloutPass,
  target: RolledSet,
  places: readonly Place[],
): Step | undefined {
  const { spec, progress } = pass;
  const moved = planRestored(pass, target) ?? planClosed(pass, target, places);
  const isHeld = progress.phase !== 'RolloutDone' || spec.isPauseRequested;
  return moved !== undefined || isHeld ? moved : planRepair(pass, target, places);
}

/** Returns whether it must be known, and is not, if the controllers of the cluster can pin pods. */
export function isVersionNeeded({ resource, target, pinSupport }: RolloutSnapshot): boolean {
  const { spec, progress } = resource;
  if (spec.kind === 'invalid' || spec.value.leakPolicy !== 'Pin') return false;
  return pinSupport.kind === 'unknown' && target !== undefined && !isPinned(progress, target.set);
}
