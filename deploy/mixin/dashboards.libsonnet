{
  grafanaDashboards+::
    (import 'dashboards/rollout-groups.libsonnet')($._config)
    + (import 'dashboards/replica-coordination.libsonnet')($._config)
    + (import 'dashboards/admission-webhooks.libsonnet')($._config)
    + (import 'dashboards/zone-aware-updates.libsonnet')($._config)
    + (import 'dashboards/statefulset-rollouts.libsonnet')($._config)
    + (import 'dashboards/certificates.libsonnet')($._config)
    + (import 'dashboards/operator.libsonnet')($._config),
}
