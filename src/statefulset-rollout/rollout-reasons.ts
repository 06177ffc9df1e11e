import { act, alarm, hold, type ReasonEntry, warn, wish } from '#control/decision/reason-entry.ts';
import type { ReportSubject } from '#control/decision/report-plan.ts';
import type { EventRecorder } from '#kubernetes/events/event-recorder.ts';
import { apiVersionOf, resourceTypes } from '#kubernetes/resource-type.ts';
import type { RolloutView } from './parse-resource.ts';
import type { RolloutReason } from './plan/plan-decision.ts';
import type { NoticeReason } from './plan/plan-notices.ts';

/** Returns the row of what ends a rollout; a new identity begins it again. */
function end(isTrueWhen: string, remedy: string): ReasonEntry {
  return warn(isTrueWhen, `${remedy} Another spec.rolloutIdentity starts over.`);
}

const awaitSelf = 'Wait; it takes a second or two.';

/** Why anything is done about a StatefulsetRollout, or is not. */
export const rolloutReasons: Readonly<
  Record<
    | RolloutReason
    | NoticeReason
    | 'AwaitingOwnWrite'
    | 'DecisionContested'
    | 'SemanticDiffIgnored'
    | 'PartialRolloutAging',
    ReasonEntry
  >
> = {
  FinalizerMissing: act(
    'The resource is new, and gets its finalizer before anything is done for it.',
  ),
  RolloutStarted: act('Another version, percentage or identity is wanted.'),
  RolloutResumed: act('spec.pauseRequested is false again.'),
  StatefulSetCreated: act('No set has the name yet, and it is created.'),
  StatefulSetUpdated: act('The set differs from the wanted one.'),
  StatefulSetScaled: act('Only the number of replicas differs.'),
  StatefulSetRecreated: act(
    'An immutable field is to change, and spec.immutableFieldPolicy is RecreateOrphan.',
  ),
  StatefulSetDeleted: act('The resource is deleted, and the set goes with it.'),
  StatefulSetReleased: act('The resource is deleted, and the set stays.'),
  StatefulSetDisowned: act(
    'spec.deletionPolicy is Orphan, and the set still has an owner reference, by which a foreground deletion of the resource would delete it.',
  ),
  PodsEvicted: act('Old pods of the wanted percentage go, as many as the budget allows.'),
  StuckPodReplaced: act('An old pod cannot become ready by itself.'),
  BrokenPodDeleted: act('A version is taken back, and a pod of it cannot become ready.'),
  CallingBack: act('The outcome is known, and spec.bapi or spec.callback names a receiver.'),
  PinSwitchedOn: act('spec.versionLeak.policy is Pin, and all pods run one version and are ready.'),
  PinSwitchedOff: act('spec.versionLeak.policy is not Pin any more.'),
  PartitionLowered: act('The next pods are let go; those below the partition stay pinned.'),
  PartitionRaised: act('Pods are pinned again: all of them at the end, or those to be taken back.'),
  PodsTakenBack: act('A pinned pod runs the new version, and spec.versionLeak.repair is true.'),
  RolloutDone: act('All pods of the wanted percentage are new and healthy.'),
  PercentBelowActual: {
    ...warn(
      'More pods are new than are wanted; they stay so.',
      'Nothing, or take the version back.',
    ),
    urgency: 'ordinary',
  },
  StatefulSetAdopted: act('The set existed before the resource, and belongs to it now.'),
  RollbackDetected: act(
    'The version that is wanted is older than the one that was rolled out last.',
  ),

  InvalidSpec: end('The spec cannot be read.', 'Correct the field that the message names.'),
  InvalidStatefulSet: end(
    'The API server would not accept the set.',
    'Correct what its answer names.',
  ),
  NamespaceMismatch: end(
    'The set is to be in a different namespace than the resource.',
    'Remove the namespace from the set.',
  ),
  StatefulSetOwnedByOther: end(
    'The set belongs to another owner, or to an older StatefulsetRollout.',
    'Delete one of the two.',
  ),
  ImmutableFieldChanged: end(
    'An immutable field of the set is to change.',
    'Take it back, or set spec.immutableFieldPolicy to RecreateOrphan.',
  ),
  ProgressDeadlineExceeded: end(
    'There was no progress for spec.progressDeadlineSeconds.',
    'The message says what was waited for.',
  ),
  RolloutTimeout: end(
    'The rollout took longer than spec.rolloutTimeoutSeconds.',
    'The message says what was waited for.',
  ),
  RolloutFailed: end('The rollout has failed.', 'The message says why.'),

  SetNotFound: alarm(
    'The rollout has ended well, and its set has been deleted since, or is being deleted.',
    'Set another spec.rolloutIdentity, which makes it again, or delete the resource.',
  ),
  ConflictingOwners: alarm(
    'Something else would roll out the same set.',
    'Delete one of the two; until then neither moves the set.',
  ),
  SetTooLarge: alarm('The set has more than 20000 replicas.', 'Correct its number of replicas.'),
  RevisionUnusable: alarm(
    'No pod can be created with the update revision of the set, as its name is too long for a label: it has the name of the set and up to ten characters more.',
    'Change the template again, which may give a shorter revision; a set with a shorter name never has this.',
  ),
  AwaitingComparison: hold('The set is being read.', awaitSelf),
  AwaitingValidation: hold('The API server is asked whether it accepts the set.', awaitSelf),
  AwaitingController: hold(
    'The StatefulSet controller has not observed the newest spec.',
    'Wait; if it lasts, check whether that controller runs.',
  ),
  AwaitingCurrentRevision: hold(
    'All pods are new, and the StatefulSet controller has not made their revision the current one.',
    'Wait; if it lasts, check whether all pods are ready, and whether that controller runs.',
  ),
  AwaitingDeletion: hold('The set is being deleted.', 'Look at its finalizers if it lasts.'),
  AwaitingPods: hold(
    'Pods are not ready yet.',
    'Look at the pods that the message names; going back to a former version brings back all of them at once.',
  ),
  AwaitingServiceDiscovery: hold(
    'Pods are ready, and service discovery does not pass them yet.',
    'Look at the checks of the services.',
  ),
  AwaitingInterval: hold('spec.minPodEvictionIntervalSeconds have not passed yet.', 'Wait.'),
  AwaitingBudgetStatus: hold(
    'The status of the budget describes an older version of it.',
    'Wait; if it lasts, check whether the disruption controller runs.',
  ),
  PDBBlocked: alarm(
    'The budget lets no pod go.',
    'Look at the budget that the message names. Pods that cannot become ready it lets go with `unhealthyPodEvictionPolicy: AlwaysAllow`.',
  ),
  ApiThrottled: alarm(
    'The API server asks for fewer requests.',
    'Wait; look at its load if it lasts.',
  ),
  EvictionForbidden: alarm(
    'The Role does not permit evictions.',
    'Permit create on pods/eviction.',
  ),
  MultipleBudgets: alarm(
    'More than one PodDisruptionBudget selects the pods.',
    'Let exactly one select them.',
  ),
  ConsulUnavailable: alarm('Consul cannot be queried.', 'Look at Consul, or at the network.'),
  ConsulPermissionDenied: alarm('Consul refuses the token.', 'Look at the ACLs of the token.'),
  ConsulUnknownDatacenter: alarm(
    'Consul does not know the datacenter.',
    'Correct spec.serviceDiscovery.dc.',
  ),
  RolloutPaused: wish('spec.pauseRequested is true.', 'Set it to false to go on.'),
  AwaitingCallback: alarm(
    'No call to the receiver has succeeded yet; it is called again.',
    'Look at the receiver; the rollout itself is over.',
  ),
  AwaitingPredecessor: hold(
    'A request that an earlier process sent may still arrive.',
    'Wait; the message says until when.',
  ),
  AwaitingAnswer: alarm('An eviction got no answer.', 'Wait at most 120 s.'),
  ViewNotFresh: alarm(
    'The view of the set and its pods cannot be proven to be at most 10 s old.',
    'Check whether the API server answers lists and watches of this operator.',
  ),
  DecisionContested: alarm(
    'Another client changes the status, or the StatefulSet, back as soon as it is stored.',
    'See in managedFields who writes it, and let only one of the two write.',
  ),
  AwaitingOwnWrite: alarm(
    'A write of this operator is not shown by its watch yet.',
    'Wait; if it lasts, check whether the API server answers watches of this operator.',
  ),
  RequestRefused: alarm(
    'The API server refuses a request that the next step needs.',
    'Look at the message; often a permission is missing.',
  ),
  BudgetRefused: alarm('A disruption budget does not let the pods go.', 'Look at the budget.'),
  BudgetUnclear: alarm(
    'It is unknown which budget governs the pods.',
    'Let exactly one select each pod.',
  ),
  CallbackFailed: warn(
    'The receiver could not be called back with the outcome of the rollout, and is not called again.',
    'Look at the message; with a new stage id the receiver is called again.',
  ),
  NotificationFailed: warn(
    'Slack refuses the messages of the rollout permanently; the rollout goes on.',
    'Look at the error of Slack in the message, then at the channel or the token.',
  ),
  CallbackSuperseded: warn(
    'Another rollout began before the receiver was called back with the outcome of the last one.',
    'Nothing; the receiver is called back with the outcome of the new one.',
  ),
  PinUnavailable: warn(
    'Pods are to be pinned, and cannot be: a lost one comes back on the newest version.',
    'Let a rollout reach 100 percent; before Kubernetes 1.29 see --pin-assume-patched.',
  ),
  SemanticDiffIgnored: warn(
    'A difference stays although it is written: the API server treats both values as equal.',
    'Write the fields that the message names as the API server stores them.',
  ),
  NoBudget: warn(
    'No PodDisruptionBudget selects the pods; reported once for each rollout.',
    'Create one, or set spec.maxParallelWithoutBudget.',
  ),
  OrderedReadyLimitsParallelism: warn(
    'The set recreates pods one after the other, so several stay away for long; reported once for each rollout.',
    'Recreate the set with podManagementPolicy Parallel.',
  ),
  AdoptedDuringRollingUpdate: warn(
    'The set was in the middle of an update of its own when it was adopted; that update stops.',
    'Nothing; the rollout finishes it up to its percentage.',
  ),
  PartialRollback: warn(
    'A version is taken back, and pods of it remain outside of the percentage.',
    'Set spec.percent to 100.',
  ),
  NewVersionStaged: warn(
    'The set has a new version at 0 percent: a pod that is lost comes back new.',
    'Raise spec.percent, or take the version back.',
  ),
  StalePodsLeft: warn(
    'The resource is deleted, the set stays, and some of its pods run an old version.',
    'Delete these pods, or set updateStrategy of the set to RollingUpdate.',
  ),
  VersionLeak: warn(
    'Pods that were lost came back on the new version before the rollout reached them.',
    'Finish the rollout, or take the version back.',
  ),
  ScaledByOther: warn(
    'Another client has scaled the set during a rollout, and the number of the resource has been written again.',
    'Scale by spec.statefulset.spec.replicas, or set spec.replicasOwnership to External.',
  ),
  PartialRolloutAging: warn(
    'A rollout has been left partial for longer than --partial-rollout-aging; reported daily.',
    'Finish the rollout, or take the version back.',
  ),
};

/** StatefulsetRollouts, as reports name them. */
export const ofStatefulsetRollouts: ReportSubject = {
  apiVersion: apiVersionOf(resourceTypes.statefulsetRollouts),
  kind: resourceTypes.statefulsetRollouts.kind,
  field: 'statefulsetrollout',
  reasons: rolloutReasons,
};

/** Records an Event about `rollout`; one that ended badly is a warning. */
export function tellRollout(
  { namespace, name, uid }: Pick<RolloutView, 'namespace' | 'name' | 'uid'>,
  because: { readonly reason: string; readonly message: string },
  events: EventRecorder,
): void {
  const { apiVersion, kind } = ofStatefulsetRollouts;
  const entry = Object.entries(rolloutReasons).find(([reason]) => reason === because.reason);
  const type = entry?.[1].kind === 'warn' ? 'Warning' : 'Normal';
  events.record({ about: { apiVersion, kind, namespace, name, uid }, type, ...because });
}
