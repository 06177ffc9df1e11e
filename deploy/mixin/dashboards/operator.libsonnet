local lib = import 'lib.libsonnet';

function(config) {
  local all = lib.selector,
  local api = 'rollout_operator_kubernetes_api_client_request_duration_seconds',
  local byInstance = '{{namespace}} {{instance}}',
  local gauge(name, unit, title, description) = lib.lines(title, description, unit, [lib.target('max by (namespace, instance) (%s{%s})' % [name, all], byInstance)]),

  'operator.json': lib.dashboard(config, 'rollout-operator-operator', 'Rollout operator / Operator', [], [
    lib.row('Now', [
      lib.number('Replicas', 'That are scraped.', 'short', [lib.target('sum(up{%s})' % all)]),
      lib.number('Leaders', 'One for each installation.', 'short', [lib.target('sum(leader_election_master_status{%s})' % all)]),
      lib.number('Other Leases', 'Leases of others that are held for the same namespaces.', 'short', [lib.target('count(max by (namespace, lease) (rollout_operator_rival_leases{%s})) or vector(0)' % all)], 1),
      lib.number('Missing permissions', 'Optional permissions that the Role does not grant.', 'short', [lib.target('count(max by (namespace, verb, resource) (rollout_operator_refused_permissions{%s})) or vector(0)' % all)]),
      lib.number('Views not fresh', 'Types of objects whose view is not kept up to date.', 'short', [lib.target('count(max by (namespace, resource) (rollout_operator_view_not_fresh{%s})) or vector(0)' % all)], 1),
    ]),
    lib.row('Leading', [
      lib.bands('Who leads', 'A replica with "no" stands by.', [lib.target('max by (namespace, instance, name) (leader_election_master_status{%s})' % all, '{{namespace}} {{instance}} {{name}}')]),
      lib.bands('Capabilities', 'What runs, and why the rest does not.', [lib.target('max by (namespace, capability, reason) (rollout_operator_capability_enabled{%s})' % all, '{{namespace}} {{capability}}: {{reason}}')]),
      lib.bands('What the Role lacks', 'docs/compatibility.md says what each permission is for.', [lib.target('max by (namespace, verb, resource) (rollout_operator_refused_permissions{%s})' % all, '{{namespace}} {{verb}} {{resource}}')]),
      lib.bands('Views not fresh', 'Nothing is disrupted meanwhile.', [lib.target('max by (namespace, resource) (rollout_operator_view_not_fresh{%s})' % all, '{{namespace}} {{resource}}')]),
    ]),
    lib.row('Requests to the API server', [
      lib.lines('By status', '"error" is a request without an answer.', 'reqps', [lib.target('sum by (status_code) (rate(%s_count{%s}[$__rate_interval]))' % [api, all], '{{status_code}}')]),
      lib.lines('By what is asked', 'Method and kind of object.', 'reqps', [lib.target('sum by (method, path) (rate(%s_count{%s}[$__rate_interval]))' % [api, all], '{{method}} {{path}}')]),
      lib.lines('Time of an answer', 'One request in a hundred takes at least that long; watches count until they begin.', 's', [lib.target('histogram_quantile(0.99, sum by (le, method, path) (rate(%s_bucket{%s}[$__rate_interval])))' % [api, all], '{{method}} {{path}}')]),
      lib.lines('Given up by the rate limit', 'Only with -kubernetes.client-qps.', 'reqps', [lib.target('sum by (api_group) (rate(rollout_operator_kubernetes_api_client_rate_limited_requests_total{%s}[$__rate_interval]))' % all, '{{api_group}}')]),
    ]),
    lib.row('The process', [
      lib.lines('CPU', 'Cores that are taken.', 'short', [lib.target('max by (namespace, instance) (rate(process_cpu_seconds_total{%s}[$__rate_interval]))' % all, byInstance)]),
      lib.lines('Busy', 'Share of its one thread that is taken, collecting garbage included; near 1 answers come late.', 'percentunit', [lib.target('max by (namespace, instance) (rate(nodejs_eventloop_active_seconds_total{%s}[$__rate_interval]))' % all, byInstance)]),
      gauge('process_resident_memory_bytes', 'bytes', 'Memory', 'Resident set; the limit of the container is about this.'),
      gauge('nodejs_heap_size_used_bytes', 'bytes', 'Heap', 'Objects of JavaScript.'),
    ]),
    lib.row('Its resources', [
      lib.lines('File descriptors', 'Open ones, as a share of the limit.', 'percentunit', [lib.target('max by (namespace, instance) (process_open_fds{%s} / process_max_fds{%s})' % [all, all], byInstance)]),
      lib.lines('What is open', 'Sockets, timers and so on by type; one that only grows is a leak.', 'short', [lib.target('max by (namespace, instance, type) (nodejs_active_resources{%s})' % all, '{{instance}} {{type}}')]),
      lib.lines('Up for', 'Falls to 0 at each start.', 's', [lib.target('time() - max by (namespace, instance) (process_start_time_seconds{%s})' % all, byInstance)]),
      lib.lines('HTTP requests under way', 'Probes and scrapes as well as reviews.', 'short', [lib.target('sum by (namespace, instance, route) (rollout_operator_inflight_requests{%s})' % all, '{{instance}} {{route}}')]),
    ]),
  ]),
}
