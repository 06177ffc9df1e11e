local lib = import 'lib.libsonnet';

function(config) {
  local left = 'rollout_operator_certificate_expiry_timestamp_seconds{%s} - time()' % lib.selector,
  local requests = lib.selector + ', path=~"core/v1/secrets .*|admissionregistration.k8s.io/v1/.*"',

  'certificates.json': lib.dashboard(config, 'rollout-operator-certificates', 'Rollout operator / Certificates', [], [
    lib.row('Now', [
      lib.number('Left until it expires', 'Of the served certificate that expires first.', 's', [lib.target('min(%s)' % left)]),
      lib.number('Changes that wait', 'Replicas that do not serve the certificate of the Secret yet.', 'short', [lib.target('count(max by (instance) (rollout_operator_certificate_rotation_waiting{%s})) or vector(0)' % lib.selector)], 1),
      lib.number('Configurations without a CA', 'Labelled webhook configurations that lack a CA of this operator.', 'short', [lib.target('max(rollout_operator_webhook_configurations_without_ca{%s})' % lib.selector)], 1),
    ]),
    lib.row('Over time', [
      lib.lines('Left until it expires', 'By replica; jumps up when a new one is served.', 's', [lib.target('min by (namespace, instance) (%s)' % left, '{{namespace}} {{instance}}')]),
      lib.bands('Why a change waits', 'The runbook of RolloutOperatorCertificateRotationWaiting says what to do.', [lib.target('max by (namespace, instance, reason) (rollout_operator_certificate_rotation_waiting{%s})' % lib.selector, '{{namespace}} {{instance}}: {{reason}}')]),
      lib.lines('Configurations without a CA', 'By namespace.', 'short', [lib.target('max by (namespace) (rollout_operator_webhook_configurations_without_ca{%s})' % lib.selector, '{{namespace}}')]),
    ]),
    lib.row('Requests to the API server', [
      lib.lines('Secrets and webhook configurations', 'Reading and renewing the Secret, publishing the CA.', 'reqps', [lib.target('sum by (method, path, status_code) (rate(rollout_operator_kubernetes_api_client_request_duration_seconds_count{%s}[$__rate_interval]))' % requests, '{{method}} {{path}} {{status_code}}')]),
    ]),
  ]),
}
