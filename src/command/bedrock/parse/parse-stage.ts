import { type At, type BedrockFields, dnsLabel, member, type TextRule } from './bedrock-fields.ts';
import type { Stage, UnsupportedKind, Workload } from './bedrock-file.ts';
import { workloadKeys, workloadOf } from './parse-workload.ts';

const stageKeys = [
  'strategy',
  'orchestration',
  'clusters',
  'replicas',
  'namespace',
  'dc',
  ...workloadKeys,
] as const;
const day = 86_400;
const mostInt32 = 2_147_483_647;

/** A folder is made of it. */
const clusterName: TextRule = {
  pattern: /^[A-Za-z0-9](?:[-\w]|\.(?!\.))*$/,
  wanted:
    'must be a name of letters, digits, "-", "_" and single "." with at most 128 characters, which begins with a letter or digit',
  most: 128,
};
const datacenter: TextRule = {
  pattern: /^[A-Za-z0-9_-]+$/,
  wanted: 'must have 1 to 64 letters, digits, "_" and "-"',
  most: 64,
};

/** What a stage has from around it. */
export interface StageSurroundings {
  readonly service: string;
  readonly images: ReadonlySet<string>;
  /** What its service says. */
  readonly shared: Partial<Workload>;
}

/** Reads the stage `name` at `at`; what is wrong is kept in `fields`, and something harmless takes its place. */
export function stageOf(
  at: At & { readonly key: string },
  { service, images, shared }: StageSurroundings,
  fields: BedrockFields,
): Stage {
  fields.text({ value: at.key, path: at.path }, dnsLabel);
  fields.map(at);
  fields.onlyKeys(at, stageKeys);
  const own = { ...shared, ...workloadOf(at, images, fields) };
  if (own.containers === undefined)
    fields.fail(at.path, 'must have containers, or its service must: got none');
  refuseOtherStrategies(member(at, 'strategy'), fields);
  return {
    service,
    name: at.key,
    path: at.path,
    unsupported: unsupportedKindAt(member(at, 'kind'), fields),
    namespace: fields.text(member(at, 'namespace'), dnsLabel) ?? 'default',
    dc: fields.text(member(at, 'dc'), datacenter),
    clusters: clustersOf(member(at, 'clusters'), fields),
    replicas: fields.integer(member(at, 'replicas'), [0, mostInt32]),
    ...orchestrationOf(member(at, 'orchestration'), fields),
    workload: { ...bareWorkload, ...own },
  };
}

/** Returns the kind at `at` where nothing here is made of it; undefined where it is StatefulSet, or not there. */
export function unsupportedKindAt(at: At, fields: BedrockFields): UnsupportedKind | undefined {
  const kind = fields.text(at);
  if (kind === undefined || kind === 'StatefulSet') return undefined;
  return { kind, path: at.path, line: fields.lineAt(at.path) };
}

const bareWorkload: Workload = {
  containers: [],
  maxUnavailable: undefined,
  notify: {},
  serviceName: undefined,
  labels: {},
  annotations: {},
  volumeClaimTemplates: [],
  podSpec: {},
};

function refuseOtherStrategies(at: At, fields: BedrockFields): void {
  if (at.value === undefined || at.value === 'OnDelete') return;
  fields.refuse(at, 'must be OnDelete: with any other the controller would delete pods by itself');
}

function clustersOf(at: At, fields: BedrockFields): readonly string[] {
  const items = fields.list(at) ?? [];
  const names = items.flatMap((each) => {
    if (each.value === undefined || each.value === null) fields.refuse(each, clusterName.wanted);
    return fields.text(each, clusterName) ?? [];
  });
  // Folders may be the same whatever the case of their names.
  const distinct = new Set(names.map((name) => name.toLowerCase()));
  if (distinct.size < names.length) fields.fail(at.path, 'must have each cluster once');
  return names;
}

function orchestrationOf(
  at: At,
  fields: BedrockFields,
): Pick<Stage, 'phases' | 'minPodEvictionIntervalSeconds'> {
  fields.map(at);
  fields.onlyKeys(at, ['min_pod_eviction_interval_seconds', 'phases']);
  const interval = member(at, 'min_pod_eviction_interval_seconds');
  return {
    phases: phasesOf(member(at, 'phases'), fields),
    minPodEvictionIntervalSeconds: fields.integer(interval, [0, day]),
  };
}

/** Reads the percentages, which only rise (H-13). */
function phasesOf(at: At, fields: BedrockFields): readonly number[] {
  const items = fields.list(at);
  if (items === undefined) return [100];
  if (items.length === 0) fields.fail(at.path, 'must have at least one percentage: got none');
  const phases = items.flatMap((each) => fields.integer(each, [1, 100]) ?? []);
  for (const [index, percent] of phases.entries()) {
    const before = phases[index - 1] ?? 0;
    if (percent > before || phases.length < items.length) continue;
    fields.fail(`${at.path}[${index}]`, `must be more than ${before}, before it: got ${percent}`);
  }
  return phases;
}
