import type { JsonObject } from '#base/json.ts';
import type { ResourceProofs } from '#control/consistent-read/resource-proofs.ts';
import { holdsOn, type LookedAt, namesOf } from '#control/plan/set-holds.ts';
import { leavingAt, type WholeProof } from '#control/plan/set-proof.ts';
import { namedSet, type ResourceMomentPorts } from '#control/resource/resource-moment.ts';
import type { SetSnapshot } from '#control/watch/group-sets.ts';
import type { Informer } from '#kubernetes/informer/informer.ts';
import { parseObjectKey } from '#kubernetes/object-key.ts';
import type { StatefulsetRolloutSpec } from '../api.ts';
import type { SlackHealth, SlackReports } from '../notification/slack-reports.ts';
import { isMarked, rivalOf } from '../owners.ts';
import { finalizer, isOrphaning, type RolloutView } from '../parse-resource.ts';
import type { RolloutPlan } from '../plan/plan-decision.ts';
import { isPinned } from '../plan/plan-pinned-set.ts';
import { planStatefulsetRollout } from '../plan.ts';
import { isTerminal } from '../progress.ts';
import {
  nothingElsewhere,
  type RolledSet,
  type RolloutSnapshot,
  type SetComparison,
} from '../snapshot.ts';
import type { PartitionWrites } from '../statefulset/partition-writes.ts';
import type { RevisionAges } from '../statefulset/revision-ages.ts';
import type { ServerVersion } from '../statefulset/server-version.ts';
import type { SetSights } from '../statefulset/set-sights.ts';
import type { DiscoveryPort } from './discovery-sight.ts';
import type { Evictions } from './evictions.ts';
import type { HeldTimes } from './held-times.ts';
import { type NativeBudgetView, selectingBudgets } from './native-budget.ts';
import { podsElsewhere } from './pods-elsewhere.ts';
import { type UnpinnedPod, type UnpinnedPorts, unpinnedOf, wholeProofOf } from './unpinned-pod.ts';

/** What moments are made of. */
export interface RolloutMomentPorts extends ResourceMomentPorts, UnpinnedPorts {
  readonly rollouts: Informer<RolloutView>;
  readonly budgets: Informer<NativeBudgetView>;
  /** Of StatefulsetRollouts. */
  readonly proofs: ResourceProofs;
  readonly partitions: PartitionWrites;
  readonly sights: SetSights;
  readonly ages: RevisionAges;
  readonly evictions: Evictions;
  readonly held: HeldTimes;
  readonly slack: Pick<SlackReports, 'healthOf' | 'recordOf'>;
  readonly version: ServerVersion;
  readonly discovery: DiscoveryPort;
}

/** A StatefulsetRollout as one instant shows it, taken in one synchronous step (D-49), and what it leads to. */
export interface RolloutMoment extends LookedAt {
  readonly rollout: RolloutView;
  readonly snapshot: RolloutSnapshot;
  /** By what the view of the set and its pods is proven. */
  readonly proof: WholeProof;
  readonly plan: RolloutPlan;
  readonly unpinned: UnpinnedPod;
  /** Revisions whose age the plan would need, and that has not been read. */
  readonly unreadRevisions: readonly string[];
  /** How Slack takes messages, as far as this process has sent some. */
  readonly slack: SlackHealth | undefined;
  /** Where messages of Slack are, if that is not stored yet. */
  readonly slackMessage: JsonObject | undefined;
}

/** The resource as it was when something was decided: the record of that decision, once it shows, does not forbid it. */
export type Decided = Pick<RolloutView, 'generation' | 'observedGeneration' | 'progress'>;

/** Returns the StatefulsetRollout `key` as it is now; undefined where there is none. Synchronous. */
export function rolloutMomentOf(
  key: string,
  ports: RolloutMomentPorts,
  decided?: Decided,
): RolloutMoment | undefined {
  const { clock, rollouts, owners, sights } = ports;
  const { namespace, name } = parseObjectKey(key);
  const rollout = rollouts.lister.get(namespace, name);
  if (rollout === undefined) return undefined;
  const at = { key, now: clock.now(), monotonic: clock.monotonic() };
  const setName = specOf(rollout)?.set.name;
  const { sets, proof } = namedSet(namespace, setName, ports);
  const [found] = sets;
  const { target, unreadRevisions } = targetOf(rollout, found, ports);
  const holds = holdsOn({ ...at, sets, setNames: namesOf(setName) }, ports, () =>
    isInMotion(rollout),
  );
  const unpinned = unpinnedOf(rollout.progress, target, { now: at.now, ports });
  const snapshot: RolloutSnapshot = {
    resource: resourceOf(rollout, decided),
    wanted: rollout.wanted,
    target,
    comparison: comparisonOf(rollout, target, ports),
    validation: sights.validation(rollout),
    owner: ownerOf(rollout, target, ports),
    conflicts: target === undefined ? [] : owners.conflicts(target.set),
    unknownOwners: owners.unknown(),
    evictions: ports.evictions.results(rollout.uid),
    budgets: budgetsOf(rollout, target, ports),
    elsewhere: elsewhereOf(rollout, target, { ...at, ports }),
    governance: unpinned.governance,
    pinSupport: ports.version.support,
    discovery: ports.discovery.sight(rollout, target?.pods ?? []),
    holds,
    heldUntil: ports.held.note(key, holds),
    leaving: leavingAt(at.monotonic, ports),
    watched: ports.watched.of(sets),
    stuckAfter: ports.stuckAfter,
  };
  const plan = planStatefulsetRollout(snapshot, at.now);
  const whole = wholeProofOf({ proof, action: plan.action, unpinned }, at, ports);
  const slack = ports.slack.healthOf(rollout);
  const slackMessage = ports.slack.recordOf(rollout);
  const shown = { rollout, snapshot, plan, unpinned, unreadRevisions, slack, slackMessage };
  return { ...at, ...shown, proof: whole };
}

/** Reports whether a process before this one may have been in the middle of it. */
function isInMotion({ progress }: RolloutView): boolean {
  return progress.phase !== undefined && !isTerminal(progress.phase);
}

/** Returns what the resource wants; undefined where that cannot be read. */
export function specOf({ spec }: RolloutView): StatefulsetRolloutSpec | undefined {
  return spec.kind === 'valid' ? spec.value : undefined;
}

function resourceOf(
  rollout: RolloutView,
  decided: Decided | undefined,
): RolloutSnapshot['resource'] {
  const { namespace, name, generation, isDeleting, spec } = rollout;
  // An edit since then is a reason to decide again.
  const { observedGeneration, progress } = decided?.generation === generation ? decided : rollout;
  return {
    namespace,
    name,
    generation,
    isDeleting,
    spec,
    observedGeneration,
    progress,
    hasFinalizer: rollout.finalizers.includes(finalizer),
    isOrphaning: isOrphaning(rollout),
  };
}

function targetOf(
  rollout: RolloutView,
  found: SetSnapshot | undefined,
  { ages }: RolloutMomentPorts,
): { readonly target: RolledSet | undefined; readonly unreadRevisions: readonly string[] } {
  if (found === undefined) return { target: undefined, unreadRevisions: [] };
  const { set, pods } = found;
  const { targetRevision } = rollout.progress;
  const { updateRevision } = set.status;
  const isRollback = ages.isOlder(set.namespace, updateRevision, targetRevision);
  const unreadRevisions = isRollback === undefined ? [updateRevision, targetRevision] : [];
  const target: RolledSet = {
    set,
    pods,
    isOurs: isMarked(set, rollout),
    isControlled: set.controllerUid === rollout.uid,
    isRollback: isRollback === true,
  };
  return { target, unreadRevisions };
}

function comparisonOf(
  rollout: RolloutView,
  target: RolledSet | undefined,
  { sights }: RolloutMomentPorts,
): SetComparison {
  return target === undefined ? { kind: 'unread' } : sights.comparison(rollout, target.set);
}

function ownerOf(
  rollout: RolloutView,
  target: RolledSet | undefined,
  { rollouts }: RolloutMomentPorts,
): string | undefined {
  const rival = rivalOf(rollout, target?.set, rollouts);
  if (rival !== undefined || target === undefined) return rival;
  const { controllerUid, controllerName } = target.set;
  return controllerUid === rollout.uid ? undefined : controllerName;
}

/** Returns the pods of other sets that are away; those that go by evictions alone are counted by their budgets. */
function elsewhereOf(
  { progress }: RolloutView,
  target: RolledSet | undefined,
  {
    now,
    monotonic,
    ports,
  }: Pick<RolloutMoment, 'now' | 'monotonic'> & {
    readonly ports: RolloutMomentPorts;
  },
): RolloutSnapshot['elsewhere'] {
  if (target === undefined || !isPinned(progress, target.set)) return nothingElsewhere;
  return podsElsewhere(target.set, { now, monotonic }, ports);
}

/** Returns the budgets of the template that is wanted: a set that is not there yet has some, too. */
function budgetsOf(
  rollout: RolloutView,
  target: RolledSet | undefined,
  { budgets }: RolloutMomentPorts,
): RolloutSnapshot['budgets'] {
  if (target === undefined) return [];
  const all = [...budgets.lister.list()].filter(({ namespace }) => namespace === rollout.namespace);
  return selectingBudgets(all, target.set.spec.templateLabels);
}
