{
  local config = $._config,
  local parts = (import 'alert-parts.libsonnet')(config),
  local alert = parts.alert,
  local place = parts.place,
  local all = config.statefulsetRolloutSelector,
  local byRollout = parts.ofResource(['name']),
  local rollout = 'StatefulsetRollout {{ $labels.name }} in %s' % place,
  // Phases in which pods are to be replaced, or to become ready.
  local underWay = ['Pending', 'CreatingStatefulSet', 'UpdatingStatefulSet', 'RollingOut', 'WaitingForReady', 'WaitingForServiceDiscovery', 'Deleting'],
  local phase(wanted) = 'max %s (statefulset_rollout_phase{%s, %s}) > 0' % [byRollout, all, wanted],
  // Requests that ended badly, and none that ended well.
  local onlyBad(metric, bad, good) =
    local counted(result) = parts.counted('statefulset_rollout_' + metric, '%s, result=~"%s"' % [all, result], '1h', parts.by());
    '%sunless\n%s' % [counted(bad), counted(good)],

  prometheusAlerts+:: {
    groups+: [
      {
        name: 'rollout-operator-statefulset-rollouts',
        rules: [
          alert(
            'RolloutOperatorStatefulsetRolloutFailed',
            'warning',
            '5m',
            phase('phase="RolloutFailed"'),
            'A StatefulsetRollout has failed.',
            '%s has failed, and replaces no further pod until its spec is changed.' % rollout
          ),
          alert(
            'RolloutOperatorStatefulsetRolloutStuck',
            'warning',
            '30m',
            |||
              %(underWay)s
              unless
              sum %(byRollout)s (changes(statefulset_rollout_replicas{%(all)s, state="updated"}[30m])) > 0
            ||| % { underWay: phase('phase=~"%s"' % std.join('|', underWay)), byRollout: byRollout, all: all },
            'A StatefulsetRollout makes no progress.',
            '%s is under way, and no pod was replaced for half an hour.' % rollout
          ),
          alert(
            'RolloutOperatorStatefulsetRolloutPausedForLong',
            'info',
            '24h',
            phase('phase="Paused"'),
            'A StatefulsetRollout has been paused for a day.',
            '%s has old pods, and its spec.pauseRequested is true.' % rollout
          ),
          alert(
            'RolloutOperatorStatefulsetRolloutPartial',
            'info',
            '15m',
            'max %s (statefulset_rollout_partial_age_seconds{%s}) > %d * 86400' % [byRollout, all, config.partialRolloutDays],
            'A StatefulsetRollout has been left partial for days.',
            '%s has been over for {{ $value | humanizeDuration }}, and has left old pods.' % rollout
          ),
          alert(
            'RolloutOperatorVersionLeak',
            'warning',
            '15m',
            'max %s (statefulset_rollout_leaked_replicas{%s}) > 0' % [byRollout, all],
            'Pods came back on a new version before the rollout reached them.',
            '{{ $value }} pods of %s were lost, and run the new version although the rollout has not come to them.' % rollout
          ),
          alert(
            'RolloutOperatorStatefulsetRolloutReconcileFailing',
            'warning',
            '15m',
            'sum %s (rate(statefulset_rollout_reconcile_errors_total{%s}[5m])) > 0' % [byRollout, all],
            'Reconciles of a StatefulsetRollout fail.',
            'Reconciles of %s have kept failing for 15 minutes.' % rollout
          ),
          alert(
            'RolloutOperatorConsulSilent',
            'warning',
            '5m',
            'max %s (statefulset_rollout_consul_snapshot_age_seconds{%s}) > 300' % [parts.by(), all],
            'Consul does not tell how pods are.',
            'A StatefulsetRollout that is carried out in {{ $labels.namespace }} waits for Consul, which has told nothing for {{ $value | humanizeDuration }}.'
          ),
          alert(
            'RolloutOperatorCallbacksFailing',
            'warning',
            '15m',
            onlyBad('callback_attempts_total', 'temporary|permanent', 'delivered'),
            'Nobody is told how StatefulsetRollouts end.',
            'In the last hour callbacks of StatefulsetRollouts from {{ $labels.namespace }} were tried, and none was delivered.'
          ),
          alert(
            'RolloutOperatorSlackFailing',
            'info',
            '15m',
            onlyBad('slack_requests_total', 'refused|unreachable', 'ok'),
            'Slack takes no message about StatefulsetRollouts.',
            'In the last hour Slack was sent messages about StatefulsetRollouts from {{ $labels.namespace }}, and took none.'
          ),
        ],
      },
    ],
  },
}
