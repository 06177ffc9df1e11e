// What alerts are made of.
function(config) {
  // `extra` are labels besides those of the installation.
  by(extra=[]):: 'by (%s)' % std.join(', ', config.installation + extra),

  alert(name, severity, pending, expr, summary, description):: {
    alert: name,
    expr: expr,
    'for': pending,
    labels: { severity: severity },
    annotations: {
      summary: summary,
      description: description,
      runbook_url: config.runbookUrl % name,
    },
  },

  // Resources of several namespaces are carried out by one program: their own namespace is the label `namespace`, which a scrape
  // renames where it does not honour labels.
  ofResource(extra):: self.by(['exported_namespace'] + extra),
  place:: '{{ with $labels.exported_namespace }}{{ . }}{{ else }}{{ $labels.namespace }}{{ end }}',

  // Whether `metric` has counted something for `matcher` in the last `span`. A series is there from its first count on: that one is no
  // increase of anything.
  counted(metric, matcher, span, by):: |||
    (
      sum %(by)s (increase(%(metric)s{%(matcher)s}[%(span)s])) > 0
      or
      sum %(by)s (%(metric)s{%(matcher)s} unless %(metric)s{%(matcher)s} offset %(span)s) > 0
    )
  ||| % { metric: metric, matcher: matcher, span: span, by: by },
}
