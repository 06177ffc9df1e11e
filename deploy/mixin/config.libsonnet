// What an installation may want otherwise: `(import 'mixin.libsonnet') + { _config+:: { … } }`.
{
  _config+:: {
    // Which scrapes are of the operator. Also matches the jobs of grafana/rollout-operator's own mixin, "<namespace>/rollout-operator".
    selector: 'job=~".*rollout-operator.*"',
    // The same for programs that carry out ZoneAwareUpdates and ZoneDisruptionBudgets, which may run by the peer's name as well.
    zoneSelector: 'job=~".*(rollout-operator|zone-aware-controllers).*"',
    // The same for programs that carry out StatefulsetRollouts.
    statefulsetRolloutSelector: 'job=~".*(rollout-operator|statefulset-rollout).*"',
    // What tells one installation from another; a label that is not there is no harm.
    installation: ['cluster', 'namespace', 'job'],
    // %s is the name of the alert; the pages are in docs/runbooks.
    runbookUrl: 'https://rollout-operator.example/docs/runbooks/%s.md',
    // How long before its end a certificate should have been replaced; by default one lives for a year, and is renewed after two thirds.
    certificateDays: 14,
    // A pass that does nothing happens at least once in -reconcile.interval, 5 s unless given.
    staleSeconds: 600,
    // For how long a StatefulsetRollout may be over and leave old pods before somebody is reminded.
    partialRolloutDays: 3,
    // Webhooks that are shipped with failurePolicy Ignore, as what they refuse is found later all the same: those of PhasedRollouts.
    ignorableWebhooks: '[mv]phasedrollout-v1alpha1[.]kb[.]io',
    dashboardTags: ['rollout-operator'],

    // Every reason of kind `hold` in docs/reasons.md, by what it asks of people.
    reasons: {
      // A rollout does not proceed, and a person has to act.
      rollout: [
        'AwaitingOwnWrite',
        'AwaitingRequest',
        'BudgetUnclear',
        'ConflictingOwners',
        'MultipleZonesUnavailable',
        'PausedZoneUnavailable',
        'PodsWithoutSet',
        'RequestRefused',
        'RevisionContested',
        'RevisionMissing',
        'RevisionUnknown',
        'RevisionUnusable',
        'SetTooLarge',
        'StuckPodKept',
        'WrongUpdateStrategy',
      ],
      // The same, of a change of replicas.
      scaling: [
        'ConflictingSources',
        'InvalidDelayedDownscale',
        'LastDownscaleUnknown',
        'LeaderNotFound',
        'MinimumTimeUnknown',
        'PodNotPrepared',
        'PodsStayPrepared',
        'ReferenceUnreadable',
        'ReferenceUnresolved',
        'ReplicasContested',
        'ScaleRefused',
      ],
      // Part of ordinary work; if it lasts and nothing moves, RolloutOperatorRolloutStuck tells.
      waiting: [
        'AwaitingAnswer',
        'AwaitingPods',
        'AwaitingPredecessor',
        'BudgetRefused',
        'DownscaleDelayed',
        'LeaderNotReady',
        'MaxUnavailableReached',
        'MinimumTimeNotElapsed',
        'Paused',
        'ScaleOrder',
        'ViewNotFresh',
        'ZoneBeingChanged',
        'ZoneNotReady',
        'ZoneOrder',
        'ZoneSettling',
      ],
    },
  },
}
