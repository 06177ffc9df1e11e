import type { Parsed } from '#base/parsed.ts';
import { quoted } from '#base/text/quoted.ts';
import { because } from '#control/decision/refs.ts';
import type { SetSnapshot } from '#control/watch/group-sets.ts';
import type { OpenScale } from '#control/write/scale-writes.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import { forcedReplicasOf, type Reference, referenceId } from '../api.ts';
import { delayedDownscaleOf } from '../delayed-downscale/delayed-downscale.ts';
import type { DelayedDownscaleVerdict } from '../delayed-downscale/delayed-downscale-snapshot.ts';
import { planDelay } from '../delayed-downscale/plan-delay.ts';
import {
  type CoordinationMoment,
  hold,
  scaleTo,
  settled,
  timeOf,
  type Wish,
} from '../plan-wish.ts';
import type { ReferenceState } from '../snapshot.ts';
import { waitForMinimumTime } from './plan-minimum-time.ts';

type KnownReference = Extract<ReferenceState, { kind: 'known' }>;

/** Returns what a set wants that mirrors the replicas of another resource (SC-30…SC-37 with KW-14, KW-23). */
export function planMirror(
  snapshot: SetSnapshot,
  reference: Parsed<Reference>,
  moment: CoordinationMoment,
): Wish {
  const { set } = snapshot;
  if (reference.kind === 'invalid') {
    const { path, message } = reference.problem;
    const text = `${set.name} keeps its replicas: ${path} ${message}`;
    return hold(set, because('ReferenceUnresolved', text));
  }
  const state = moment.group.references.get(referenceId(set.namespace, reference.value));
  if (state?.kind !== 'known')
    return holdForReference(snapshot, { reference: reference.value, state }, moment);
  const forced = forcedReplicasOf(set);
  const isForced = forced?.kind === 'valid';
  const wanted = isForced ? forced.value : state.wanted;
  if (wanted < set.spec.replicas && !isForced) {
    const wait = waitToShrink(set, { reference: reference.value, state }, moment);
    if (wait !== undefined) return { stays: wanted, ...wait };
  }
  const source = isForced ? 'its annotation forces' : `${describe(reference.value)} asks for`;
  return delayed(snapshot, { wanted, isForced, source }, moment);
}

/** Returns why `set` may not shrink to what the resource asks for; undefined when it may, as far as its pods do. */
function waitToShrink(
  set: StatefulSetView,
  { reference, state }: { readonly reference: Reference; readonly state: KnownReference },
  moment: CoordinationMoment,
): Wish | undefined {
  if (state.hasChanged) {
    const message = `${set.name} does not shrink as ${describe(reference)} has changed since it was read`;
    return { ...hold(set, because('ReferenceUnreadable', message)), stays: 0 };
  }
  return waitForMinimumTime(set, moment, 'missing time means none');
}

function holdForReference(
  { set }: SetSnapshot,
  {
    reference,
    state,
  }: {
    readonly reference: Reference;
    readonly state: Exclude<ReferenceState, { kind: 'known' }> | undefined;
  },
  moment: CoordinationMoment,
): Wish {
  const why = state?.message ?? 'it was not read yet';
  const message = `${set.name} keeps its ${set.spec.replicas} replicas as those of ${describe(reference)} are unknown: ${why}`;
  const isUnresolved = state?.kind === 'unresolved';
  const reason = isUnresolved ? 'ReferenceUnresolved' : 'ReferenceUnreadable';
  const at = isUnresolved ? undefined : state?.lookAgainAt;
  const until = at === undefined ? undefined : timeOf(moment, at);
  const held = hold(set, because(reason, message), until);
  return asksNothing(state) ? held : { ...held, stays: 0 };
}

/** Reports whether the resource does not exist; one that cannot be read may ask for what it did. */
function asksNothing(state: ReferenceState | undefined): boolean {
  return state?.kind === 'unresolved' || (state?.kind === 'unreadable' && state.isAbsent === true);
}

function describe({ kind, name }: Reference): string {
  return `${kind} ${quoted(name)}`;
}

interface Target {
  readonly wanted: number;
  readonly isForced: boolean;
  /** Who wants it, as a clause. */
  readonly source: string;
}

function delayed(snapshot: SetSnapshot, target: Target, moment: CoordinationMoment): Wish {
  const open = moment.group.unanswered.get(snapshot.set.name);
  if (open !== undefined && open.to < target.wanted && isDelayed(snapshot.set)) {
    return { ...holdForOpen(snapshot, open), stays: 0 };
  }
  const { verdict, ...rest } = planDelay(snapshot, target.wanted, moment);
  return { ...judged(snapshot, target, verdict), ...rest, stays: target.wanted };
}

function isDelayed(set: StatefulSetView): boolean {
  const settings = delayedDownscaleOf(set);
  return settings.kind === 'valid' && settings.value !== undefined;
}

/** Holds the set while a request may still take pods away: they must stay prepared until it is settled. */
function holdForOpen({ set }: SetSnapshot, { to, until }: OpenScale): Wish {
  const message =
    `no pod of ${set.name} is notified that it stays, as a request to lower its replicas to ${to} got no answer, ` +
    'so it may still be carried out';
  return hold(set, because('AwaitingAnswer', message), until);
}

function judged(snapshot: SetSnapshot, target: Target, verdict: DelayedDownscaleVerdict): Wish {
  const { set } = snapshot;
  if (verdict.kind === 'settled') return settled;
  if (verdict.kind === 'hold') return hold(set, verdict.because, verdict.until);
  const { to, provenAt } = verdict;
  const isPart = to === target.wanted ? '' : ` on the way to ${target.wanted}`;
  const message = `${set.name} goes from ${set.spec.replicas} to ${to} replicas${isPart}, as ${target.source} ${target.wanted}`;
  const reason = target.isForced ? 'ScaledByForce' : 'ScaledToReference';
  const why = verdict.because ?? because(reason, message);
  return scaleTo(snapshot, to, { because: why, isFollower: false, provenAt });
}
