local lib = import 'lib.libsonnet';

function(config) {
  local all = lib.selector,
  local rollout = all + ', name=~"$rollout"',
  local name(metric) = 'statefulset_rollout_' + metric,
  local gauge(metric, more=[]) = 'max %s (%s{%s})' % [lib.byResource('name', more), name(metric), rollout],
  local replicas(state) = 'max %s (%s{%s, state="%s"})' % [lib.byResource('name'), name('replicas'), rollout, state],
  local inPhase(phase) = 'sum(%s) or vector(0)' % ('max %s (%s{%s, phase=~"%s"})' % [lib.byResource('name'), name('phase'), rollout, phase]),
  local legend = lib.resourceLegend('name'),
  local shown(expression, more='') = lib.target(expression, legend + more),
  local rate(metric, key) = lib.target('sum by (%s) (rate(%s{%s}[$__rate_interval]))' % [key, name(metric), all], '{{%s}}' % std.strReplace(key, ', ', '}} {{')),
  local quantile(share, metric, by) = 'histogram_quantile(%s, sum by (le%s) (rate(%s{%s}[$__rate_interval])))' % [share, by, name(metric + '_bucket'), all],
  local variables = [lib.resourceVariable('rollout', 'StatefulsetRollout', name('percent_deployed'), 'name')],

  'statefulset-rollouts.json': lib.dashboard(config, 'rollout-operator-statefulset-rollouts', 'Rollout operator / StatefulsetRollouts', variables, [
    lib.row('Now', [
      lib.number('Under way', 'Rollouts whose pods are replaced, or become ready.', 'short', [lib.target(inPhase('Pending|CreatingStatefulSet|UpdatingStatefulSet|RollingOut|WaitingForReady|WaitingForServiceDiscovery|CallingBack|Deleting'))]),
      lib.number('Paused', 'Rollouts with spec.pauseRequested.', 'short', [lib.target(inPhase('Paused'))]),
      lib.number('Failed', 'Rollouts that replace no further pod until their spec is changed.', 'short', [lib.target(inPhase('RolloutFailed'))], 1),
      lib.number('Partial', 'Rollouts that are over, and have left old pods.', 'short', [lib.target('count(%s) or vector(0)' % gauge('partial_age_seconds'))]),
      lib.number('Leaked pods', 'That came back new before the rollout reached them.', 'short', [lib.target('sum(%s)' % gauge('leaked_replicas'))], 1),
    ]),
    lib.row('Progress', [
      lib.bands('Phases', 'Where each rollout is; status.reason says why.', [shown('%s == 1' % gauge('phase', ['phase']), ': {{phase}}')]),
      lib.lines('New pods', 'As a share of those that are to be new.', 'percentunit', [shown('%s / %s' % [replicas('updated'), replicas('target')])]),
      lib.lines('Ready pods', 'As a share of all.', 'percentunit', [shown('%s / %s' % [replicas('ready'), replicas('total')])]),
      lib.lines('Percentage', 'That was asked for, and that is new and healthy.', 'percent', [
        shown(gauge('percent_requested'), ' asked for'),
        shown(gauge('percent_deployed'), ' deployed'),
      ]),
    ]),
    lib.row('Pods on their way', [
      lib.lines('In flight', 'Let go, or made, and not ready.', 'short', [shown(replicas('in_flight'))]),
      lib.lines('Budget', 'Pods that the budget would have let go when it was last read.', 'short', [shown(gauge('budget_slots'))]),
      lib.lines('Evictions', 'That were sent, by the answer.', 'reqps', [rate('evictions_total', 'result')]),
      lib.lines('Time of a pod', 'From its eviction until its successor is healthy: one in two, and one in a hundred.', 's', [
        lib.target(quantile('0.5', 'pod_rotation_seconds', ''), 'median'),
        lib.target(quantile('0.99', 'pod_rotation_seconds', ''), '99 %'),
      ]),
    ]),
    lib.row('What was left', [
      lib.lines('Outcomes', 'Rollouts whose outcome is known, by the hour.', 'short', [lib.target('sum by (result, rollback) (increase(%s{%s}[1h]))' % [name('completed_total'), rollout], '{{result}}, rollback {{rollback}}')]),
      lib.lines('Time of a rollout', 'From its beginning to its outcome, pauses left out: one in two.', 's', [lib.target(quantile('0.5', 'duration_seconds', ', result'), '{{result}}')]),
      lib.lines('Partial for', 'Since the end of a rollout that left old pods.', 's', [shown(gauge('partial_age_seconds'))]),
      lib.lines('Leaked pods', 'That were lost and came back new before the rollout reached them.', 'short', [shown(gauge('leaked_replicas'))]),
    ]),
    lib.row('Who is asked and told', [
      lib.lines('Slack', 'Requests, by how they ended.', 'reqps', [rate('slack_requests_total', 'method, result')]),
      lib.lines('Callbacks', 'That were tried, by how that ended.', 'reqps', [rate('callback_attempts_total', 'result')]),
      lib.lines('Consul', 'Requests, by how they ended.', 'reqps', [rate('consul_requests_total', 'result')]),
      lib.lines('Since Consul last told', 'Of a service that a rollout waits for; stays below a minute or so.', 's', [lib.target('max by (namespace) (%s{%s})' % [name('consul_snapshot_age_seconds'), all], '{{namespace}}')]),
    ]),
    lib.row('Reconciles', [
      lib.lines('Reconciles', 'By how they ended.', 'ops', [rate('reconcile_total', 'outcome')]),
      lib.lines('Failed ones', 'By rollout.', 'ops', [shown('sum %s (rate(%s{%s}[$__rate_interval]))' % [lib.byResource('name'), name('reconcile_errors_total'), rollout])]),
      lib.lines('Time of a reconcile', 'One in a hundred takes at least that long.', 's', [lib.target(quantile('0.99', 'reconcile_duration_seconds', ''), '99 %')]),
      lib.lines('Queue', 'StatefulsetRollouts that wait for a reconcile.', 'short', [lib.target('max by (namespace) (%s{%s})' % [name('queue_depth'), all], '{{namespace}}')]),
    ]),
  ], shown=name('percent_deployed')),
}
