{
  local config = $._config,
  local parts = (import 'alert-parts.libsonnet')(config),
  local by = parts.by,
  local alert = parts.alert,
  local reasons(list) = 'reason=~"%s"' % std.join('|', list),
  local terms = { selector: config.selector, days: config.certificateDays, stale: config.staleSeconds },

  prometheusAlerts+:: {
    groups+: [
      {
        name: 'rollout-operator',
        rules: [
          alert(
            'RolloutOperatorDown',
            'critical',
            '5m',
            // All replicas are away; or all targets are gone; or there never were any.
            |||
              max %(by)s (up{%(selector)s}) == 0
              or
              max %(by)s (max_over_time(up{%(selector)s}[1h])) unless max %(by)s (up{%(selector)s})
              or
              absent_over_time(up{%(selector)s}[1h])
            ||| % (terms { by: by() }),
            'No rollout-operator is scraped.',
            'Prometheus reaches no replica of rollout-operator{{ with $labels.namespace }} in {{ . }}{{ end }}: nothing rolls, and webhooks that fail closed refuse scale-downs.'
          ),
          alert(
            'RolloutOperatorNoLeader',
            'critical',
            '5m',
            'max %s (leader_election_master_status{%s}) == 0' % [by(), config.selector],
            'No replica of rollout-operator leads.',
            'All replicas in {{ $labels.namespace }} stand by, so nothing is rolled out or scaled.'
          ),
          alert(
            'RolloutOperatorSeveralLeaders',
            'critical',
            '2m',
            |||
              sum %s (leader_election_master_status{%s}) > 1
              or
              max %s (rollout_operator_rival_leases{%s}) > 0
            ||| % [by(['name']), config.selector, by(['lease']), config.selector],
            'More than one rollout-operator reconciles the same namespaces.',
            'Two operators in {{ $labels.namespace }} act at once ({{ $labels.name }}{{ $labels.lease }}); together they may take more pods than either allows.'
          ),
          alert(
            'RolloutOperatorRestarting',
            'warning',
            '5m',
            'max %s (changes(process_start_time_seconds{%s}[30m])) > 3' % [by(['instance']), config.selector],
            'rollout-operator restarts over and over.',
            '{{ $labels.instance }} in {{ $labels.namespace }} started {{ $value }} times in 30 minutes.'
          ),
          alert(
            'RolloutOperatorViewNotFresh',
            'warning',
            '5m',
            'max %s (rollout_operator_view_not_fresh{%s}) > 0' % [by(['resource']), config.selector],
            'rollout-operator does not see what happens in the cluster.',
            'Its view of {{ $labels.resource }} in {{ $labels.namespace }} is not kept up to date, so nothing is disrupted.'
          ),
          alert(
            'RolloutOperatorPermissionRefused',
            'info',
            '15m',
            'max %s (rollout_operator_refused_permissions{%s}) > 0' % [by(['verb', 'resource']), config.selector],
            'The Role of rollout-operator lacks a permission.',
            'It does not permit {{ $labels.verb }} on {{ $labels.resource }} in {{ $labels.namespace }}; what that costs is in the runbook.'
          ),
          alert(
            'RolloutOperatorApiRequestsFailing',
            'warning',
            '15m',
            |||
              sum %(by)s (rate(rollout_operator_kubernetes_api_client_request_duration_seconds_count{%(selector)s, status_code=~"5..|429|error"}[5m]))
              /
              sum %(by)s (rate(rollout_operator_kubernetes_api_client_request_duration_seconds_count{%(selector)s}[5m]))
              > 0.1
            ||| % (terms { by: by() }),
            'Requests of rollout-operator to the API server fail.',
            '{{ $value | humanizePercentage }} of the requests from {{ $labels.namespace }} fail or are throttled.'
          ),
          alert(
            'RolloutOperatorApiRequestsHeldBack',
            'warning',
            '10m',
            'sum %s (increase(rollout_operator_kubernetes_api_client_rate_limited_requests_total{%s}[10m])) > 0' % [by(['api_group']), config.selector],
            'The rate limit of rollout-operator holds requests back permanently.',
            'Requests to {{ $labels.api_group }} from {{ $labels.namespace }} were given up before they were sent.'
          ),
          alert(
            'RolloutOperatorSaturated',
            'warning',
            '15m',
            'max %s (rate(nodejs_eventloop_active_seconds_total{%s}[5m])) > 0.9' % [by(['instance']), config.selector],
            'rollout-operator takes all of the one core that it can use.',
            'The event loop of {{ $labels.instance }} in {{ $labels.namespace }} is busy {{ $value | humanizePercentage }} of the time, so answers come late.'
          ),
        ],
      },
      {
        name: 'rollout-operator-groups',
        rules: [
          alert(
            'RolloutOperatorReconcileFailing',
            'warning',
            '15m',
            'sum %s (rate(rollout_operator_group_reconciles_failed_total{%s}[5m])) > 0' % [by(['rollout_group']), config.selector],
            'Passes over a rollout group fail.',
            'Passes over {{ $labels.rollout_group }} in {{ $labels.namespace }} have kept failing for 15 minutes.'
          ),
          alert(
            'RolloutOperatorReconcileStale',
            'warning',
            '5m',
            // The series of a group that is gone stays while another group fails: only what is looked at, or waits to be, counts.
            |||
              time() - max %(by)s (rollout_operator_last_successful_group_reconcile_timestamp_seconds{%(selector)s}) > %(stale)d
              and
              (
                max %(by)s (rollout_operator_statefulset_pods{%(selector)s})
                or
                max %(by)s (rollout_operator_group_blocked{%(selector)s})
                or
                max %(by)s (increase(rollout_operator_group_reconciles_total{%(selector)s}[%(stale)ds])) > 0
              )
            ||| % (terms { by: by(['rollout_group']) }),
            'A rollout group has not been looked at with success for long.',
            'The last pass over {{ $labels.rollout_group }} in {{ $labels.namespace }} that did not fail ended {{ $value | humanizeDuration }} ago.'
          ),
          alert(
            'RolloutOperatorRolloutBlocked',
            'warning',
            '15m',
            'max %s (rollout_operator_group_blocked{%s, %s}) > 0' % [by(['rollout_group', 'reason']), config.selector, reasons(config.reasons.rollout)],
            'A rollout waits for a person to act.',
            '{{ $labels.rollout_group }} in {{ $labels.namespace }} does not proceed: {{ $labels.reason }}.'
          ),
          alert(
            'RolloutOperatorRolloutStuck',
            'warning',
            '30m',
            |||
              (
                sum %(by)s (max %(bySet)s (rollout_operator_statefulset_pods{%(selector)s, state="outdated"})) > 0
                and
                sum %(by)s (changes(rollout_operator_statefulset_pods{%(selector)s, state=~"outdated|updated"}[30m])) == 0
              )
              unless
              max %(by)s (rollout_operator_group_blocked{%(selector)s, reason="Paused"}) > 0
            ||| % (terms { by: by(['rollout_group']), bySet: by(['rollout_group', 'statefulset']) }),
            'A rollout makes no progress.',
            '{{ $value }} pods of {{ $labels.rollout_group }} in {{ $labels.namespace }} are outdated, and none was replaced for half an hour.'
          ),
          alert(
            'RolloutOperatorPausedForLong',
            'info',
            '24h',
            'max %s (rollout_operator_group_blocked{%s, reason="Paused"}) > 0' % [by(['rollout_group']), config.selector],
            'A rollout has been paused for a day.',
            '{{ $labels.rollout_group }} in {{ $labels.namespace }} has outdated pods and carries grafana.com/rollout-paused.'
          ),
          alert(
            'RolloutOperatorInputUnusable',
            'warning',
            '15m',
            'max %s (rollout_operator_statefulset_warnings{%s}) > 0' % [by(['rollout_group', 'statefulset', 'reason']), config.selector],
            'A StatefulSet asks for something that cannot be used as it is.',
            '{{ $labels.statefulset }} in {{ $labels.namespace }}: {{ $labels.reason }}. Work goes on without it.'
          ),
        ],
      },
      {
        name: 'rollout-operator-replicas',
        rules: [
          alert(
            'RolloutOperatorScalingBlocked',
            'warning',
            '15m',
            'max %s (rollout_operator_group_blocked{%s, %s}) > 0' % [by(['rollout_group', 'reason']), config.selector, reasons(config.reasons.scaling)],
            'A change of replicas waits for a person to act.',
            '{{ $labels.rollout_group }} in {{ $labels.namespace }} is not scaled: {{ $labels.reason }}.'
          ),
          alert(
            'RolloutOperatorPodRequestsFailing',
            'warning',
            '15m',
            |||
              sum %(by)s (rate(rollout_operator_pod_http_client_request_duration_seconds_count{%(selector)s, status_code!~"2.."}[10m]))
              /
              sum %(by)s (rate(rollout_operator_pod_http_client_request_duration_seconds_count{%(selector)s}[10m]))
              > 0.5
            ||| % (terms { by: by(['path']) }),
            'Pods do not answer that they are prepared to go.',
            '{{ $value | humanizePercentage }} of the requests to {{ $labels.path }} of pods in {{ $labels.namespace }} fail, so they are not scaled down.'
          ),
        ],
      },
      {
        name: 'rollout-operator-webhooks',
        rules: [
          alert(
            'RolloutOperatorWebhookErrors',
            'critical',
            '10m',
            |||
              sum %(by)s (rate(rollout_operator_request_duration_seconds_count{%(selector)s, route=~"admission_.*", status_code!="200"}[5m]))
              /
              sum %(by)s (rate(rollout_operator_request_duration_seconds_count{%(selector)s, route=~"admission_.*"}[5m]))
              > 0.01
              or
              sum %(by)s (rate(rollout_operator_admission_reviews_total{%(selector)s, outcome=~"DependencyFailed|Forbidden|DeadlineExceeded|Overloaded|InternalError"}[5m]))
              /
              sum %(by)s (rate(rollout_operator_admission_reviews_total{%(selector)s}[5m]))
              > 0.01
            ||| % (terms { by: by(['route']) }),
            'A webhook of rollout-operator cannot judge reviews.',
            '{{ $value | humanizePercentage }} of the reviews of {{ $labels.route }} in {{ $labels.namespace }} are not answered with 200, or denied because it could not be determined whether they are allowed.'
          ),
          alert(
            'RolloutOperatorWebhookSlow',
            'warning',
            '10m',
            |||
              histogram_quantile(0.99, sum %(by)s (rate(rollout_operator_request_duration_seconds_bucket{%(selector)s, route=~"admission_.*"}[5m]))) > 5
            ||| % (terms { by: by(['route', 'le']) }),
            'A webhook of rollout-operator answers late.',
            'One review of {{ $labels.route }} in a hundred takes {{ $value | humanizeDuration }} in {{ $labels.namespace }}; the API server waits 10 s.'
          ),
          alert(
            'RolloutOperatorWebhookIgnored',
            'warning',
            '1h',
            'max %s (kube_validating_webhook_failure_policy{%s, policy="Ignore", webhook!~"%s"}) > 0' % [by(['type', 'webhook']), config.selector, config.ignorableWebhooks],
            'A webhook of rollout-operator is passed over when it does not answer.',
            'failurePolicy of {{ $labels.webhook }} is Ignore, so what it guards is unguarded while the operator is away.'
          ),
        ],
      },
      {
        name: 'rollout-operator-budgets',
        rules: [
          alert(
            'RolloutOperatorBudgetInvalid',
            'warning',
            '0m',
            // A series is there from its first count on: that one is no increase of anything.
            |||
              sum %(by)s (increase(rollout_operator_zpdb_configurations_observed_total{%(selector)s, result="invalid"}[15m])) > 0
              or
              sum %(by)s (rollout_operator_zpdb_configurations_observed_total{%(selector)s, result="invalid"} unless rollout_operator_zpdb_configurations_observed_total{%(selector)s, result="invalid"} offset 15m) > 0
            ||| % (terms { by: by() }),
            'A ZoneAwarePodDisruptionBudget that cannot be read was stored.',
            'A budget in {{ $labels.namespace }} says nothing that can be kept; the last version of it that did stays in force, and where there was none what it selects is not disrupted at all.'
          ),
          alert(
            'RolloutOperatorBudgetProblem',
            'warning',
            '15m',
            'max %s (rollout_operator_disruption_budget_problem{%s}) > 0' % [by(['budget', 'problem']), config.selector],
            'Something is wrong with a disruption budget.',
            'ZoneAwarePodDisruptionBudget {{ $labels.budget }} in {{ $labels.namespace }}: {{ $labels.problem }}. Drains, rollouts and scale-downs of what it selects may stand.'
          ),
          alert(
            'RolloutOperatorBudgetExhausted',
            'warning',
            '30m',
            |||
              sum %(by)s (increase(rollout_operator_zpdb_eviction_requests_total{%(selector)s, status="429"}[30m])) > 0
              unless
              (
                sum %(by)s (increase(rollout_operator_zpdb_eviction_requests_total{%(selector)s, reason="allowed"}[30m])) > 0
                or
                sum %(by)s (rollout_operator_zpdb_eviction_requests_total{%(selector)s, reason="allowed"} unless rollout_operator_zpdb_eviction_requests_total{%(selector)s, reason="allowed"} offset 30m) > 0
              )
            ||| % (terms { by: by() }),
            'Disruption budgets have let nothing go for long.',
            'For half an hour and more the budgets of {{ $labels.namespace }} have denied all that drains, rollouts and scale-downs asked for.'
          ),
          alert(
            'RolloutOperatorEvictionsPiledUp',
            'warning',
            '5m',
            'sum %s (avg_over_time(rollout_operator_zpdb_inflight_eviction_requests{%s}[5m])) > 10' % [by(), config.selector],
            'Evictions wait for an answer of rollout-operator.',
            '{{ $value | humanize }} evictions at once are being judged in {{ $labels.namespace }}; the API server waits 10 s for each.'
          ),
        ],
      },
      {
        name: 'rollout-operator-certificates',
        rules: [
          alert(
            'RolloutOperatorCertificateExpiring',
            'critical',
            '1h',
            'min %s (rollout_operator_certificate_expiry_timestamp_seconds{%s}) - time() < %d * 86400' % [by(), config.selector, config.certificateDays],
            'The certificate of the webhooks is about to expire.',
            'It expires in {{ $value | humanizeDuration }} in {{ $labels.namespace }}; then every review fails.'
          ),
          alert(
            'RolloutOperatorCertificateRotationWaiting',
            'warning',
            '1h',
            'max %s (rollout_operator_certificate_rotation_waiting{%s}) > 0' % [by(['reason']), config.selector],
            'A new certificate of the webhooks is not served.',
            'The change in {{ $labels.namespace }} waits: {{ $labels.reason }}.'
          ),
          alert(
            'RolloutOperatorWebhookWithoutCa',
            'critical',
            '10m',
            'max %s (rollout_operator_webhook_configurations_without_ca{%s}) > 0' % [by(), config.selector],
            'The API server does not trust a webhook of rollout-operator.',
            '{{ $value }} webhook configurations of {{ $labels.namespace }} lack the CA of this operator, so calls to them fail.'
          ),
          alert(
            'RolloutOperatorWebhookNotRouted',
            'critical',
            '10m',
            'max %s (rollout_operator_webhook_reviews_not_routed{%s}) > 0' % [by(['reason']), config.selector],
            'The API server does not ask a replica of rollout-operator.',
            'The Service of the webhooks in {{ $labels.namespace }} does not select a replica: {{ $labels.reason }}.'
          ),
        ],
      },
    ],
  },
}
