import type { Because } from '#base/because.ts';
import { formatUtcSeconds } from '#base/time/utc-seconds.ts';
import { after, type Instant, monotonic, seconds } from '#base/units.ts';
import {
  type Decision,
  isDisruptive,
  type Plan,
  type PodRef,
  type Requeue,
} from '../decision/decision.ts';
import type { Reason } from '../decision/reasons.ts';
import { because, setRef } from '../decision/refs.ts';
import type { OtherOwners } from '../watch/owners-of-sets.ts';
import type { StrayPods } from '../watch/stray-pods.ts';
import { isUnderWay, nextProbeOf, stalenessOf, type WatchedViews } from '../watch/watched-views.ts';
import { answerPatience, type OpenDisruptions } from '../write/open-disruptions.ts';
import type { Refusals } from '../write/refusals.ts';
import { type GroupMoment, instantOf } from './group-moment.ts';
import { sooner } from './group-plan.ts';
import { type HeldBack, type Hold, holdOf, withHeldBack } from './held-back.ts';
import type { PredecessorWait } from './predecessor-wait.ts';
import { disrupts } from './proof-demand.ts';

/** What may hold a plan that no capability knows of. */
export interface GroupHoldPorts extends WatchedViews {
  readonly open: OpenDisruptions;
  readonly predecessor: PredecessorWait;
  readonly refusals: Refusals;
  /** What names sets besides their groups. */
  readonly owners: OtherOwners;
  readonly strays: Pick<StrayPods, 'of'>;
}

interface Question {
  readonly moment: GroupMoment;
  readonly ports: GroupHoldPorts;
}

/** Something that keeps decisions back. */
interface Obstacle extends Pick<HeldBack, 'keepsBack'> {
  /** Why what it keeps back is not carried out now; undefined when it may be. */
  readonly reason: (question: Question) => Pick<HeldBack, 'until' | 'because'> | undefined;
}

/** How soon an API server that does not answer is asked again. */
const probeAgainAfter = seconds(5);
/** A probe that gave no answer is not repeated more often. */
const shortestPause = seconds(1);

/** The first that answers holds what it is about. */
const obstacles: readonly Obstacle[] = [
  { keepsBack: isDisruptive, reason: awaitingPredecessor },
  { keepsBack: isDisruptive, reason: ownersUnknown },
  { keepsBack: takesServing, reason: strayPods },
  { keepsBack: ({ kind }) => kind === 'delete-pod', reason: refused },
];

/**
 * Returns `plan` with what holds it back: where it disrupts, a reason in place of what it would do; and deletions without an
 * answer, which are settled by time at the latest (D-7, LIVE-2).
 */
export function withHolds(plan: Plan, moment: GroupMoment, ports: GroupHoldPorts): Plan {
  for (const { keepsBack, reason } of obstacles) {
    if (!plan.decisions.some(keepsBack)) continue;
    const held = reason({ moment, ports });
    if (held !== undefined) return withHeldBack(plan, { keepsBack, ...held });
  }
  const stale = withStaleness(plan, moment, ports);
  return withHorizon(withSlowAnswers(stale, moment, ports), moment, ports);
}

/**
 * Returns `plan`, looked at again when it is worth asking whether the server still answers; and while the caches may lack
 * what the server has, with that as the first reason of what is waited for (D-54). What disrupts rests on a proof of its
 * own.
 */
function withStaleness(plan: Plan, moment: GroupMoment, ports: GroupHoldPorts): Plan {
  if (!isUnderWay(plan)) return plan;
  const looked: Plan = { ...plan, requeue: sooner(plan.requeue, nextSign(moment, ports)) };
  const why = stalenessOf(ports);
  const set = plan.decisions.find(({ kind }) => kind === 'hold')?.set;
  if (why === undefined || set === undefined || disrupts(plan)) return looked;
  return { ...looked, decisions: [holdOf(set, because('ViewNotFresh', why)), ...plan.decisions] };
}

/** Returns why nothing is disrupted after a failure just now: what failed is not repeated on every change of the world. */
function refused({ moment, ports }: Question): ReturnType<Obstacle['reason']> {
  const refusal = ports.refusals.of(moment.key, moment.monotonic);
  if (refusal === undefined) return undefined;
  return { until: instantOf(refusal.until, moment), because: refusal.because };
}

/** Returns why nothing is disrupted while an earlier process may have a request under way that arrives late (D-50). */
function awaitingPredecessor({ moment, ports }: Question): ReturnType<Obstacle['reason']> {
  const until = ports.predecessor.until(moment);
  if (until === undefined) return undefined;
  const at = instantOf(until, moment);
  const message =
    'nothing is disrupted yet, as a request that an earlier process sent may still arrive: ' +
    `waiting until ${formatUtcSeconds(at)}`;
  return { until: at, because: because('AwaitingPredecessor', message) };
}

/** Reports whether `decision` takes pods that may serve: one that is stuck serves nothing, and is replaced (D-48). */
function takesServing(decision: Decision): boolean {
  const isStuck = decision.kind === 'delete-pod' && decision.costs === 'nothing';
  return isDisruptive(decision) && !isStuck;
}

/** Returns why nothing is disrupted while pods of the group are left that no set of it has: nobody makes those again. */
function strayPods({ moment, ports }: Question): ReturnType<Obstacle['reason']> {
  const clauses = ports.strays.of(moment.key, moment.sets);
  if (clauses.length === 0) return undefined;
  const message = `another zone may be incomplete, as ${clauses.join('; ')}: waiting until a StatefulSet of the group has them, or they are gone`;
  return { because: because('PodsWithoutSet', message) };
}

/** Returns why nothing is disrupted while it is being read what else may name a set (D-63). */
function ownersUnknown({ ports }: Question): ReturnType<Obstacle['reason']> {
  const why = ports.owners.unknown();
  return why === undefined ? undefined : { because: because('ViewNotFresh', why) };
}

/** Returns the warnings of `plan`, and one hold in place of all else; itself when it is about no set. */
export function heldPlan(plan: Plan, why: Because<Reason>): Plan {
  const set = plan.decisions.find(isDisruptive)?.set ?? plan.progress[0]?.set;
  if (set === undefined) return plan;
  const warnings = plan.decisions.filter(({ kind }) => kind === 'warn');
  return { ...plan, decisions: [...warnings, holdOf(set, why)] };
}

/** Returns when to ask again whether the server answers: not at once where it has just not done so. */
function nextSign(moment: GroupMoment, ports: GroupHoldPorts): Requeue {
  const next = nextProbeOf(ports);
  if (!Number.isFinite(next)) return { kind: 'await-change' };
  const pause = stalenessOf(ports) === undefined ? shortestPause : probeAgainAfter;
  const at = monotonic(Math.max(next, moment.monotonic + pause));
  return { kind: 'at', at: instantOf(at, moment) };
}

/**
 * Returns `plan`, looked at again at the latest when a deletion without an answer is settled by time, and with that as the
 * reason where nothing else is done.
 */
function withHorizon(plan: Plan, moment: GroupMoment, { open }: GroupHoldPorts): Plan {
  const isMine = ownerIn(moment);
  const horizon = open.nextHorizon(isMine);
  if (horizon === undefined) return plan;
  const at = instantOf(horizon, moment);
  const decisions = disrupts(plan)
    ? plan.decisions
    : [...awaitedAnswers(at, moment, open), ...plan.decisions];
  return { ...plan, decisions, requeue: sooner(plan.requeue, { kind: 'at', at }) };
}

/**
 * Returns `plan`, looked at again when a deletion has been under way for 10 s, and from then on with that as the reason
 * where nothing else is done: what it has not taken yet looks as if it were there, and counts as gone (D-53).
 */
function withSlowAnswers(plan: Plan, moment: GroupMoment, { open }: GroupHoldPorts): Plan {
  const isMine = ownerIn(moment);
  if (disrupts(plan)) {
    // What it sends is under way from now on, or later.
    const at = after(moment.now, answerPatience);
    return { ...plan, requeue: sooner(plan.requeue, { kind: 'at', at }) };
  }
  const next = open.nextSlow(moment.monotonic, isMine);
  const requeue =
    next === undefined
      ? plan.requeue
      : sooner(plan.requeue, { kind: 'at', at: instantOf(next, moment) });
  const slow = open.slowPods(moment.monotonic, isMine);
  const what = 'has not been answered for more than 10 s';
  return { ...plan, decisions: [...awaited(slow, what, moment), ...plan.decisions], requeue };
}

function awaitedAnswers(
  until: Instant,
  moment: GroupMoment,
  open: OpenDisruptions,
): readonly Decision[] {
  const pods = open.unansweredPods(ownerIn(moment));
  return awaited(pods, 'got no answer', moment).map((hold) => ({ ...hold, until }));
}

/** Returns one hold for each set with pods among `deleted`. @param what as in `the deletion of x got no answer` */
function awaited(deleted: readonly PodRef[], what: string, { sets }: GroupMoment): readonly Hold[] {
  if (deleted.length === 0) return [];
  const uids = new Set(deleted.map(({ uid }) => uid));
  return sets.flatMap(({ set, pods }) => {
    const names = pods.filter((pod) => uids.has(pod.uid)).map((pod) => pod.name);
    if (names.length === 0) return [];
    const message = `the deletion of ${names.join(', ')} ${what}, so it may still happen`;
    return [holdOf(setRef(set), because('AwaitingAnswer', message))];
  });
}

/** Tells the pods of `moment`; what that takes is made when the first is asked about, which is seldom. */
function ownerIn({ sets }: GroupMoment): (pod: PodRef) => boolean {
  let uids: ReadonlySet<string> | undefined;
  return (pod) => {
    uids ??= new Set(sets.flatMap(({ pods }) => pods.map(({ uid }) => uid)));
    return uids.has(pod.uid);
  };
}
