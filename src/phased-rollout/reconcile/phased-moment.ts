import { problemText } from '#base/parsed.ts';
import type { Instant, Monotonic } from '#base/units.ts';
import type { Credentials } from '#check/credentials/credentials.ts';
import { secretProblem } from '#check/credentials/secured-query.ts';
import type { OpenQuestions } from '#check/open-questions.ts';
import type { SeenStates } from '#check/seen-states.ts';
import type { GroupBudgets, WantedDisruption } from '#control/budget/group-budgets.ts';
import { podRef } from '#control/decision/refs.ts';
import {
  budgetHold,
  holdsOn,
  type LookedAt,
  type LookedAtSet,
  namesOf,
} from '#control/plan/set-holds.ts';
import { leavingAt, neededSince, type WholeProof } from '#control/plan/set-proof.ts';
import { namedSet, type ResourceMomentPorts } from '#control/resource/resource-moment.ts';
import type { SetSnapshot } from '#control/watch/group-sets.ts';
import type { Permission } from '#disruption/decision/permission.ts';
import type { Informer } from '#kubernetes/informer/informer.ts';
import { objectKey, parseObjectKey } from '#kubernetes/object-key.ts';
import type { PodView } from '#statefulset/view.ts';
import type { PhasedRolloutSpec } from '../api.ts';
import { finalizer, ownerAnnotation, type RolloutView } from '../parse-resource.ts';
import { nextToGo } from '../plan/let-go.ts';
import type { BecauseUnaskable, RememberedCheck } from '../plan/plan-decision.ts';
import { gateStateOf } from '../plan/plan-gate.ts';
import type { DisruptionHold, GateSight, PhasedSnapshot, TargetSet } from '../snapshot.ts';
import { gateQueries } from '../spec/gate-queries.ts';
import type { LiftedGates } from './lifted-gates.ts';
import { indexes } from './phased-indexes.ts';

/** What moments are made of. */
export interface PhasedMomentPorts extends ResourceMomentPorts {
  readonly rollouts: Informer<RolloutView>;
  readonly budgets: GroupBudgets;
  readonly questions: OpenQuestions;
  readonly lifted: LiftedGates;
  readonly seen: SeenStates;
  readonly credentials: Credentials;
  /** What the last plan of this process remembered, by key. */
  readonly memories: ReadonlyMap<string, RememberedCheck>;
}

/** A PhasedRollout as one instant shows it, taken in one synchronous step (D-49). */
export interface PhasedMoment extends LookedAt {
  readonly rollout: RolloutView;
  readonly snapshot: PhasedSnapshot;
  /** By what the view of the set and its pods is proven. */
  readonly proof: WholeProof;
  /** The pod that goes next; undefined where none does. */
  readonly next: PodView | undefined;
  /** What the budgets say to that pod; undefined where none goes. */
  readonly permission: Permission | undefined;
}

/** Returns the PhasedRollout `key` as it is now; undefined where there is none. Synchronous. */
export function phasedMomentOf(key: string, ports: PhasedMomentPorts): PhasedMoment | undefined {
  const { clock, rollouts } = ports;
  const { namespace, name } = parseObjectKey(key);
  const rollout = rollouts.lister.get(namespace, name);
  if (rollout === undefined) return undefined;
  const at = { key, now: clock.now(), monotonic: clock.monotonic() };
  const targetName = targetRefOf(rollout);
  const { sets, proof } = namedSet(namespace, targetName, ports);
  const former = formerOf(rollout, ports);
  const setNames = [...namesOf(targetName), ...former.map(({ set }) => set.name)];
  const seen = { ...at, sets, setNames };
  const [found] = sets;
  const target = found === undefined ? undefined : targetOf(found);
  const resource = {
    name,
    isDeleting: rollout.isDeleting,
    hasFinalizer: rollout.finalizers.includes(finalizer),
    spec: rollout.spec,
    status: rollout.status,
  };
  const next = target === undefined ? undefined : nextToGo(target, rollout.status);
  const permission = permissionOf(next, at.now, ports.budgets);
  const holds = [...holdsOf(rollout, seen, ports), ...budgetHolds(permission, at.now)];
  if (target !== undefined) noteAwaited(target, { ...seen, rollout }, ports);
  const takenBack = target && ports.lifted.takenBack(target, isLiftWanted(rollout));
  const snapshot: PhasedSnapshot = {
    resource,
    target,
    former,
    others: othersOf(rollout, target, ports),
    conflicts: target === undefined ? [] : ports.owners.conflicts(target.set),
    isGoverned: permission !== undefined && permission.kind !== 'ungoverned',
    holds,
    ...(takenBack !== undefined && { takenBack }),
    gate: gateOf({ resource, target }, { ...at, rollout }, ports),
    leaving: leavingAt(at.monotonic, ports),
    stuckAfter: ports.stuckAfter,
    watched: ports.watched.of(sets),
  };
  const budgets = ports.budgets.proof(key);
  const since = neededSince(next === undefined ? [] : [podRef(next)], at, ports);
  const whole = { ...proof, budgets, neededSince: since };
  return { ...at, rollout, snapshot, proof: whole, next, permission };
}

/** Notes whether an earlier process has to be waited for, which is known once the holds of the moment are. */
function noteAwaited(
  target: TargetSet,
  { rollout: { status }, ...at }: LookedAtSet & Pick<PhasedMoment, 'rollout'>,
  { predecessor, lifted }: PhasedMomentPorts,
): void {
  const until = predecessor.until(at);
  if (until === undefined) return;
  const isFollowed =
    status.phase === 'Rolling' && status.updateRevision === target.set.status.updateRevision;
  lifted.awaited(target, { followed: isFollowed ? status.step?.partition : undefined, until });
}

function isLiftWanted({ spec, isDeleting }: RolloutView): boolean {
  return isDeleting || (spec.kind === 'valid' && spec.value.standardRollingUpdate);
}

function targetOf({ set, pods }: Pick<SetSnapshot, 'set' | 'pods'>): TargetSet {
  return { set, pods, owner: set.annotations[ownerAnnotation] };
}

/** Sets that are released need no pods: nothing is known of them, and nothing is asked. */
function formerOf(rollout: RolloutView, { statefulSets }: PhasedMomentPorts): readonly TargetSet[] {
  const { spec, isDeleting } = rollout;
  // Which set an unreadable spec names is unknown: none is given up before the object goes.
  if (spec.kind === 'invalid' && !isDeleting) return [];
  const target = targetRefOf(rollout);
  return statefulSets.lister
    .by(indexes.owner, objectKey(rollout))
    .filter((set) => set.name !== target)
    .map((set) => targetOf({ set, pods: [] }));
}

function targetRefOf({ spec }: RolloutView): string | undefined {
  return spec.kind === 'valid' ? spec.value.targetRef : undefined;
}

function othersOf(
  { namespace, name }: RolloutView,
  target: TargetSet | undefined,
  { rollouts }: PhasedMomentPorts,
): PhasedSnapshot['others'] {
  const owner = target?.owner;
  if (owner === undefined || owner === name) return [];
  const other = rollouts.lister.get(namespace, owner);
  if (other === undefined) return [];
  return [{ name: owner, targetRef: targetRefOf(other) ?? '' }];
}

function permissionOf(
  pod: PodView | undefined,
  now: Instant,
  budgets: GroupBudgets,
): Permission | undefined {
  return pod === undefined ? undefined : budgets.judge([wantedOf(pod)], now)[0];
}

/** Returns the disruption that letting `pod` go is. */
export function wantedOf(pod: PodView): WantedDisruption {
  return { pod, by: 'rollout', maxUnavailable: 1 };
}

function holdsOf(
  rollout: RolloutView,
  at: LookedAtSet,
  ports: PhasedMomentPorts,
): readonly DisruptionHold[] {
  const isInMotion = (): boolean => rollout.status.phase === 'Rolling';
  return holdsOn(at, ports, isInMotion).map((hold) => ({ kind: 'view', ...hold }));
}

function budgetHolds(permission: Permission | undefined, now: Instant): readonly DisruptionHold[] {
  const hold = budgetHold(permission, now);
  return hold === undefined ? [] : [{ kind: 'budget', ...hold }];
}

function gateOf(
  { resource, target }: Pick<PhasedSnapshot, 'resource' | 'target'>,
  { key, monotonic: steady, rollout }: Pick<PhasedMoment, 'key' | 'monotonic' | 'rollout'>,
  { questions, seen, credentials, memories }: PhasedMomentPorts,
): GateSight {
  const { spec } = resource;
  if (spec.kind === 'invalid') return { steady, known: knownAt(steady), questionId: '' };
  const { id } = gateQueries(spec.value);
  const memory = memories.get(key);
  const remembered = memory === undefined ? {} : { memory };
  const state = gateStateOf({ resource, target, gate: remembered });
  const subject = state?.subject;
  const asked = subject === undefined ? undefined : { subject, id };
  const answer = questions.answerFor(key);
  const problem = problemOf(spec.value, rollout.namespace, credentials);
  return {
    steady,
    known: state === undefined ? knownAt(steady) : seen.see(key, state),
    questionId: id,
    ...remembered,
    ...(problem !== undefined && { problem }),
    ...(asked !== undefined && questions.isAsked(key, asked) && { asked }),
    ...(answer !== undefined && { answer }),
  };
}

function knownAt(steady: Monotonic): GateSight['known'] {
  return { began: steady, lastAnswer: steady, lastError: steady };
}

/** Returns why nothing can be asked, as far as is known: a Secret that was not read yet is no problem. */
function problemOf(
  spec: PhasedRolloutSpec,
  namespace: string,
  credentials: Credentials,
): BecauseUnaskable | undefined {
  const { urlProblem, queries } = gateQueries(spec);
  if (urlProblem !== undefined) return unaskable(urlProblem);
  const [problem] = queries.flatMap((each) => secretProblem(each, namespace, credentials) ?? []);
  return problem === undefined ? undefined : unaskable(problemText(problem));
}

function unaskable(message: string): BecauseUnaskable {
  return { reason: 'PrometheusConfigError', message };
}
