/**
 * Returns the `route` label of a path template (ME-14): runs of other characters than letters and digits become `_`,
 * `/admission/pod-eviction` is `admission_pod_eviction`.
 */
export function routeLabel(template: string): string {
  return template
    .replace(/[^a-zA-Z0-9]+/g, '_')
    .replace(/^_|_$/g, '')
    .toLowerCase();
}

/**
 * Returns what labels paths by the templates of a server; what matches none is `other`, so that series stay few.
 *
 * @param templates exact paths, or ending in `/*` paths with all that is below them
 */
export function routeLabeler(templates: readonly string[]): (path: string) => string {
  const exact = new Map<string, string>();
  const below: (readonly [prefix: string, label: string])[] = [];
  for (const template of templates) {
    const path = template.endsWith('/*') ? template.slice(0, -2) : template;
    exact.set(path, routeLabel(path));
    if (path !== template) below.push([`${path}/`, routeLabel(path)]);
  }
  return (path) =>
    exact.get(path) ?? below.find(([prefix]) => path.startsWith(prefix))?.[1] ?? 'other';
}
