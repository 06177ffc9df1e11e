/** Makes the resources of one stage. Pure: the identity of the rollout comes in. */
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { parseStatefulsetRollout } from '#statefulset-rollout/spec/parse-spec.ts';
import type { Stage } from '../parse/bedrock-file.ts';
import { type Finding, memberPath, mistake, seen } from '../parse/finding.ts';
import { versionLabel } from '../parse/parse-workload.ts';
import type { ImageReferences } from './image-references.ts';

/** What is deployed, besides what the file says. */
export interface Deploy {
  readonly images: ImageReferences;
  readonly percent: number;
  /** Opaque; a new one begins the rollout again. */
  readonly identity: string;
  readonly version?: string;
  readonly git?: { readonly branch?: string; readonly origin?: string; readonly sha?: string };
  /** Who is called back. */
  readonly bapi?: { readonly bapiUrl: string; readonly stageId: string };
  /** In place of the stage's own. */
  readonly dc?: string;
}

/** The resources of a stage, the budget first, so that it is there before the first eviction (H-11); or why there are none. */
export type Conversion =
  | {
      readonly kind: 'valid';
      readonly resources: readonly [budget: JsonObject, rollout: JsonObject];
    }
  | { readonly kind: 'invalid'; readonly findings: readonly Finding[] };

/** Longest name by which the hash of a revision still fits into a label together with it. */
const longestUsualName = 52;
/** Longest value of a label. */
const longestName = 63;

/** Returns the name of all that is made of `stage`. */
function resourceName({ service, name }: Stage): string {
  return `${service}-${name}`;
}

/** Returns what is odd with `stage`, and does not keep it from being deployed. */
export function warningsOf(
  stage: Stage,
  lineAt: (path: string) => number | undefined,
): readonly Finding[] {
  const { phases, workload, path } = stage;
  const name = resourceName(stage);
  const warning = (at: string, message: string): Finding => {
    return { severity: 'warning', line: lineAt(at), path: at, message };
  };
  const last = phases.at(-1) ?? 0;
  return [
    ...(last < 100
      ? [warning(`${path}.orchestration.phases`, `should end with 100: got ${last}`)]
      : []),
    ...(workload.maxUnavailable === undefined
      ? [warning(`${path}.disruption_policy.max_unavailable`, 'is not there: the budget has 1')]
      : []),
    ...(name.length > longestUsualName && name.length <= longestName
      ? [
          warning(
            path,
            `should have a service and a stage of ${longestUsualName} characters: ${name}`,
          ),
        ]
      : []),
  ];
}

/** Makes the budget and the StatefulsetRollout of `stage` (H-11, H-12). */
export function convert(stage: Stage, deploy: Deploy): Conversion {
  const name = resourceName(stage);
  if (name.length > longestName) {
    const message = `must make a name of at most ${longestName} characters with its service: got ${seen(name)}`;
    return { kind: 'invalid', findings: [mistake(stage.path, message)] };
  }
  const podSpec = podSpecOf(stage, deploy.images);
  if (podSpec.kind === 'invalid') return podSpec;
  const rollout = rolloutOf(stage, deploy, podSpec.podSpec);
  // The same rules as the API server's: what is made here is never refused there.
  const read = parseStatefulsetRollout(rollout);
  if (read.kind === 'invalid') {
    const { path, message } = read.problem;
    return { kind: 'invalid', findings: [mistake(givenBy[path] ?? path, message)] };
  }
  return { kind: 'valid', resources: [budgetOf(stage), rollout] };
}

/** Options by the fields that they fill. */
const givenBy: Readonly<Record<string, string>> = {
  'spec.bapi.bapiUrl': '--bapi-url',
  'spec.bapi.stageId': '--stage-id',
  'spec.serviceDiscovery.dc': '--dc',
  'spec.rolloutIdentity': '--rollout-identity',
  'spec.percent': '--percent',
};

function budgetOf(stage: Stage): JsonObject {
  const { namespace, workload } = stage;
  const name = resourceName(stage);
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace, labels: { ...workload.labels, app: name } },
    spec: {
      maxUnavailable: workload.maxUnavailable ?? 1,
      selector: { matchLabels: { app: name } },
    },
  };
}

function rolloutOf(stage: Stage, deploy: Deploy, podSpec: JsonObject): JsonObject {
  const { namespace, workload, service, minPodEvictionIntervalSeconds } = stage;
  const { channel, level } = workload.notify;
  const { percent, identity, bapi } = deploy;
  const dc = deploy.dc ?? stage.dc;
  return {
    apiVersion: 'bedrock.operator.slack.com/v1',
    kind: 'StatefulsetRollout',
    metadata: { name: resourceName(stage), namespace, ...marksOf(stage, deploy) },
    spec: {
      percent,
      rolloutIdentity: identity,
      pauseRequested: false,
      ...(minPodEvictionIntervalSeconds !== undefined && { minPodEvictionIntervalSeconds }),
      ...(channel !== undefined && { channel }),
      ...(level !== undefined && { notifications: { slack: { level } } }),
      ...(bapi !== undefined && { bapi: { ...bapi } }),
      ...(dc !== undefined && { serviceDiscovery: { dc, serviceNames: [service] } }),
      statefulset: setOf(stage, deploy, podSpec),
    },
  };
}

function setOf(stage: Stage, deploy: Deploy, podSpec: JsonObject): JsonObject {
  const name = resourceName(stage);
  const { labels, annotations } = marksOf(stage, deploy);
  const { replicas, workload } = stage;
  const { serviceName, volumeClaimTemplates } = workload;
  // No git annotations: each commit would make another revision of what is the same.
  const template = {
    labels,
    ...(Object.keys(workload.annotations).length > 0 && { annotations: workload.annotations }),
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name, labels, ...(annotations !== undefined && { annotations }) },
    spec: {
      ...(replicas !== undefined && { replicas }),
      ...(serviceName !== undefined && { serviceName }),
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: 'OnDelete' },
      selector: { matchLabels: { app: name } },
      template: { metadata: template, spec: podSpec },
      ...(volumeClaimTemplates.length > 0 && { volumeClaimTemplates }),
    },
  };
}

function marksOf(
  stage: Stage,
  { version, git = {} }: Deploy,
): { readonly labels: JsonObject; readonly annotations?: JsonObject } {
  const { branch, origin, sha } = git;
  const annotations = {
    ...stage.workload.annotations,
    ...(branch !== undefined && { 'slack.com/bedrock.git.branch': branch }),
    ...(origin !== undefined && { 'slack.com/bedrock.git.origin': origin }),
    ...(sha !== undefined && { 'slack.com/bedrock.git.sha': sha }),
  };
  const labels = {
    ...stage.workload.labels,
    app: resourceName(stage),
    ...(version !== undefined && { [versionLabel]: version }),
  };
  return { labels, ...(Object.keys(annotations).length > 0 && { annotations }) };
}

type PodSpecOutcome =
  | { readonly kind: 'valid'; readonly podSpec: JsonObject }
  | { readonly kind: 'invalid'; readonly findings: readonly Finding[] };

/** Puts references in for the names of images; those of init containers may be references already. */
function podSpecOf({ workload, path }: Stage, images: ImageReferences): PodSpecOutcome {
  const findings: Finding[] = [];
  const containers = workload.containers.map(({ image, fields, path }) => {
    const reference = images.referenceOf(image);
    if (reference.kind === 'invalid')
      findings.push(mistake(memberPath(path, 'image'), reference.why));
    const { name = null, ...rest } = fields;
    return { name, image: reference.kind === 'valid' ? reference.reference : '', ...rest };
  });
  const { initContainers, ...rest } = workload.podSpec;
  const first = (Array.isArray(initContainers) ? initContainers : []).map((each, at) => {
    const place = `${path}.pod_spec.initContainers[${at}]`;
    const image: unknown = isJsonObject(each) ? each['image'] : undefined;
    const reference = images.resolve(typeof image === 'string' ? image : '');
    if (reference.kind === 'invalid') findings.push(mistake(`${place}.image`, reference.why));
    return isJsonObject(each) && reference.kind === 'valid'
      ? { ...each, image: reference.reference }
      : {};
  });
  if (findings.length > 0) return { kind: 'invalid', findings };
  const podSpec = { ...rest, ...(first.length > 0 && { initContainers: first }), containers };
  return { kind: 'valid', podSpec };
}
