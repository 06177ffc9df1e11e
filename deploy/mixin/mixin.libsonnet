// Alerts and dashboards of rollout-operator, in the shape that https://monitoring.mixins.dev describes.
(import 'config.libsonnet')
+ (import 'alerts.libsonnet')
+ (import 'dashboards.libsonnet')
