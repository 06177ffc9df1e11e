import { formatGoDuration } from '#base/go-duration.ts';
import type { Parsed } from '#base/parsed.ts';
import { after, type Instant, millis } from '#base/units.ts';
import { because } from '#control/refs.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import { lastDownscaleOf, minimumTimeOf, minimumTimePath } from './api.ts';
import { hold, type Moment, type Wish } from './plan-wish.ts';
import type { ZoneTracker } from './snapshot.ts';

interface Downscale {
  readonly set: string;
  readonly at: Parsed<Instant>;
}

/**
 * Why `set` may not shrink yet for the minimum time since the last down-scale of any other zone of its group (SC-15);
 * undefined when it may. A mirrored set asks for it only by the label (KW-23); a follower must carry the label once any
 * zone has been scaled down. A time that cannot be read holds every other set (D-21).
 */
export function waitForMinimumTime(
  set: StatefulSetView,
  moment: Moment,
  mode: 'missing label is an error' | 'missing label means none',
): Wish | undefined {
  const minimum = minimumTimeOf(set);
  if (minimum === undefined && mode === 'missing label means none') return undefined;
  const unknown = holdForTracker(set, moment.group.zoneTracker);
  if (unknown !== undefined) return unknown;
  const downscales = downscalesOfOthers(set, moment);
  const unreadable = downscales.find(({ at }) => at.kind === 'invalid');
  if (unreadable !== undefined) return holdForUnreadable(set, unreadable);
  const latest = latestOf(downscales);
  if (latest === undefined) return undefined;
  if (minimum === undefined || minimum.kind === 'invalid') return holdForLabel(set, minimum);
  const elapsed = millis(moment.now - latest.at);
  if (elapsed > minimum.value) return undefined;
  const message =
    `${set.name} does not shrink before ${formatGoDuration(minimum.value)} have passed since ${latest.set} was scaled down ` +
    `${formatGoDuration(elapsed)} ago`;
  const until = after(latest.at, millis(minimum.value + 1));
  return hold(set, because('MinimumTimeNotElapsed', message), until);
}

function holdForTracker(set: StatefulSetView, tracker: ZoneTracker): Wish | undefined {
  if (tracker.kind === 'off' || tracker.kind === 'read') return undefined;
  const why = tracker.kind === 'unread' ? 'it was not read yet' : tracker.message;
  const message = `${set.name} does not shrink as the ConfigMap of the last down-scales is unknown: ${why}`;
  const until = tracker.kind === 'unreadable' ? tracker.until : undefined;
  return hold(set, because('LastDownscaleUnknown', message), until);
}

function downscalesOfOthers(set: StatefulSetView, { group }: Moment): readonly Downscale[] {
  const { zoneTracker } = group;
  return group.sets.flatMap(({ set: other }) => {
    if (other.name === set.name) return [];
    const tracked = zoneTracker.kind === 'read' ? zoneTracker.times.get(other.name) : undefined;
    const times = [lastDownscaleOf(other), tracked].filter((at) => at !== undefined);
    return times.map((at) => ({ set: other.name, at }));
  });
}

function latestOf(
  downscales: readonly Downscale[],
): { readonly set: string; readonly at: Instant } | undefined {
  let latest: { readonly set: string; readonly at: Instant } | undefined;
  for (const { set, at } of downscales) {
    if (at.kind === 'invalid') continue;
    if (latest === undefined || at.value > latest.at) latest = { set, at: at.value };
  }
  return latest;
}

function holdForUnreadable(set: StatefulSetView, { set: other, at }: Downscale): Wish {
  const problem = at.kind === 'invalid' ? `${at.problem.path} ${at.problem.message}` : '';
  const message = `${set.name} does not shrink as it cannot be told when ${other} was last scaled down: ${problem}`;
  return hold(set, because('LastDownscaleUnknown', message));
}

function holdForLabel(
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
