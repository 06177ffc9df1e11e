local lib = import 'lib.libsonnet';

function(config) {
  local update = lib.selector + ', zau=~"$update"',
  local budget = lib.selector + ', zdb=~"$budget"',
  local ofUpdate(metric, more=[]) = 'max %s (%s{%s})' % [lib.byResource('zau', more), metric, update],
  local ofBudget(metric, more=[]) = 'max %s (%s{%s})' % [lib.byResource('zdb', more), metric, budget],
  local updates(metric) = lib.target(ofUpdate(metric), lib.resourceLegend('zau')),
  local zones(metric) = lib.target(ofBudget(metric, ['zone']), lib.resourceLegend('zdb', ' {{zone}}')),
  local variables = [
    lib.resourceVariable('update', 'ZoneAwareUpdate', 'zau_status_update_step', 'zau'),
    lib.resourceVariable('budget', 'ZoneDisruptionBudget', 'zdb_status_zones_unhealthy', 'zdb'),
  ],

  'zone-aware-updates.json': lib.dashboard(config, 'rollout-operator-zones', 'Rollout operator / Zone-aware updates', variables, [
    lib.row('Now', [
      lib.number('Updates under way', 'ZoneAwareUpdates that have done a step, and have not ended.', 'short', [lib.target('count(%s > 0) or vector(0)' % ofUpdate('zau_status_update_step'))]),
      lib.number('Paused', 'ZoneAwareUpdates that an alarm or a query pauses.', 'short', [lib.target('sum(%s)' % ofUpdate('zau_paused_rollout'))], 1),
      lib.number('Budgets with a zone that is not whole', 'ZoneDisruptionBudgets that let pods of that zone go only.', 'short', [lib.target('count(%s == 1) or vector(0)' % ofBudget('zdb_status_zones_unhealthy'))]),
      lib.number('Budgets with several', 'ZoneDisruptionBudgets that let no pod go.', 'short', [lib.target('count(%s > 1) or vector(0)' % ofBudget('zdb_status_zones_unhealthy'))], 1),
      lib.number('Dry runs', 'Updates that delete nothing, and budgets that refuse nothing.', 'short', [lib.target('(sum(%s) or vector(0)) + (sum(%s) or vector(0))' % [ofUpdate('zau_dryrun_enabled'), ofBudget('zdb_dryrun_enabled')])]),
    ]),
    lib.row('Progress', [
      lib.lines('Old pods', 'By zone, before the last step; falls to 0, one zone after the other.', 'short', [lib.target(ofUpdate('zau_status_old_replicas', ['zone']), lib.resourceLegend('zau', ' {{zone}}'))]),
      lib.lines('Steps', 'That were done; 0 while no update is under way.', 'short', [updates('zau_status_update_step')]),
      lib.lines('Pods of a step', 'That the last one deleted; grows from step to step, up to maxUnavailable.', 'short', [updates('zau_status_deleted_replicas')]),
    ]),
    lib.row('What holds updates', [
      lib.bands('Paused', 'By the alarm or the query; all other reasons are in the condition Progressing of the update.', [updates('zau_paused_rollout')]),
      lib.bands('Dry runs', 'Updates that delete nothing.', [updates('zau_dryrun_enabled')]),
    ]),
    lib.row('Budgets', [
      lib.lines('Pods that are not healthy', 'By zone; two zones of a budget at once are trouble.', 'short', [zones('zdb_status_current_unhealthy')]),
      lib.lines('Healthy pods', 'By zone, and how many the budget wants at least.', 'short', [
        zones('zdb_status_current_healthy'),
        lib.target(ofBudget('zdb_status_desired_healthy', ['zone']), lib.resourceLegend('zdb', ' {{zone}} at least')),
      ]),
      lib.lines('Pods', 'That there are to be, by zone.', 'short', [zones('zdb_status_expected_pods')]),
      lib.lines('Evictions that are still allowed', 'By zone.', 'short', [zones('zdb_status_disruptions_allowed')]),
    ]),
    lib.row('Evictions', [
      // A gauge that only grows, as the peer has it.
      lib.lines('Answers', 'To evictions, by what was said.', 'reqps', [lib.target('sum by (status, reason) (rate(zdb_eviction_status_reason{%s}[$__rate_interval]))' % lib.selector, '{{status}} {{reason}}')]),
      lib.bands('Dry runs', 'Budgets that refuse nothing.', [lib.target(ofBudget('zdb_dryrun_enabled'), lib.resourceLegend('zdb'))]),
    ]),
  ], shown='zau_status_update_step'),
}
