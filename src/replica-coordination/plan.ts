/**
 * The replicas of the sets of a group: they follow a leader, mirror another resource, or are forced, and pods are asked
 * before they go. Whether pods are replaced is not its business, but a pass that scales does not roll.
 */
import type { Instant } from '#base/units.ts';
import type { Decision, Plan, Requeue, Scale } from '#control/decision/decision.ts';
import { because } from '#control/decision/refs.ts';
import type { SetSnapshot } from '#control/watch/group-sets.ts';
import { isTooLarge, largestSet } from '#statefulset/parse-ordinal.ts';
import { sourceOf } from './api.ts';
import { planRelease, type ReleasePlan } from './delayed-downscale/plan-release.ts';
import { mayBePrepared } from './delayed-downscale/prepared-urls.ts';
import { planFollower } from './plan/plan-follower.ts';
import { planMirror } from './plan/plan-mirror.ts';
import { safely } from './plan/plan-safety.ts';
import { planWarnings } from './plan/plan-warning.ts';
import { planWriteBacks } from './plan/plan-write-back.ts';
import { type CoordinationMoment, hold, settled, timeOf, type Wish } from './plan-wish.ts';
import type { CoordinationSnapshot } from './snapshot.ts';

/**
 * Returns what to do next about the replicas of one group, and why not more: one set a pass, followers before mirrors, by
 * name (SC-1). What is wrong with one set holds that set alone (KW-14).
 *
 * Total and deterministic.
 */
export function planCoordination(snapshot: CoordinationSnapshot, now: Instant): Plan {
  const wishes = safeWishes(snapshot, now);
  const chosen = chosenOf(wishes);
  const releases = snapshot.sets.flatMap((set, index) => {
    const wish = wishes[index];
    return wish === undefined ? [] : [planRelease(set, wish, { group: snapshot, now })];
  });
  const decisions: readonly Decision[] = [
    ...planWarnings(snapshot),
    ...wishes.flatMap((wish) => decisionsOf(wish, chosen)),
    ...planWriteBacks(snapshot, chosen, now),
    ...releases.flatMap(({ decisions }) => decisions),
    ...releases.flatMap(({ calls }) => calls),
  ];
  return {
    decisions,
    requeue: requeueOf(decisions, { wishes, releases }, { group: snapshot, now }),
    failure: undefined,
    progress: [],
  };
}

/** Returns what each set wants, or has to wait for. */
function safeWishes(group: CoordinationSnapshot, now: Instant): readonly Wish[] {
  const wishes = group.sets.map((set) => [set, wishOf(set, group, now)] as const);
  const wanted = new Map(
    wishes.flatMap(([{ set }, wish]) => (wish.kind === 'scale' ? [[set.uid, wish.scale.to]] : [])),
  );
  return wishes.map(([set, wish]) =>
    wish.kind === 'scale' ? safely(wish, set, { group, now, wanted }) : wish,
  );
}

function wishOf(snapshot: SetSnapshot, group: CoordinationSnapshot, now: Instant): Wish {
  const source = sourceOf(snapshot.set);
  if (source.kind === 'none' || snapshot.set.isDeleting) return settled;
  // Who rolls groups out says why.
  if (group.conflicts.has(snapshot.set.uid)) return settled;
  if (source.kind === 'conflicting') return hold(snapshot.set, conflict(snapshot));
  if (isTooLarge(snapshot.set)) return hold(snapshot.set, tooLarge(snapshot));
  const moment = { group, now };
  const wish =
    source.kind === 'leader'
      ? planFollower(snapshot, source.leader, moment)
      : planMirror(snapshot, source.reference, moment);
  return wish.kind === 'scale' && wish.scale.to > largestSet
    ? hold(snapshot.set, wantedTooLarge(wish.scale))
    : wish;
}

function conflict({ set }: SetSnapshot): ReturnType<typeof because> {
  const message =
    `StatefulSet "${set.name}" has both a leader and a resource to mirror in metadata.annotations; ` +
    'they would fight, so its replicas are left alone until one of them goes';
  return because('ConflictingSources', message);
}

/** What is not looked at once it is there must not be made: nothing would take it back (D-56, LIVE-3). */
function wantedTooLarge({ set, from, to }: Scale): ReturnType<typeof because> {
  const message = `${set.name} stays at ${from} replicas instead of ${to}, as no set of more than ${largestSet} is handled`;
  return because('SetTooLarge', message);
}

/** Before anything makes a list of its slots (D-56). */
function tooLarge({ set: { name, spec, status } }: SetSnapshot): ReturnType<typeof because> {
  const message =
    `StatefulSet "${name}" has ${Math.max(spec.replicas, status.replicas)} replicas, ` +
    `and no set of more than ${largestSet} is handled; its replicas are left alone`;
  return because('SetTooLarge', message);
}

/** Returns the one set that is scaled in this pass; followers go first, as they always did (SC-1). */
function chosenOf(wishes: readonly Wish[]): Scale | undefined {
  const scales = wishes.filter((wish) => wish.kind === 'scale');
  return (scales.find(({ isFollower }) => isFollower) ?? scales[0])?.scale;
}

function decisionsOf(wish: Wish, chosen: Scale | undefined): readonly Decision[] {
  if (wish.kind === 'settled') return [];
  if (wish.kind === 'hold') return [wish.hold];
  if (wish.scale === chosen || chosen === undefined) return [wish.scale];
  const { set, from, to } = wish.scale;
  const message = `${set.name} goes from ${from} to ${to} replicas after ${chosen.set.name}; one set is scaled at a time`;
  return [{ kind: 'hold', set, because: because('ScaleOrder', message) }];
}

function requeueOf(
  decisions: readonly Decision[],
  {
    wishes,
    releases,
  }: { readonly wishes: readonly Wish[]; readonly releases: readonly ReleasePlan[] },
  moment: CoordinationMoment,
): Requeue {
  const { now, group } = moment;
  const times = [
    ...[...group.references.values()].map(({ lookAgainAt: at }) =>
      at === undefined ? undefined : timeOf(moment, at),
    ),
    ...decisions.flatMap((each) => (each.kind === 'hold' ? [each.until] : [])),
    ...releases.flatMap(({ lookAgainAt }) => lookAgainAt),
    ...wishes.map(({ requeue }) => (requeue?.kind === 'at' ? requeue.at : undefined)),
  ].filter((at) => at !== undefined);
  const [first, ...rest] = times;
  if (first === undefined) return { kind: 'await-change' };
  const soonest = rest.reduce((one, other) => (other < one ? other : one), first);
  return { kind: 'at', at: soonest < now ? now : soonest };
}

/** Reports whether any set of the group takes its replicas from elsewhere, or has pods that did, so that there is something to plan. */
export function isCoordinated(sets: readonly SetSnapshot[]): boolean {
  return sets.some(({ set }) => sourceOf(set).kind !== 'none' || mayBePrepared(set));
}
