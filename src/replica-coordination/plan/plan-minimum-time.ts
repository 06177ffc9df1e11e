import type { Parsed } from '#base/parsed.ts';
import { formatGoDuration } from '#base/time/go-duration.ts';
import { formatUtcSeconds } from '#base/time/utc-seconds.ts';
import { after, type Instant, type Millis, millis } from '#base/units.ts';
import { because } from '#control/decision/refs.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import { lastDownscaleOf, minimumTimeOf, minimumTimePath } from '../api.ts';
import { type CoordinationMoment, hold, timeOf, type Wish } from '../plan-wish.ts';
import type { ZoneTrackerReading } from '../snapshot.ts';

interface Downscale {
  readonly set: string;
  readonly at: Parsed<Instant>;
}

/** A down-scale of another zone whose time is known, and what it means for a set. */
interface Wait {
  readonly set: string;
  readonly at: Instant;
  /** When the set may shrink as far as this one goes. */
  readonly until: Instant;
}

/**
 * Returns why `set` may not shrink yet for the minimum time since the last down-scale of any other zone of its group
 * (SC-15); undefined when it may. A mirrored set asks for it only where it has one (KW-23); a follower must have one once
 * any zone has been scaled down. A time that cannot be read holds every other set (D-21).
 *
 * How long ago a stored time was the wall clock says when this process first sees it, one to come as if it were now; from
 * then on no clock counts that a user sets (D-55).
 */
export function waitForMinimumTime(
  set: StatefulSetView,
  moment: CoordinationMoment,
  mode: 'missing time is an error' | 'missing time means none',
): Wish | undefined {
  const minimum = minimumTimeOf(set);
  if (minimum === undefined && mode === 'missing time means none') return undefined;
  const unknown = holdForTracker(set, moment);
  if (unknown !== undefined) return unknown;
  const downscales = downscalesOfOthers(set, moment);
  const unreadable = downscales.find(({ at }) => at.kind === 'invalid');
  if (unreadable !== undefined) return holdForUnreadable(set, unreadable);
  if (downscales.length === 0) return undefined;
  if (minimum === undefined || minimum.kind === 'invalid') return holdForMinimum(set, minimum);
  const wait = longestWait(downscales, minimum.value, moment);
  if (wait === undefined) return undefined;
  const message =
    `${set.name} does not shrink before ${formatUtcSeconds(wait.until)}, as ${wait.set} was scaled down ` +
    `at ${formatUtcSeconds(wait.at)} and ${formatGoDuration(minimum.value)} have to pass between two zones`;
  const until = after(wait.until, millis(1));
  return hold(set, because('MinimumTimeNotElapsed', message), until);
}

function holdForTracker(set: StatefulSetView, moment: CoordinationMoment): Wish | undefined {
  const tracker: ZoneTrackerReading = moment.group.zoneTracker;
  if (tracker.kind === 'off' || tracker.kind === 'read') return undefined;
  const why = tracker.kind === 'unread' ? 'it was not read yet' : tracker.message;
  const message = `${set.name} does not shrink as the ConfigMap of the last down-scales is unknown: ${why}`;
  const at = tracker.kind === 'unreadable' ? tracker.lookAgainAt : undefined;
  const until = at === undefined ? undefined : timeOf(moment, at);
  return hold(set, because('LastDownscaleUnknown', message), until);
}

function downscalesOfOthers(
  set: StatefulSetView,
  { group }: CoordinationMoment,
): readonly Downscale[] {
  const { zoneTracker } = group;
  return group.sets.flatMap(({ set: other }) => {
    if (other.name === set.name) return [];
    const tracked = zoneTracker.kind === 'read' ? zoneTracker.times.get(other.name) : undefined;
    const times = [lastDownscaleOf(other), tracked].filter((at) => at !== undefined);
    return times.map((at) => ({ set: other.name, at }));
  });
}

/** Returns the down-scale that `moment` has to wait for longest; undefined when the minimum time has passed since each. */
function longestWait(
  downscales: readonly Downscale[],
  minimum: Millis,
  moment: CoordinationMoment,
): Wait | undefined {
  let longest: Wait | undefined;
  for (const { set, at } of downscales) {
    if (at.kind === 'invalid') continue;
    const left = leftOf({ set, at: at.value }, minimum, moment);
    const until = after(moment.now, left);
    if (left >= 0 && (longest === undefined || until > longest.until)) {
      longest = { set, at: at.value, until };
    }
  }
  return longest;
}

/** Returns what is left of `minimum` since the time `at`; negative once more has passed. */
function leftOf(
  { set, at }: { readonly set: string; readonly at: Instant },
  minimum: Millis,
  { group, now }: CoordinationMoment,
): Millis {
  const seen = group.seenDownscales.get(set)?.find((each) => each.at === at);
  if (seen === undefined) return millis(minimum - Math.max(0, now - at));
  return millis(minimum - seen.elapsedThen - (group.takenAt - seen.since));
}

function holdForUnreadable(set: StatefulSetView, { set: other, at }: Downscale): Wish {
  const problem = at.kind === 'invalid' ? `${at.problem.path} ${at.problem.message}` : '';
  const message = `${set.name} does not shrink as it is unknown when ${other} was last scaled down: ${problem}`;
  return hold(set, because('LastDownscaleUnknown', message));
}

function holdForMinimum(
  set: StatefulSetView,
  minimum: Extract<ReturnType<typeof minimumTimeOf>, { kind: 'invalid' }> | undefined,
): Wish {
  const problem =
    minimum === undefined
      ? `${minimumTimePath} is missing, and another zone has been scaled down`
      : `${minimum.problem.path} ${minimum.problem.message}`;
  const message = `${set.name} does not shrink: ${problem}`;
  return hold(set, because('MinimumTimeUnknown', message));
}
