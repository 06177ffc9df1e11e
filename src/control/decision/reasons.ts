import { act, alarm, hold, type ReasonEntry, secondary, warn, wish } from './reason-entry.ts';

/**
 * Every reason that this operator gives for anything (D-15): Events, log lines, the blocked gauge, the terminal and
 * `docs/reasons.md` all come from this one catalogue.
 */
export const reasonCatalogue = {
  PodOutdated: act(
    'The pod runs another revision than its set wants, and the budget allows its restart.',
  ),
  StuckPodReplaced: act(
    'The pod is outdated and cannot become ready by itself: its containers cannot start, or it has not been ready for the whole of -rollout.stuck-after.',
  ),
  RollingBack: act(
    'An update has failed permanently, and the pod runs its revision; only PhasedRollouts roll back.',
  ),
  DownscaleDelayElapsed: act(
    'Each pod that goes has answered within the last 10 s that it has been prepared for at least the delay of its set.',
  ),
  ZoneUpdated: act('All pods of the set run its update revision and are available.'),
  ScaledToLeader: act(
    'The replicas of the set differ from those of the leader that it follows, and the set may be scaled.',
  ),
  ScaledToReference: act(
    'The replicas of the set differ from those that the mirrored resource asks for, and the set may be scaled.',
  ),
  ScaledByForce: act('The replicas of the set differ from grafana.com/rollout-force-replicas.'),
  ReplicasWrittenBack: act(
    'status.replicas of a mirrored resource is not the greatest count of the sets that mirror it.',
  ),
  PodPreparing: act('The pod is to go, and is asked how long it has been prepared.'),
  PodReleased: act('The pod stays, and has not yet confirmed that it is no longer prepared to go.'),

  ZoneNotReady: hold(
    'Exactly one zone has unavailable pods, none of which may be replaced now.',
    'Look at the pods that the message names; a corrected template reaches those that cannot become ready by themselves at once, and the others when they are ready.',
  ),
  ZoneSettling: hold(
    'The only unavailable pods of the zone are ready, but not yet for minReadySeconds.',
    'Wait; the message says until when.',
  ),
  StuckPodKept: alarm(
    'A pod cannot become ready by itself, and the pod that would be made in its place may run the same revision.',
    'Look at the pod that the message names, and delete it if a new one of the same revision helps.',
  ),
  MultipleZonesUnavailable: alarm(
    'Two or more zones of the group have unavailable pods.',
    'Bring all zones but one back; the message names the pods.',
  ),
  PausedZoneUnavailable: alarm(
    'A paused zone has unavailable pods, so no other zone may lose one.',
    'Repair the paused zone, or remove the annotation grafana.com/rollout-paused.',
  ),
  PodsWithoutSet: alarm(
    'A set has left the group, by its deletion or by its label, and pods of it are left, or pods that this operator took are not back.',
    'Apply the set again, which adopts its pods, or delete the pods that the message names.',
  ),
  MaxUnavailableReached: hold(
    'The zone has as many unavailable pods as rollout-max-unavailable allows.',
    'Wait until restarted pods are available, or raise rollout-max-unavailable.',
  ),
  ZoneOrder: secondary(
    'Another zone of the group is being updated first.',
    'Wait; zones are updated one after the other.',
  ),
  Paused: wish(
    'The set carries grafana.com/rollout-paused: "true" and has outdated pods.',
    'Remove the annotation to go on.',
  ),
  BudgetRefused: hold(
    'A disruption budget refuses the deletion of every pod that could be next.',
    'Look at the budget that the message names.',
  ),
  BudgetUnclear: alarm(
    'It is unknown which disruption budget governs a pod, or which disruptions that budget has granted.',
    'Let exactly one ZoneAwarePodDisruptionBudget select the pod, and correct any that cannot be read; if the message gives a time, wait until then.',
  ),
  DownscaleDelayed: secondary(
    'The pod with the highest ordinal is prepared to go, but not yet for rollout-delayed-downscale.',
    'Wait; the message says until when. Raise the wanted count again to cancel.',
  ),
  AwaitingPods: secondary(
    'Pods are being asked how long they have been prepared to go.',
    'Wait for their answers, each at most -pods.client-timeout.',
  ),
  PodNotPrepared: alarm(
    'A pod that is to go does not confirm that it is prepared, so it and all pods with lower ordinals stay.',
    'Look at the pod that the message names; its endpoint must answer 2xx with a JSON "timestamp".',
  ),
  PodsStayPrepared: alarm(
    'A pod was asked to prepare to go, stays after all, and does not confirm that it is not prepared any more.',
    'Look at the pod that the message names: its endpoint must answer DELETE with 2xx. Where no pod is prepared any more, remove the annotation rollout-operator/prepared-at of the set.',
  ),
  InvalidDelayedDownscale: alarm(
    'The annotations of delayed down-scale cannot be read, or no pod can be called with them.',
    'Correct the annotation that the message names, or remove both to scale without delay.',
  ),
  ConflictingOwners: alarm(
    'Another kind of resource, such as a PhasedRollout, also names a set of the group, so neither of the two rolls out or scales the set.',
    'Delete one of the two, or remove the label rollout-group from the set.',
  ),
  WrongUpdateStrategy: alarm(
    'A set of the group has an update strategy other than OnDelete.',
    'Set spec.updateStrategy.type to OnDelete in the set that the message names.',
  ),
  SetTooLarge: alarm(
    'A set of the group has more than 20000 replicas, more than this operator handles.',
    'Correct spec.replicas of the set that the message names.',
  ),
  RevisionMissing: alarm(
    'The status of a set lacks its current or its update revision.',
    'Wait for the StatefulSet controller; if it lasts, check whether that controller runs.',
  ),
  RevisionUnusable: alarm(
    'No pod can be created with the update revision of a set, as its name is too long for a label: it has the name of the set and up to ten characters more.',
    'Change the template again, which may give a shorter revision; a set with a shorter name never has this.',
  ),
  RevisionUnknown: hold(
    'The StatefulSet controller has not yet observed the newest spec of a set.',
    'Wait for the StatefulSet controller; if it lasts, check whether that controller runs.',
  ),
  AwaitingPredecessor: hold(
    'A request that an earlier process sent may still arrive, so nothing is disrupted until -rollout.predecessor-horizon has passed.',
    'Wait; the message says until when. An operator that shuts down cleanly under a Role that permits Leases spares its successor the wait.',
  ),
  AwaitingAnswer: hold(
    'A deletion or a scaling got no answer, so it counts as done until the pod or the set shows otherwise.',
    'Wait at most 120 s.',
  ),
  ViewNotFresh: alarm(
    'The view of the group cannot be proven to be at most 10 s old, or has not been kept up to date for 30 s.',
    'Check whether the API server answers lists and watches of this operator.',
  ),
  AwaitingOwnWrite: alarm(
    'A write of this operator is not shown by its watch yet.',
    'Wait; if it lasts, check whether the API server answers watches of this operator.',
  ),
  AwaitingRequest: hold(
    'A request that the next step needs has had no answer for more than 10 s.',
    'Check whether the API server answers; each request ends after 30 s, and is tried again.',
  ),
  RequestRefused: alarm(
    'The API server refuses a request that the next step needs.',
    'Look at the message; often a permission is missing.',
  ),

  LeaderNotFound: alarm(
    'A set follows a StatefulSet that its rollout group does not have.',
    'Correct grafana.com/rollout-downscale-leader, or put the leader into the group.',
  ),
  LeaderNotReady: secondary(
    'A set grows only once its leader is ready, and it is not.',
    'Wait for the pods of the leader, or remove grafana.com/rollout-upscale-only-when-leader-ready.',
  ),
  MinimumTimeNotElapsed: secondary(
    'Another zone of the group was scaled down, and the minimum time since then has not passed.',
    'Wait; the message says until when. grafana.com/rollout-force-replicas does not wait.',
  ),
  MinimumTimeUnknown: alarm(
    'A zone was scaled down, and the annotation grafana.com/min-time-between-zones-downscale of a set that is to shrink is missing or cannot be read.',
    'Give the set the annotation, with a Go duration such as 12h.',
  ),
  LastDownscaleUnknown: alarm(
    'It is unknown when another zone of the group was last scaled down.',
    'Correct or remove what the message names.',
  ),
  ConflictingSources: alarm(
    'A set has both a leader and a resource to mirror.',
    'Remove the annotations of one of them.',
  ),
  ReferenceUnresolved: alarm(
    'The API server has no resource of the kind and group that a set mirrors.',
    'Correct the kind or the api-version in the annotations, or install what is missing.',
  ),
  ReferenceUnreadable: alarm(
    'The replicas of the resource that a set mirrors cannot be read; nothing is scaled on a guess.',
    'Check whether the resource exists, and whether the Role permits getting its scale subresource.',
  ),
  ZoneBeingChanged: hold(
    'A set is to lose pods while another zone of the group lacks pods that this operator may have taken.',
    'Wait until the pods that the message names are available or gone.',
  ),
  ScaleOrder: secondary(
    'Another set of the group is being scaled first.',
    'Wait; one set is scaled at a time.',
  ),
  ScaleRefused: alarm(
    'The API server, or a webhook, refuses to change the replicas of a set, or those that a mirrored resource reports; it is retried at growing intervals.',
    'Look at the message; often a webhook protects the pods, or a permission is missing.',
  ),
  ReplicasContested: alarm(
    'Another client keeps changing back the replicas of a set, or those that a mirrored resource reports; they are written at growing intervals.',
    'Let only one of them own the value: remove the autoscaler or the annotation from the set, or switch the write-back off.',
  ),
  RevisionContested: alarm(
    'Another client keeps changing back status.currentRevision of a set that is up to date; it is written at growing intervals.',
    'Let only the StatefulSet controller and this operator write the status of the set.',
  ),

  FollowsItself: warn(
    'A set follows itself, or sets follow one another in a ring, so that none of them leads.',
    'Take grafana.com/rollout-downscale-leader off the set that is to lead.',
  ),
  InvalidForceReplicas: warn(
    'grafana.com/rollout-force-replicas cannot be read; nothing is forced.',
    'Use an integer from 0 to 2147483647.',
  ),
  InvalidLastDownscale: warn(
    'grafana.com/last-downscale cannot be read; no other follower of the group shrinks.',
    'Remove the annotation, or write an RFC 3339 time.',
  ),
  InvalidWriteBack: warn(
    'grafana.com/rollout-mirror-replicas-from-resource-write-back cannot be read; nothing is written back.',
    'Use true or false.',
  ),
  WriteBackForbidden: warn(
    'The Role does not permit writing the status of a mirrored resource; it is not tried again.',
    'Grant patch on the status subresource, or switch the write-back off by its annotation.',
  ),
  BudgetUnreadable: warn(
    'The newest state of a disruption budget cannot be read.',
    'Correct what the message names; zpdb-validation refuses such budgets where it is installed.',
  ),
  BudgetsOverlap: warn(
    'Several disruption budgets select one pod.',
    'Let exactly one ZoneAwarePodDisruptionBudget select each pod.',
  ),
  BudgetNeverMet: warn(
    'A disruption budget can never let a pod go, although its limit is not 0.',
    'Give the StatefulSets of all zones the labels of its selector, or correct its regular expression.',
  ),
  BudgetLedgerUnknown: warn(
    'The ConfigMap with the ledger of a disruption budget is missing, or cannot be read.',
    'Wait 120 s. A ledger that a newer version wrote is left alone; delete it to go on with this version.',
  ),
  InvalidMaxUnavailable: warn(
    'rollout-max-unavailable cannot be read; 1 is used.',
    'Use an integer from 1 to 2147483647, or a percentage from 1% to 100%.',
  ),
  InvalidSwitch: warn(
    'A label or an annotation that protects is neither "true" nor "false"; it counts as "true".',
    'Write true, or false, or remove it.',
  ),
  MisplacedKey: warn(
    'A known key is set as an annotation although it is read as a label, or the other way round.',
    'Move it to where the message says.',
  ),
  NameLabelMissing: warn(
    'The pod template has no "name" label; other tools of this family find pods by it.',
    'Add the label; this operator finds pods by their owner and goes on.',
  ),
  PodWithoutController: warn(
    'A pod has the name of a slot of the set, but no controlling owner, so the set does not own it.',
    'Delete the pod, or let the StatefulSet controller adopt it by matching labels.',
  ),
} as const satisfies Record<string, ReasonEntry>;

/** One word of the catalogue. */
export type Reason = keyof typeof reasonCatalogue;

/** Reports whether a hold with `reason` is what a user asked for, such as a pause. */
export function isWished(reason: Reason): boolean {
  return reasonCatalogue[reason].urgency === 'wished';
}
