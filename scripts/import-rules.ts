/** What scripts/check-imports.ts keeps: which room of src/ may know which, what is core, who may touch the outside. */

/**
 * The house, top row first. A folder, or a file at the top of src/, imports from the
 * rows below its own and never from its own row.
 */
export const rows: readonly (readonly string[])[] = [
  ['main'],
  ['command'],
  [
    'operator',
    'operator-phased-rollout',
    'operator-statefulset-rollout',
    'operator-zone-aware-controllers',
  ],
  ['operator-zone-term'],
  [
    'operator-phased-capability',
    'operator-statefulset-capability',
    'operator-zone-capabilities',
    'operator-phased-reconcile',
    'operator-statefulset-reconcile',
    'operator-term',
    'operator-zone-updates',
  ],
  ['operator-led-terms', 'operator-resources'],
  [
    'operator-admission',
    'operator-budgets',
    'operator-capabilities',
    'operator-client',
    'operator-election',
    'operator-phased-ports',
    'operator-statefulset-ports',
    'operator-manager-servers',
    'operator-role',
    'operator-statefulset-figures',
    'operator-zone-budgets',
    'operator-zone-figures',
    'operator-zone-update-ports',
  ],
  [
    'operator-caches',
    'operator-certificate',
    'operator-consul',
    'operator-missing-rules',
    'operator-rollout-outside',
  ],
  ['operator-zone-caches', 'operator-outside-figures'],
  ['operator-all-permissions'],
  [
    'operator-permissions',
    'operator-phased-permissions',
    'operator-statefulset-permissions',
    'operator-zone-permissions',
  ],
  ['embedded-cluster'],
  ['dashboard', 'admission'],
  [
    'rollout-group',
    'replica-coordination',
    'zone-aware-update',
    'phased-rollout',
    'statefulset-rollout',
    'disruption-budget',
    'zone-disruption-budget',
    'certificate',
  ],
  ['check', 'notification', 'pod-http', 'control'],
  ['disruption'],
  ['statefulset', 'kubernetes'],
  ['config', 'telemetry'],
  ['base'],
];

/** Rooms that know fewer rooms than the rows below them (D-44). */
export const onlyImports: ReadonlyMap<string, readonly string[]> = new Map([
  ['main', ['command', 'operator']],
  ['embedded-cluster', ['kubernetes', 'statefulset', 'base']],
]);

/** Rooms that only these rooms, and tests, may import (D-44). */
export const onlyImportedBy: ReadonlyMap<string, readonly string[]> = new Map([
  ['embedded-cluster', ['command']],
  ['testing', []],
]);

/** Whether `path` is a test, or serves only tests: it may import every room. */
export function isTest(path: string): boolean {
  return /\.test\.ts$|^(?:test|bench|src\/testing)\//.test(path);
}

/** Whether `path` is core: pure, also through whatever it imports. */
export function isCore(path: string): boolean {
  if (isTest(path) || path.startsWith('src/command/')) return false;
  return (
    /^src\/(?:base|statefulset|disruption)\//.test(path) ||
    /^src\/[^/]+\/(?:api|plan[^/]*)\.ts$/.test(path)
  );
}

/** Packages that compute and do nothing else, and which the core may therefore use. */
export const purePackages: readonly string[] = ['zod'];

/**
 * Files that connect the program to the real clock, timers, network and process (SIM-1), each with the
 * reason. All else in src/ gets them through a port. A path without `.ts` stands for all that begin with it.
 */
export const adapters: Readonly<Record<string, string>> = {
  'src/main.ts': 'reads the arguments and the environment, sets the exit code',
  'src/command/': 'talks to the terminal',
  'src/telemetry/system-clock.ts': 'is the Clock of the real world',
  'src/telemetry/http-server.ts': 'serves probes and scrapers',
  'src/telemetry/header-checks.ts':
    'takes two checks from node:http without all that comes with an import',
  'src/telemetry/process-metrics.ts': 'measures the process for scrapers',
  'src/admission/admission-server.ts': 'serves reviews',
  'src/kubernetes/undici-transport.ts': 'is the Transport of the real world',
  'src/embedded-cluster/virtual-clock.ts': 'lets the event loop run between two instants',
  'src/embedded-cluster/listener.ts': 'serves the cluster to real clients',
  'src/testing/consul-': 'stands in for Consul, or starts a real one, and talks to both',
  'src/testing/fake-': 'stands in for the outside in tests',
  'src/testing/manual-clock.ts': 'stands in for the outside in tests',
};

/** Globals that read the outside or act on it. */
export const impureGlobals: ReadonlySet<string> = new Set([
  'performance',
  'process',
  'fetch',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'crypto',
  'console',
  'globalThis',
  'global',
  'navigator',
  'WebSocket',
  'EventSource',
]);

/** Globals that are pure but for these members. */
export const impureMembers: ReadonlyMap<string, readonly string[]> = new Map([
  ['Date', ['now']],
  ['Math', ['random']],
  ['AbortSignal', ['timeout']],
  ['Temporal', ['Now']],
]);

/** Modules that hand out the same globals under another name. */
export const impureModules: readonly string[] = [
  'node:timers',
  'node:timers/promises',
  'node:perf_hooks',
  'node:process',
  'node:console',
];
