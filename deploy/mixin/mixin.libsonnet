// Alerts and dashboards of rollout-operator, in the shape that https://monitoring.mixins.dev describes.
(import 'config.libsonnet')
+ (import 'alerts.libsonnet')
+ (import 'zone-alerts.libsonnet')
+ (import 'statefulset-rollout-alerts.libsonnet')
+ (import 'dashboards.libsonnet')
