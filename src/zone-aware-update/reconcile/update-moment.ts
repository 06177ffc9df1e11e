import { alarmQuestionId } from '#check/cloudwatch/plan-alarm.ts';
import type { Credentials } from '#check/credentials/credentials.ts';
import type { OpenQuestions } from '#check/open-questions.ts';
import { questionId } from '#check/prometheus/ask-queries.ts';
import type { GroupBudgets, WantedDisruption } from '#control/budget/group-budgets.ts';
import type { NodeZoneProofs } from '#control/consistent-read/node-zone-proofs.ts';
import type { ResourceProofs } from '#control/consistent-read/resource-proofs.ts';
import {
  budgetHold,
  holdsOn,
  type LookedAt,
  namesOf,
  type SetHold,
} from '#control/plan/set-holds.ts';
import { isProven, leavingAt, neededSince, type WholeProof } from '#control/plan/set-proof.ts';
import { namedSet, type ResourceMomentPorts } from '#control/resource/resource-moment.ts';
import type { SetSnapshot } from '#control/watch/group-sets.ts';
import type { PodZones } from '#control/watch/pod-zones.ts';
import type { Permission } from '#disruption/decision/permission.ts';
import type { Informer } from '#kubernetes/informer/informer.ts';
import { parseObjectKey } from '#kubernetes/object-key.ts';
import { rivalOf } from '../owners.ts';
import { progressOf, type UpdateView } from '../parse-resource.ts';
import type { UpdatePlan } from '../plan/plan-decision.ts';
import { planZoneAwareUpdate } from '../plan.ts';
import type { BegunStep, GateKind, GateSight, UpdatedSet, UpdateSnapshot } from '../snapshot.ts';
import type { UpdateStatus } from '../status.ts';

/** What moments are made of. */
export interface UpdateMomentPorts extends ResourceMomentPorts {
  readonly updates: Informer<UpdateView>;
  readonly zones: PodZones;
  /** The proofs of ZoneAwareUpdates. */
  readonly proofs: ResourceProofs;
  readonly nodeZones: NodeZoneProofs;
  readonly budgets: GroupBudgets;
  readonly questions: Readonly<Record<GateKind, OpenQuestions>>;
  readonly credentials: Credentials;
}

/** A ZoneAwareUpdate as one instant shows it, taken in one synchronous step (D-49), and what it leads to. */
export interface UpdateMoment extends LookedAt {
  readonly update: UpdateView;
  readonly snapshot: UpdateSnapshot;
  /** By what the view of the set and its pods is proven. */
  readonly proof: WholeProof;
  /** Whether the resource itself is proven to be as it is shown. */
  readonly isResourceProven: boolean;
  /** Nodes of pods that the zone of a step goes by, and of which nothing proves their zones. */
  readonly unprovenNodes: readonly string[];
  readonly plan: UpdatePlan;
  /** Pods that the step would take, were there no budgets. */
  readonly wanted: readonly WantedDisruption[];
  /** What the budgets say to each of them, in their order. */
  readonly permissions: readonly Permission[];
}

const noneBegun: BegunStep = new Map();

/**
 * Returns the ZoneAwareUpdate `key` as it is now; undefined where there is none. Synchronous.
 *
 * @param begun what was sent of a step that is being sent: it is one decision, and its own first deletion does not forbid the second
 */
export function updateMomentOf(
  key: string,
  ports: UpdateMomentPorts,
  begun: BegunStep = noneBegun,
): UpdateMoment | undefined {
  const { clock, updates } = ports;
  const { namespace, name } = parseObjectKey(key);
  const update = updates.lister.get(namespace, name);
  if (update === undefined || update.isDeleting) return undefined;
  const at = { key, now: clock.now(), monotonic: clock.monotonic() };
  const setName = update.spec.kind === 'valid' ? update.spec.value.statefulSet : undefined;
  const { sets, proof } = namedSet(namespace, setName, ports);
  const [found] = sets;
  const target = found === undefined ? undefined : targetOf(found, begun, ports);
  const unbudgeted: UpdateSnapshot = {
    resource: { name, spec: update.spec, status: statusBefore(update) },
    target,
    rival: rivalOf(update, updates),
    conflicts: target === undefined ? [] : ports.owners.conflicts(target.set),
    holds: holdsOn({ ...at, sets, setNames: namesOf(setName) }, ports, () =>
      isInMotion(update, target),
    ),
    refusals: new Map(),
    gates: gatesOf(update, at, ports.questions),
    leaving: leavingAt(at.monotonic, ports),
    begun,
    stuckAfter: ports.stuckAfter,
    watched: ports.watched.of(sets),
  };
  const wanted = wantedBy(planZoneAwareUpdate(unbudgeted, at.now), target, begun);
  const permissions = ports.budgets.judge(wanted, at.now);
  const refusals = refusalsOf(wanted, permissions, at.now);
  const snapshot = { ...unbudgeted, refusals };
  const plan = planZoneAwareUpdate(snapshot, at.now);
  const going = plan.decisions.flatMap((each) => (each.kind === 'delete-pod' ? [each.pod] : []));
  const whole = {
    ...proof,
    budgets: ports.budgets.proof(key),
    neededSince: neededSince(going, at, ports),
  };
  const isResourceProven = ports.proofs.isProven(update, at.monotonic);
  const unprovenNodes = ports.nodeZones.unproven(nodesOf(plan, target), at.monotonic);
  const proven = { proof: whole, isResourceProven, unprovenNodes };
  return { ...at, update, snapshot, ...proven, plan, wanted, permissions };
}

/** Returns whether pods may go on what `moment` shows: the resource, the set and its pods, and the zones of these. */
export function isProvenMoment(moment: UpdateMoment): boolean {
  const { isResourceProven, unprovenNodes, proof, monotonic } = moment;
  return isResourceProven && unprovenNodes.length === 0 && isProven(proof, monotonic);
}

/** Returns the nodes of the pods that go, and of those that are not ready, which must be in the same zone. */
function nodesOf({ decisions }: UpdatePlan, target: UpdatedSet | undefined): ReadonlySet<string> {
  const going = new Set(
    decisions.flatMap((each) => (each.kind === 'delete-pod' ? [each.pod.uid] : [])),
  );
  if (going.size === 0 || target === undefined) return new Set();
  const counted = target.pods.filter(({ uid, unready }) => going.has(uid) || unready !== undefined);
  return new Set(counted.flatMap(({ nodeName }) => nodeName ?? []));
}

function targetOf(
  { set, pods }: SetSnapshot,
  begun: BegunStep,
  { zones }: UpdateMomentPorts,
): UpdatedSet {
  const known = [...pods, ...begun.values()].flatMap(({ uid, namespace, name, nodeName }) => {
    // Of the node of this very pod: the cache may still show the one before it.
    const zone = zones.zoneOn(namespace, name, nodeName);
    return zone === undefined ? [] : [[uid, zone] as const];
  });
  return { set, pods, zones: new Map(known) };
}

/** Returns the status as it is stored; the step that a dry run counted was none, so that the first real one takes few pods. */
function statusBefore(update: UpdateView): UpdateStatus {
  const { spec, status } = update;
  const isDryRun = spec.kind === 'valid' && spec.value.isDryRun;
  if (isDryRun || progressOf(update)?.['reason'] !== 'DryRun') return status;
  return { ...status, updateStep: 0, deletedReplicas: 0 };
}

/** Reports whether a process before this one may have been in the middle of a step. */
function isInMotion({ status }: UpdateView, target: UpdatedSet | undefined): boolean {
  if (target === undefined) return false;
  const { updateRevision } = target.set.status;
  return status.updateStep > 0 || target.pods.some(({ revision }) => revision !== updateRevision);
}

function gatesOf(
  { spec }: UpdateView,
  at: LookedAt,
  questions: UpdateMomentPorts['questions'],
): UpdateSnapshot['gates'] {
  const { alarm, query } =
    spec.kind === 'valid' ? spec.value : { alarm: undefined, query: undefined };
  return {
    alarm: sightOf(alarm === undefined ? '' : alarmQuestionId(alarm), at, questions.alarm),
    query: sightOf(query === undefined ? '' : questionId([query]), at, questions.query),
  };
}

function sightOf(
  id: string,
  { key, monotonic: steady }: LookedAt,
  questions: OpenQuestions,
): GateSight {
  const asked = questions.askedFor(key);
  const answer = questions.answerFor(key);
  return {
    steady,
    questionId: id,
    ...(asked !== undefined && { asked }),
    ...(answer !== undefined && { answer }),
  };
}

/** Returns the pods that `plan` deletes and that have not gone; one that is stuck costs no budget anything (D-48). */
function wantedBy(
  { decisions }: UpdatePlan,
  target: UpdatedSet | undefined,
  begun: BegunStep,
): WantedDisruption[] {
  const byUid = new Map(target?.pods.map((pod) => [pod.uid, pod]));
  return decisions.flatMap((each) => {
    if (each.kind !== 'delete-pod' || each.costs === 'nothing') return [];
    if (begun.has(each.pod.name)) return [];
    const pod = byUid.get(each.pod.uid);
    return pod === undefined ? [] : [{ pod, by: 'rollout', maxUnavailable: each.maxUnavailable }];
  });
}

function refusalsOf(
  wanted: readonly WantedDisruption[],
  permissions: readonly Permission[],
  now: UpdateMoment['now'],
): ReadonlyMap<string, SetHold> {
  return new Map(
    wanted.flatMap(({ pod }, at) => {
      const hold = budgetHold(permissions[at], now);
      return hold === undefined ? [] : [[pod.uid, hold] as const];
    }),
  );
}
