import { act, alarm, hold, type ReasonEntry, warn, wish } from '#control/decision/reason-entry.ts';
import type { ReportSubject } from '#control/decision/report-plan.ts';
import { apiVersionOf, resourceTypes } from '#kubernetes/resource-type.ts';
import type { PhasedReason } from './plan/plan-decision.ts';

/** Why anything is done about a PhasedRollout, or is not, as `docs/reasons.md` shows it. */
export const phasedReasons: Readonly<Record<PhasedReason | 'AwaitingOwnWrite', ReasonEntry>> = {
  FinalizerMissing: act('The PhasedRollout has no finalizer yet, without which it owns no set.'),
  Adopted: act('The annotation of the set names no existing PhasedRollout that targets it.'),
  UpdatesBlocked: act(
    'Nothing is being rolled out, and the partition does not block the next update.',
  ),
  RolloutStarted: act('The set has a new update revision.'),
  RevisionChanged: act('The template was changed again in the middle of a rollout.'),
  RolloutResumed: act(
    'The set was made again over its pods in the middle of a rollout, and some of them run the new revision already.',
  ),
  SetShrunk: act('The set has fewer replicas than its partition says.'),
  CheckDue: act('The delay, or the period, before the next check is over.'),
  CheckPassed: act('As many checks in a row have passed as spec.check.successThreshold says.'),
  RevisionReverted: act(
    'The template was taken back, and pods run the revision that was given up.',
  ),
  StuckPodReplaced: act(
    'A pod cannot become ready by itself, and the pod in its place will run another revision.',
  ),
  WithinStep: act(
    'All pods are available, and the checks have passed for as many pods as spec.stepSize says.',
  ),
  RollingBack: act(
    'Checks have failed as often as spec.check.failureBudget says, or a pod of the new revision is stuck, with onFailure: Rollback.',
  ),
  RolloutCompleted: act('Every pod of the set runs its update revision.'),
  Suspended: act('spec.standardRollingUpdate is true: updates roll without checks.'),
  SuspensionTakenBack: act(
    'A request that lifted the gate took effect while spec.standardRollingUpdate was false; it was sent while that was still true, or by an earlier process.',
  ),
  Released: act('The PhasedRollout is deleted, or targets another set.'),

  SetNotFound: alarm(
    'No StatefulSet has the name in spec.targetRef, or the one that has it is being deleted.',
    'Create it, or correct spec.targetRef.',
  ),
  InvalidSpec: alarm(
    'The spec cannot be read; it was stored without validation by the webhook.',
    'Correct the field that the message names.',
  ),
  SetTooLarge: alarm(
    'The set has more than 20000 replicas, more than this operator handles.',
    'Correct spec.replicas of the set.',
  ),
  ConflictingOwners: alarm(
    'Another kind of resource would move the same set.',
    'Delete one of the two; until then neither moves the set.',
  ),
  OwnedByAnother: alarm(
    'Another PhasedRollout targets the same set, and was there first.',
    'Delete one of the two.',
  ),
  WrongUpdateStrategy: alarm(
    'The set has an update strategy other than RollingUpdate.',
    'Set spec.updateStrategy.type of the set to RollingUpdate.',
  ),
  CannotManage: warn(
    'The set cannot be rolled out by this PhasedRollout; the message says why.',
    'As for the reason that is reported with it.',
  ),
  RevisionMissing: alarm(
    'The status of the set lacks its current or its update revision.',
    'Wait for the StatefulSet controller; if it lasts, check whether that controller runs.',
  ),
  RevisionUnusable: alarm(
    'No pod can be created with the update revision of the set, as its name is too long for a label: it has the name of the set and up to ten characters more.',
    'Change the template again, which may give a shorter revision; a set with a shorter name never has this.',
  ),
  RevisionUnknown: hold(
    'The StatefulSet controller has not yet observed the newest spec of the set.',
    'Wait for the StatefulSet controller; if it lasts, check whether that controller runs.',
  ),
  AwaitingPod: hold(
    'The pod that was let go last does not run the new revision yet.',
    'Wait; if it lasts, look at the pod that the message names.',
  ),
  AwaitingAvailability: hold(
    'Not all pods of the set are available, so no analysis begins and no pod goes.',
    'Look at the pods that the message names; a corrected template reaches those that cannot become ready by themselves.',
  ),
  StuckPodKept: alarm(
    'A pod cannot become ready by itself, and the pod that would be made in its place may run the same revision.',
    'Correct the template, or delete the pod if a new one of the same revision helps.',
  ),
  InitialDelay: hold(
    'All pods are available, and spec.check.initialDelaySeconds have not passed yet.',
    'Wait; the message says until when.',
  ),
  AwaitingCheck: hold(
    'The next check is in progress, or is not due yet.',
    'Wait; status.rollingPodStatus has what was counted.',
  ),
  CheckFailed: alarm(
    'Checks have failed as often as spec.check.failureBudget says: no more checks are made, and no more pods go.',
    'Look at what the queries show; correct the template, or raise spec.check.failureBudget to go on.',
  ),
  RolledBack: alarm(
    'The update has failed, spec.check.failureBudget.onFailure is Rollback, and every pod runs the previous revision again.',
    'Correct the template; `kubectl rollout restart` tries the same one once more.',
  ),
  DryRun: wish(
    'spec.dryRun is true: the message says what would be done otherwise.',
    'Set spec.dryRun to false to have it done.',
  ),
  // Ordinary, as the planner reports it by an Event of its own, as the peer does.
  PrometheusConfigError: hold(
    'Prometheus cannot be asked, as its URL is invalid, or its credentials are missing or contradict one another.',
    'Correct what the message names; it is looked at again every 5 s.',
  ),
  AwaitingPromotion: hold(
    'All pods are let go, and the StatefulSet controller has not promoted the revision yet.',
    'Wait until all pods are ready.',
  ),
  GateBypassed: alarm(
    'Another client has lowered the partition in the middle of a rollout, so that pods go without a check; it is not taken back.',
    'See whether these pods serve. Put the former template back where they do not, and leave spec.updateStrategy to this operator in whatever the message names.',
  ),
  AwaitingPredecessor: hold(
    'A request that an earlier process sent may still arrive, so no pod is let go.',
    'Wait; the message says until when. An operator that shuts down cleanly spares its successor the wait.',
  ),
  AwaitingAnswer: alarm(
    'A deletion got no answer, so it counts as done until the pod shows otherwise.',
    'Wait at most 120 s.',
  ),
  ViewNotFresh: alarm(
    'The view of the set and its pods cannot be proven to be at most 10 s old, or has not been kept up to date for 30 s.',
    'Check whether the API server answers lists and watches of this operator.',
  ),
  PartitionContested: alarm(
    'Another client keeps setting the partition back; it is written again at growing intervals.',
    'Remove the partition from whatever else writes the StatefulSet, such as a manifest that is applied repeatedly.',
  ),
  WriteContested: alarm(
    'Another client keeps undoing what this operator writes on the set or on the PhasedRollout; it is written again at growing intervals.',
    'Find out what else writes the annotation, the finalizer or the status that the message names, and stop it.',
  ),
  AwaitingOwnWrite: alarm(
    'A write of this operator is not shown by its watch yet.',
    'Wait; if it lasts, check whether the API server answers watches of this operator.',
  ),
  RequestRefused: alarm(
    'The API server refuses a request that the next step needs; it is retried at growing intervals.',
    'Look at the message; often a permission is missing.',
  ),
  BudgetRefused: hold(
    'A disruption budget refuses that the next pod goes.',
    'Look at the budget that the message names.',
  ),
  BudgetUnclear: alarm(
    'It is unknown which disruption budget governs the next pod, or which disruptions that budget has granted.',
    'Let exactly one ZoneAwarePodDisruptionBudget select the pod.',
  ),
};

/** PhasedRollouts, as reports name them. */
export const ofPhasedRollouts: ReportSubject = {
  apiVersion: apiVersionOf(resourceTypes.phasedRollouts),
  kind: resourceTypes.phasedRollouts.kind,
  field: 'phasedrollout',
  reasons: phasedReasons,
};
