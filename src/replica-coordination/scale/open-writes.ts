import { formatUtcSeconds } from '#base/time/utc-seconds.ts';
import { after, type Instant, type Monotonic, millis, seconds } from '#base/units.ts';
import type { Decision } from '#control/decision/decision.ts';
import { because, setRef } from '#control/decision/refs.ts';
import type { OpenScale, UnseenScale } from '#control/write/scale-writes.ts';
import type { StatefulSetView } from '#statefulset/view.ts';

/** A decision to do nothing, with what time has to do with it. */
type Hold = Extract<Decision, { kind: 'hold' }>;

/** How long a write of ours may take to be shown before that is reported. */
const patience = seconds(10);

/** What a write that the cache does not show yet asks of its group. */
export interface UnseenHold {
  /** Undefined while that is nothing unusual. */
  readonly hold: Hold | undefined;
  /** When that changes by time alone. */
  readonly until: Instant | undefined;
}

/** Returns what is said of a write of ours that the watch does not show; the same words for as long as it lasts. */
export function holdForUnseen(
  { set, answeredAt, since }: UnseenScale,
  moment: { readonly now: Instant; readonly at: Monotonic },
): UnseenHold {
  const left = answeredAt + patience - moment.at;
  if (left > 0) return { hold: undefined, until: after(moment.now, millis(left)) };
  const message =
    `the replicas that ${set.name} was given at ${formatUtcSeconds(since)} are not shown by the watch of StatefulSets yet; ` +
    'its group is left alone until they are';
  const hold: Hold = { kind: 'hold', set, because: because('AwaitingOwnWrite', message) };
  return { hold, until: undefined };
}

/** Returns what requests without an answer ask of their group: no other disruption until they are settled (D-7). */
export function holdForOpen(
  sets: readonly StatefulSetView[],
  open: ReadonlyMap<string, OpenScale>,
): Hold | undefined {
  for (const set of sets) {
    const until = open.get(set.name)?.until;
    if (until === undefined) continue;
    const message = `a request to lower the replicas of ${set.name} got no answer, so it may still be carried out`;
    return { kind: 'hold', set: setRef(set), until, because: because('AwaitingAnswer', message) };
  }
  return undefined;
}
