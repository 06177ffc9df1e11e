/** What a reason stands for, as `docs/reasons.md` shows it. */
export interface ReasonEntry {
  /**
   * `act`: something is done. `hold`: nothing is done, and why; also a label of the blocked gauge. `warn`: input
   * that cannot be used as it is, while work goes on.
   */
  readonly kind: 'act' | 'hold' | 'warn';
  /** When the reason is true; a checker evaluates it against the cluster's state (LIVE-2). */
  readonly isTrueWhen: string;
  /** What a person can do about it. */
  readonly remedy: string;
}

function act(isTrueWhen: string): ReasonEntry {
  return { kind: 'act', isTrueWhen, remedy: 'Nothing; this is the work itself.' };
}

function hold(isTrueWhen: string, remedy: string): ReasonEntry {
  return { kind: 'hold', isTrueWhen, remedy };
}

function warn(isTrueWhen: string, remedy: string): ReasonEntry {
  return { kind: 'warn', isTrueWhen, remedy };
}

/**
 * Every reason that this operator gives for anything (D-15): Events, log lines, the blocked gauge, the terminal and
 * `docs/reasons.md` all come from this one catalogue.
 */
export const reasonCatalogue = {
  PodOutdated: act(
    'The pod runs another revision than its set wants, and the budget allows its restart.',
  ),
  UnavailablePodOutdated: act(
    'The pod is outdated and not ready, so that replacing it costs no availability (D-11).',
  ),
  DownscaleDelayElapsed: act(
    'Each pod that goes said, no more than 10 s ago, that it is prepared since at least the delay of its set.',
  ),
  ZoneUpdated: act('All pods of the set run its update revision and are available.'),
  PodTouched: act('A predecessor may still have a deletion of this pod under way (D-8).'),

  ZoneNotReady: hold(
    'Exactly one zone has unavailable pods, none of which may be replaced now.',
    'Look at the pods that the message names; a corrected template replaces broken outdated pods at once.',
  ),
  ZoneSettling: hold(
    'The only unavailable pods of the zone are ready, but not yet for minReadySeconds.',
    'Wait; the message says until when.',
  ),
  MultipleZonesUnavailable: hold(
    'Two or more zones of the group have unavailable pods.',
    'Bring all zones but one back; the message names the pods.',
  ),
  PausedZoneUnavailable: hold(
    'A paused zone has unavailable pods, so no other zone may lose one.',
    'Repair the paused zone, or take the annotation grafana.com/rollout-paused off.',
  ),
  MaxUnavailableReached: hold(
    'The zone has as many unavailable pods as rollout-max-unavailable allows.',
    'Wait until restarted pods are available, or raise rollout-max-unavailable.',
  ),
  ZoneOrder: hold(
    'Another zone of the group is being updated first.',
    'Wait; zones are updated one after the other.',
  ),
  Paused: hold(
    'The set carries grafana.com/rollout-paused: "true" and has outdated pods.',
    'Take the annotation off to go on.',
  ),
  BudgetRefused: hold(
    'A disruption budget refuses the deletion of every pod that could be next.',
    'Look at the budget that the message names.',
  ),
  BudgetUnclear: hold(
    'It cannot be told which disruption budget governs a pod.',
    'Let exactly one ZoneAwarePodDisruptionBudget select the pod.',
  ),
  DownscaleDelayed: hold(
    'The pod with the highest ordinal is prepared to go, but not yet for rollout-delayed-downscale.',
    'Wait; the message says until when. Raise the wanted count again to cancel.',
  ),
  AwaitingPods: hold(
    'Pods are being asked since when they are prepared to go.',
    'Wait for their answers, each at most -pods.client-timeout.',
  ),
  PodNotPrepared: hold(
    'A pod that is to go does not say that it is prepared, so that it and all below it stay.',
    'Look at the pod that the message names; its endpoint must answer 2xx with a JSON "timestamp".',
  ),
  InvalidDelayedDownscale: hold(
    'The annotations of delayed down-scale cannot be read, or no pod can be called with them.',
    'Correct the annotation that the message names, or take both off to scale without delay.',
  ),
  WrongUpdateStrategy: hold(
    'A set of the group has another update strategy than OnDelete.',
    'Set spec.updateStrategy.type to OnDelete in the set that the message names.',
  ),
  RevisionMissing: hold(
    'The status of a set lacks its current or its update revision.',
    'Wait for the StatefulSet controller; if it lasts, look whether that controller runs.',
  ),
  RevisionUnknown: hold(
    'The StatefulSet controller has not yet observed the newest spec of a set.',
    'Wait for the StatefulSet controller; if it lasts, look whether that controller runs.',
  ),
  CapabilityNotBuilt: hold(
    'The group asks for a capability that this version does not have, and is never rolled without it.',
    'Remove what the message names, or use a version that has it.',
  ),
  AwaitingPredecessor: hold(
    'An earlier process may still have a deletion under way, and pods cannot be touched to void it (D-8).',
    'Wait at most 120 s after the start, or grant patch on pods.',
  ),
  AwaitingAnswer: hold(
    'A deletion got no answer, so it counts as done until the pod shows otherwise (D-7).',
    'Wait at most 120 s.',
  ),
  ViewNotFresh: hold(
    'The view of the group cannot be proven to be at most 10 s old.',
    'Look whether the API server answers lists and watches of this operator.',
  ),
  RequestRefused: hold(
    'The API server refuses a request that the next step needs.',
    'Look at the message; often a permission is missing.',
  ),

  InvalidMaxUnavailable: warn(
    'rollout-max-unavailable cannot be read; 1 is used.',
    'Use an integer >= 1, or a percentage from 1% to 100%.',
  ),
  MisplacedKey: warn(
    'A known key stands among the annotations although it is read from the labels, or the other way round.',
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
