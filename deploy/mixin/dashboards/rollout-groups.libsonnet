local lib = import 'lib.libsonnet';

function(config) {
  local group = lib.groupSelector,
  local pods(state, by) = 'sum by (%s) (max by (namespace, rollout_group, statefulset) (rollout_operator_statefulset_pods{%s, state="%s"}))' % [by, group, state],
  local quantile(share) = 'histogram_quantile(%s, sum by (le, rollout_group) (rate(rollout_operator_group_reconcile_duration_seconds_bucket{%s}[$__rate_interval])))' % [share, group],

  'rollout-groups.json': lib.dashboard(config, 'rollout-operator-groups', 'Rollout operator / Rollout groups', [lib.groupVariable], [
    lib.row('Now', [
      lib.number('Groups', 'Rollout groups that are looked after.', 'short', [lib.target('count(max by (namespace, rollout_group) (rollout_operator_last_successful_group_reconcile_timestamp_seconds{%s}))' % group)]),
      lib.number('Outdated pods', 'Pods that do not run the update revision of their set yet.', 'short', [lib.target('sum(%s)' % pods('outdated', 'namespace'))]),
      lib.number('Unavailable pods', 'Pods that are missing, going, or not ready for minReadySeconds.', 'short', [lib.target('sum(%s)' % pods('unavailable', 'namespace'))]),
      lib.number('Groups that wait', 'Groups that do not proceed, for whatever reason; part of every rollout.', 'short', [lib.target('count(max by (namespace, rollout_group) (rollout_operator_group_blocked{%s})) or vector(0)' % group)]),
      lib.number('Sets with unusable input', 'StatefulSets with a label or an annotation that cannot be used as it is.', 'short', [lib.target('count(max by (namespace, statefulset) (rollout_operator_statefulset_warnings{%s})) or vector(0)' % group)], 1),
    ]),
    lib.row('Progress', [
      lib.lines('Outdated pods', 'By StatefulSet; falls to 0, one zone after the other.', 'short', [lib.target(pods('outdated', 'namespace, statefulset'), '{{namespace}}/{{statefulset}}')]),
      lib.lines('Updated pods', 'By StatefulSet.', 'short', [lib.target(pods('updated', 'namespace, statefulset'), '{{namespace}}/{{statefulset}}')]),
      lib.lines('Unavailable pods', 'By StatefulSet; two zones of a group at once are trouble.', 'short', [lib.target(pods('unavailable', 'namespace, statefulset'), '{{namespace}}/{{statefulset}}')]),
    ]),
    lib.row('Why it waits', [
      lib.bands('What groups wait for', 'The one reason that says it best; docs/reasons.md says what to do about each.', [lib.target('max by (namespace, rollout_group, reason) (rollout_operator_group_blocked{%s})' % group, '{{namespace}}/{{rollout_group}}: {{reason}}')]),
      lib.bands('Input that cannot be used', 'Labels and annotations that are passed over or read otherwise than they were meant.', [lib.target('max by (namespace, statefulset, reason) (rollout_operator_statefulset_warnings{%s})' % group, '{{namespace}}/{{statefulset}}: {{reason}}')]),
    ]),
    lib.row('Passes', [
      lib.lines('Passes', 'By group, failed ones included.', 'ops', [lib.target('sum by (namespace, rollout_group) (rate(rollout_operator_group_reconciles_total{%s}[$__rate_interval]))' % group, '{{namespace}}/{{rollout_group}}')]),
      lib.lines('Failed passes', 'By group.', 'ops', [lib.target('sum by (namespace, rollout_group) (rate(rollout_operator_group_reconciles_failed_total{%s}[$__rate_interval]))' % group, '{{namespace}}/{{rollout_group}}')]),
      lib.lines('Time of a pass', 'By group, with the answers that it waits for.', 's', [
        lib.target(quantile('0.5'), '{{rollout_group}} median'),
        lib.target(quantile('0.99'), '{{rollout_group}} 99 %'),
      ]),
      lib.lines('Since the last pass with success', 'By group; stays below the period of the resync.', 's', [lib.target('time() - max by (namespace, rollout_group) (rollout_operator_last_successful_group_reconcile_timestamp_seconds{%s})' % group, '{{namespace}}/{{rollout_group}}')]),
    ]),
  ]),
}
