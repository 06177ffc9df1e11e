// The few kinds of panels that the dashboards are made of.
{
  // What every query of a dashboard selects by.
  selector:: 'cluster=~"$cluster", namespace=~"$namespace", job=~"$job"',

  local datasource = { type: 'prometheus', uid: '$datasource' },

  // A query and what its series are called.
  target(expr, legend='__auto', instant=false):: {
    datasource: datasource,
    expr: expr,
    legendFormat: legend,
    instant: instant,
    range: !instant,
  },

  local panel(type, title, description, unit, targets) = {
    type: type,
    title: title,
    description: description,
    datasource: datasource,
    targets: std.mapWithIndex(function(index, each) each { refId: std.char(65 + index) }, targets),
    fieldConfig: { defaults: { unit: unit, min: 0, custom: {} }, overrides: [] },
    options: {},
  },

  // Lines over time.
  lines(title, description, unit, targets):: panel('timeseries', title, description, unit, targets) {
    fieldConfig+: { defaults+: { custom: { fillOpacity: 8, showPoints: 'never', spanNulls: false } } },
    options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
  },

  // One number, the newest; `alarm` is from where on it is red.
  number(title, description, unit, targets, alarm=null):: panel('stat', title, description, unit, targets) {
    fieldConfig+: {
      defaults+: {
        color: { mode: 'thresholds' },
        thresholds: {
          mode: 'absolute',
          steps: [{ color: 'green', value: null }] + (if alarm == null then [] else [{ color: 'red', value: alarm }]),
        },
      },
    },
    options: { reduceOptions: { calcs: ['lastNotNull'] }, colorMode: 'value', graphMode: 'area' },
  },

  // A band for each series while it is there: for gauges that are 1 with a reason, else absent.
  bands(title, description, targets):: panel('state-timeline', title, description, 'short', targets) {
    fieldConfig+: {
      defaults+: {
        color: { mode: 'fixed', fixedColor: 'orange' },
        custom: { fillOpacity: 70, lineWidth: 0 },
        mappings: [{ type: 'value', options: { '0': { text: 'no', color: 'green' }, '1': { text: 'yes', color: 'orange' } } }],
      },
    },
    options: { showValue: 'never', legend: { showLegend: false }, mergeValues: true },
  },

  row(title, panels):: { title: title, panels: panels },

  local variable(name, label, query) = {
    name: name,
    label: label,
    type: 'query',
    datasource: datasource,
    query: { query: query, refId: name },
    definition: query,
    includeAll: true,
    allValue: '.*',
    multi: true,
    refresh: 2,
    sort: 1,
    current: { selected: true, text: ['All'], value: ['$__all'] },
  },

  local heightOf(each) = if each.type == 'stat' then 4 else 8,

  local ordered(rows) = std.foldl(
    function(placed, row)
      local width = std.floor(24 / std.length(row.panels));
      local height = std.foldl(std.max, std.map(heightOf, row.panels), 0);
      local head = {
        type: 'row',
        title: row.title,
        collapsed: false,
        panels: [],
        gridPos: { x: 0, y: placed.y, w: 24, h: 1 },
      };
      local body = std.mapWithIndex(
        function(index, each) each { gridPos: { x: index * width, y: placed.y + 1, w: width, h: height } },
        row.panels
      );
      { y: placed.y + 1 + height, panels: placed.panels + [head] + body },
    rows,
    { y: 0, panels: [] }
  ).panels,

  // A dashboard whose panels stand row by row, those of a row equally wide; `shown` is a metric of the programs that it is about.
  dashboard(config, uid, title, variables, rows, shown='rollout_operator_capability_enabled'):: {
    uid: uid,
    title: title,
    tags: config.dashboardTags,
    schemaVersion: 39,
    editable: true,
    graphTooltip: 1,
    refresh: '1m',
    time: { from: 'now-6h', to: 'now' },
    timezone: 'browser',
    links: [{ type: 'dashboards', title: 'Rollout operator', tags: config.dashboardTags, asDropdown: true, includeVars: true, keepTime: true }],
    templating: {
      list: [
        { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus', current: {}, refresh: 1 },
        variable('cluster', 'Cluster', 'label_values(%s, cluster)' % shown),
        variable('namespace', 'Namespace', 'label_values(%s{cluster=~"$cluster"}, namespace)' % shown),
        variable('job', 'Job', 'label_values(%s{cluster=~"$cluster", namespace=~"$namespace"}, job)' % shown),
      ] + variables,
    },
    panels: std.mapWithIndex(function(index, each) each { id: index + 1 }, ordered(rows)),
  },

  // Chooses among the rollout groups of the chosen installations.
  groupVariable:: variable('group', 'Rollout group', 'label_values(rollout_operator_group_reconciles_total{%s}, rollout_group)' % self.selector),
  groupSelector:: self.selector + ', rollout_group=~"$group"',

  // Chooses among the resources that the label `key` of `metric` names.
  resourceVariable(name, label, metric, key):: variable(name, label, 'label_values(%s{%s}, %s)' % [metric, self.selector, key]),

  // What tells one resource from another: of its two namespaces one is that of the program, where the scrape renames labels.
  byResource(key, more=[]):: 'by (%s)' % std.join(', ', ['namespace', 'exported_namespace', key] + more),
  resourceLegend(key, more=''):: '{{namespace}} {{exported_namespace}} {{%s}}%s' % [key, more],
}
