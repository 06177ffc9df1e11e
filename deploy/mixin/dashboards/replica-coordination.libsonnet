local lib = import 'lib.libsonnet';

function(config) {
  local group = lib.groupSelector,
  local waits = ['AwaitingPods', 'DownscaleDelayed', 'LeaderNotReady', 'MinimumTimeNotElapsed', 'ScaleOrder', 'ZoneBeingChanged'],
  local blocked(list) = 'max by (namespace, rollout_group, reason) (rollout_operator_group_blocked{%s, reason=~"%s"})' % [group, std.join('|', list)],
  local podRequests(suffix) = 'rollout_operator_pod_http_client_request_duration_seconds_%s{%s}[$__rate_interval]' % [suffix, lib.selector],
  local apiRequests = 'rollout_operator_kubernetes_api_client_request_duration_seconds',
  local scale = lib.selector + ', path=~".* scale subresource"',

  'replica-coordination.json': lib.dashboard(config, 'rollout-operator-replicas', 'Rollout operator / Replica coordination', [lib.groupVariable], [
    lib.row('Replicas', [
      lib.lines('Pods', 'By StatefulSet, outdated and updated ones.', 'short', [lib.target('sum by (namespace, statefulset) (max by (namespace, rollout_group, statefulset, state) (rollout_operator_statefulset_pods{%s, state=~"outdated|updated"}))' % group, '{{namespace}}/{{statefulset}}')]),
      lib.bands('Scaling that somebody must unblock', 'docs/reasons.md says what to do about each.', [lib.target(blocked(config.reasons.scaling), '{{namespace}}/{{rollout_group}}: {{reason}}')]),
      lib.bands('Scaling that waits', 'Delays, the minimum time between zones, a leader that is not ready yet.', [lib.target(blocked(waits), '{{namespace}}/{{rollout_group}}: {{reason}}')]),
    ]),
    lib.row('Requests to pods', [
      lib.lines('Requests', 'Pods are asked whether they are prepared to go, or told that they stay.', 'reqps', [lib.target('sum by (method, path, status_code) (rate(%s))' % podRequests('count'), '{{method}} {{path}} {{status_code}}')]),
      lib.lines('Time of an answer', 'One request in a hundred takes at least that long.', 's', [lib.target('histogram_quantile(0.99, sum by (le, method, path) (rate(%s)))' % podRequests('bucket'), '{{method}} {{path}}')]),
    ]),
    lib.row('Requests to the API server', [
      lib.lines('Scale subresources', 'Reading what is mirrored, and changing replicas.', 'reqps', [lib.target('sum by (method, path, status_code) (rate(%s_count{%s}[$__rate_interval]))' % [apiRequests, scale], '{{method}} {{path}} {{status_code}}')]),
      lib.lines('Time of an answer', 'One request in a hundred takes at least that long.', 's', [lib.target('histogram_quantile(0.99, sum by (le, method, path) (rate(%s_bucket{%s}[$__rate_interval])))' % [apiRequests, scale], '{{method}} {{path}}')]),
    ]),
  ]),
}
