{
  local config = $._config,
  local parts = (import 'alert-parts.libsonnet')(config),
  local alert = parts.alert,
  local place = parts.place,
  local all = config.zoneSelector,
  local byUpdate = parts.ofResource(['zau']),
  local answers(reason) = parts.counted('zdb_eviction_status_reason', '%s, reason="%s"' % [all, reason], '30m', parts.by()),

  prometheusAlerts+:: {
    groups+: [
      {
        name: 'rollout-operator-zones',
        rules: [
          alert(
            'RolloutOperatorZoneUpdatePaused',
            'warning',
            '1h',
            'max %s (zau_paused_rollout{%s}) > 0' % [byUpdate, all],
            'An alarm or a query has paused a ZoneAwareUpdate for long.',
            'ZoneAwareUpdate {{ $labels.zau }} in %s takes no further step, as its alarm rings or its query is out of range.' % place
          ),
          alert(
            'RolloutOperatorZoneUpdateStuck',
            'warning',
            '30m',
            |||
              (
                sum %(byUpdate)s (max %(byZone)s (zau_status_old_replicas{%(all)s})) > 0
                and
                sum %(byUpdate)s (changes(zau_status_update_step{%(all)s}[30m])) == 0
              )
              unless
              max %(byUpdate)s (zau_paused_rollout{%(all)s}) > 0
              unless
              max %(byUpdate)s (zau_dryrun_enabled{%(all)s}) > 0
            ||| % { all: all, byUpdate: byUpdate, byZone: parts.ofResource(['zau', 'zone']) },
            'A ZoneAwareUpdate makes no step.',
            '{{ $value }} pods of ZoneAwareUpdate {{ $labels.zau }} in %s were old before its last step, and none was taken for half an hour.' % place
          ),
          alert(
            'RolloutOperatorZonesUnhealthy',
            'warning',
            '15m',
            'max %s (zdb_status_zones_unhealthy{%s}) > 1' % [parts.ofResource(['zdb']), all],
            'More than one zone of a ZoneDisruptionBudget lacks healthy pods.',
            'ZoneDisruptionBudget {{ $labels.zdb }} in %s has pods that are not healthy in {{ $value }} zones, so that no pod may be evicted.' % place
          ),
          alert(
            'RolloutOperatorZoneEvictionsDenied',
            'warning',
            '30m',
            '%sunless\n%s' % [answers('DeniedByZdb'), answers('DisruptionAllowed')],
            'ZoneDisruptionBudgets have let nothing go for long.',
            'For half an hour and more the ZoneDisruptionBudgets of {{ $labels.namespace }} have denied all evictions that they were asked about.'
          ),
        ],
      },
    ],
  },
}
