import { act, alarm, hold, type ReasonEntry, wish } from '#control/decision/reason-entry.ts';
import type { ReportSubject } from '#control/decision/report-plan.ts';
import type { EventRecorder } from '#kubernetes/events/event-recorder.ts';
import { apiVersionOf, resourceTypes } from '#kubernetes/resource-type.ts';
import type { UpdateView } from './parse-resource.ts';
import type { UpdateReason } from './plan/plan-decision.ts';

/** Why anything is done about a ZoneAwareUpdate, or is not, as `docs/reasons.md` shows it. */
export const updateReasons: Readonly<
  Record<UpdateReason | 'AwaitingOwnWrite' | 'AlarmWithoutData' | 'RevisionContested', ReasonEntry>
> = {
  PodOutdated: act('The pod does not run the update revision, and its zone and step are next.'),
  StuckPodReplaced: act(
    'An outdated pod cannot become ready by itself, and no other zone has a pod that is not available.',
  ),
  SetUpdated: act(
    'Every pod runs the update revision, and the status of the set still names another one as the current.',
  ),
  Updated: act('Every pod of the set runs its update revision.'),
  AlarmDue: act('All pods are available, and the alarm must be queried before the next step.'),
  AlarmWithoutData: act(
    'The alarm has too little data to determine its state, which does not pause a rollout.',
  ),

  InvalidSpec: alarm('The spec cannot be read.', 'Correct the field that the message names.'),
  SetNotFound: alarm(
    'No StatefulSet has the name in spec.statefulset, or the one that has it is being deleted.',
    'Create it, or correct spec.statefulset.',
  ),
  SetTooLarge: alarm(
    'The set has more than 20000 replicas, more than this operator handles.',
    'Correct spec.replicas of the set.',
  ),
  ConflictingOwners: alarm(
    'Another kind of resource, or a rollout group, would move the same set.',
    'Delete one of the two; until then neither moves the set.',
  ),
  OwnedByAnother: alarm('An older ZoneAwareUpdate names the same set.', 'Delete one of the two.'),
  WrongUpdateStrategy: alarm(
    'The set has an update strategy other than OnDelete.',
    'Set spec.updateStrategy.type of the set to OnDelete.',
  ),
  RevisionMissing: alarm(
    'The status of the set lacks its update revision.',
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
  AwaitingPods: hold(
    'Not all pods of the set are there and available, or the set does not count them as ready yet.',
    'Look at the pods that the message names; a corrected template reaches those that cannot become ready by themselves.',
  ),
  ZonesNotReady: alarm(
    'Outdated pods of more than one zone are not available.',
    'Bring the pods of all zones but one back.',
  ),
  ZoneUnknown: alarm(
    'The zones of all outdated pods are unknown.',
    'Check whether the nodes of these pods exist and carry the label topology.kubernetes.io/zone.',
  ),
  StepOfNoPod: alarm(
    'spec.maxUnavailable or spec.exponentialFactor lets no pod go.',
    'Correct the field that the message names.',
  ),
  AwaitingAlarm: hold('The state of the alarm is being requested.', 'Wait a few seconds.'),
  AlarmRings: alarm(
    'The alarm of spec.pauseRolloutAlarm is in state ALARM.',
    'Look at the alarm; spec.ignoreAlarm goes on without it.',
  ),
  AlarmUnknown: alarm(
    'The state of the alarm could not be determined; it is requested again after 10 s.',
    'Look at the message: credentials, region, name of the alarm, or the network.',
  ),
  QueryDue: act('All pods are available, and Prometheus must be queried before the next step.'),
  AwaitingQuery: hold('Prometheus is being queried.', 'Wait a few seconds.'),
  QueryFails: alarm(
    'A value of spec.pauseRolloutQuery is outside of its thresholdRange, or the query found nothing.',
    'Look at the value that the message names; spec.ignoreAlarm goes on without it.',
  ),
  QueryUnknown: alarm(
    'Prometheus gave no answer that can be judged; it is queried again after 10 s.',
    'Look at the message: URL, credentials, certificates, the query, or the network.',
  ),
  DryRun: wish(
    'spec.dryRun is true: the message says what would be done otherwise.',
    'Set spec.dryRun to false to have it done.',
  ),
  AwaitingPredecessor: hold(
    'A request that an earlier process sent may still arrive, so no pod is deleted.',
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
  AwaitingOwnWrite: alarm(
    'A write of this operator is not shown by its watch yet.',
    'Wait; if it lasts, check whether the API server answers watches of this operator.',
  ),
  RevisionContested: alarm(
    'Another client keeps changing back status.currentRevision of a set that is up to date; it is written at growing intervals.',
    'Find out what else than its controller writes the status of the StatefulSet.',
  ),
  RequestRefused: alarm(
    'The API server refuses a request that the next step needs; it is retried at growing intervals.',
    'Look at the message; often a permission is missing.',
  ),
  BudgetRefused: hold(
    'A disruption budget does not let the next pods go.',
    'Look at the budget that the message names.',
  ),
  BudgetUnclear: alarm(
    'It is unknown which disruption budget governs the next pods, or which disruptions that budget has granted.',
    'Let exactly one disruption budget select each pod.',
  ),
};

/** ZoneAwareUpdates, as reports name them. */
export const ofZoneAwareUpdates: ReportSubject = {
  apiVersion: apiVersionOf(resourceTypes.zoneAwareUpdates),
  kind: resourceTypes.zoneAwareUpdates.kind,
  field: 'zoneawareupdate',
  reasons: updateReasons,
};

/** Records an Event about `update`. */
export function tellUpdate(
  { namespace, name, uid }: Pick<UpdateView, 'namespace' | 'name' | 'uid'>,
  because: { readonly reason: string; readonly message: string },
  events: EventRecorder,
): void {
  const { apiVersion, kind } = ofZoneAwareUpdates;
  const about = { apiVersion, kind, namespace, name, uid };
  events.record({ about, type: 'Normal', ...because });
}
