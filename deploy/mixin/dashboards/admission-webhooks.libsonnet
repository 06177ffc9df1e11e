local lib = import 'lib.libsonnet';

function(config) {
  local reviews = lib.selector + ', route=~"admission_.*"',
  local rate(suffix, more='') = 'rate(rollout_operator_request_duration_seconds_%s{%s%s}[$__rate_interval])' % [suffix, reviews, more],
  local bytes(what) = 'histogram_quantile(0.99, sum by (le, route) (rate(rollout_operator_%s_message_bytes_bucket{%s}[$__rate_interval])))' % [what, reviews],

  'admission-webhooks.json': lib.dashboard(config, 'rollout-operator-webhooks', 'Rollout operator / Admission webhooks', [], [
    lib.row('Now', [
      lib.number('Webhooks served', 'Replicas that serve webhooks.', 'short', [lib.target('sum(rollout_operator_capability_enabled{%s, capability="admission-webhooks"})' % lib.selector)]),
      lib.number('Reviews', 'A second, all webhooks together.', 'reqps', [lib.target('sum(%s)' % rate('count'))]),
      lib.number('Reviews not answered', 'Too much at once, or no review at all; a refusal is an answer.', 'percentunit', [lib.target('(sum(%s) or vector(0)) / sum(%s)' % [rate('count', ', status_code!="200"'), rate('count')])], 0.01),
      lib.number('Passed over on failure', 'Webhooks whose failurePolicy is Ignore, but for those that are shipped so.', 'short', [lib.target('count(max by (namespace, webhook) (kube_validating_webhook_failure_policy{%s, policy="Ignore", webhook!~"%s"}) > 0) or vector(0)' % [lib.selector, config.ignorableWebhooks])], 1),
      lib.number('Without a CA', 'Labelled webhook configurations that lack a CA of this operator.', 'short', [lib.target('max(rollout_operator_webhook_configurations_without_ca{%s})' % lib.selector)], 1),
      lib.number('Not routed', 'Replicas that the Service of the webhooks does not select.', 'short', [lib.target('count(max by (namespace, instance) (rollout_operator_webhook_reviews_not_routed{%s})) or vector(0)' % lib.selector)], 1),
    ]),
    lib.row('Reviews', [
      lib.lines('By webhook', 'Reviews a second.', 'reqps', [lib.target('sum by (route) (%s)' % rate('count'), '{{route}}')]),
      lib.lines('By status', 'A refusal is a 200, too: it is said in the review.', 'reqps', [lib.target('sum by (status_code) (%s)' % rate('count'), '{{status_code}}')]),
      lib.lines('By outcome', 'Denied is by a rule; all but Allowed and Denied is denied in doubt.', 'reqps', [lib.target('sum by (outcome) (rate(rollout_operator_admission_reviews_total{%s}[$__rate_interval]))' % lib.selector, '{{outcome}}')]),
      lib.lines('Time of an answer', 'The API server waits 10 s.', 's', [
        lib.target('histogram_quantile(0.5, sum by (le, route) (%s))' % rate('bucket'), '{{route}} median'),
        lib.target('histogram_quantile(0.99, sum by (le, route) (%s))' % rate('bucket'), '{{route}} 99 %'),
      ]),
    ]),
    lib.row('Load', [
      lib.lines('Under way', 'Reviews that are not answered yet.', 'short', [lib.target('sum by (route) (rollout_operator_inflight_requests{%s})' % reviews, '{{route}}')]),
      lib.lines('Size of a review', 'One review in a hundred is at least that large.', 'bytes', [lib.target(bytes('request'), '{{route}}')]),
      lib.lines('Size of an answer', 'One answer in a hundred is at least that large.', 'bytes', [lib.target(bytes('response'), '{{route}}')]),
    ]),
    lib.row('Configurations', [
      lib.bands('failurePolicy Ignore', 'Webhooks that are passed over when they do not answer.', [lib.target('max by (namespace, type, webhook) (kube_validating_webhook_failure_policy{%s, policy="Ignore"})' % lib.selector, '{{type}} {{webhook}}')]),
      lib.lines('Turned away by cluster validation', 'Requests with the label of another cluster, those that came and those that were sent.', 'reqps', [
        lib.target('sum by (method) (rate(rollout_operator_server_invalid_cluster_validation_label_requests_total{%s}[$__rate_interval]))' % lib.selector, 'came {{method}}'),
        lib.target('sum by (method) (rate(rollout_operator_client_invalid_cluster_validation_label_requests_total{%s}[$__rate_interval]))' % lib.selector, 'sent {{method}}'),
      ]),
    ]),
  ]),
}
