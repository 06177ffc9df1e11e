/** What scripts/checks/check-imports.ts keeps: which room may know which, what is core, who may touch the outside. */

/** Rooms in addition to those of src/, with the folder of each; imports name them by `#<room>/`. */
export const roomsBeside: Readonly<Record<string, string>> = {
  cluster: 'cluster',
  demo: 'demo',
  support: 'test/support',
};

/**
 * The house, top row first. A room, or a file at the top of src/ that is not `operator.ts`, imports from the
 * rows below its own and never from its own row.
 */
export const rows: readonly (readonly string[])[] = [
  ['main'],
  ['demo'],
  ['command'],
  ['operator'],
  ['cluster'],
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
  ['main', ['command', 'demo']],
  ['cluster', ['kubernetes', 'statefulset', 'base']],
]);

/** Rooms that only these rooms, and tests, may import (D-44). */
export const onlyImportedBy: ReadonlyMap<string, readonly string[]> = new Map([
  ['cluster', ['demo']],
  ['support', []],
]);

/** Whether `path` is a test, or serves only tests: it may import every room. */
export function isTest(path: string): boolean {
  return /\.test\.ts$|^(?:test|bench)\//.test(path);
}

/** Whether `path` is core: pure, also through whatever it imports. */
export function isCore(path: string): boolean {
  if (isTest(path) || /^src\/(?:command|operator)\//.test(path)) return false;
  return (
    /^src\/(?:base|statefulset|disruption)\//.test(path) ||
    /^src\/(?:[^/]+\/)+(?:api|plan[^/]*)\.ts$/.test(path)
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
  'demo/': 'talks to the terminal',
  'src/command/': 'talks to the terminal',
  'src/telemetry/system-clock.ts': 'is the Clock of the real world',
  'src/telemetry/http/http-server.ts': 'serves probes and scrapers',
  'src/telemetry/tracing/header-checks.ts':
    'takes two checks from node:http without all that comes with an import',
  'src/telemetry/metrics/process-metrics.ts': 'measures the process for scrapers',
  'src/admission/server/admission-server.ts': 'serves reviews',
  'src/kubernetes/transport/connections.ts': 'makes the connections of the real world',
  'src/pod-http/http-request.ts':
    'takes the client of node:http without all that comes with an import',
  'cluster/clock/virtual-clock.ts': 'lets the event loop run between two instants',
  'cluster/transport/listener.ts': 'serves the cluster to real clients',
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
