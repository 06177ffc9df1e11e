import type { JsonObject } from '#base/json.ts';
import type { Instant } from '#base/units.ts';
import type { CallbackReport } from '#notification/callback/callback-body.ts';
import { integerAt, objectAt, stringAt } from '#statefulset/parse-fields.ts';
import type { RolloutView } from '../parse-resource.ts';
import type { Outcome, RolloutProgress } from '../progress.ts';

/** What a report is made of. */
export interface ReportParts {
  /** Name of the cluster; empty where it was not given. */
  readonly cluster: string;
  readonly rollout: RolloutView;
  readonly progress: RolloutProgress;
  /** As it is to be stored at this instant. */
  readonly status: JsonObject;
  readonly now: Instant;
}

/** Returns what a callback reports; undefined where the outcome, or the spec, is not known. */
export function callbackReport(parts: ReportParts): CallbackReport | undefined {
  const { cluster, rollout, progress, status, now } = parts;
  const { spec, namespace, name, uid, generation } = rollout;
  const { outcome, callback, targetRevision } = progress;
  if (spec.kind === 'invalid' || outcome === undefined) return undefined;
  const build = objectAt(status, 'buildMetadata');
  const version = stringAt(build, 'version');
  return {
    stageId: callback.stageId,
    result: resultOf(outcome),
    reasonCode: outcome.code,
    reason: outcome.message,
    rolloutIdentity: spec.value.identity,
    attempt: Math.max(1, progress.attempt),
    percentRequested: spec.value.percent,
    percentDeployed: progress.percentDeployed,
    resource: { cluster, namespace, name, uid, generation },
    statefulset: {
      name: spec.value.set.name,
      targetRevision: targetRevision === '' ? undefined : targetRevision,
      version,
    },
    replicas: replicasIn(status),
    buildMetadata: {
      branch: stringAt(build, 'branch'),
      commitSha: stringAt(build, 'commitSha'),
      origin: stringAt(build, 'origin'),
      version,
    },
    startedAt: progress.startedAt ?? now,
    finishedAt: progress.finishedAt ?? now,
  };
}

/** Returns how the receiver is notified that it ended. */
export function resultOf({ result }: Outcome): CallbackReport['result'] {
  return result === 'Done' ? 'success' : 'failure';
}

function replicasIn(status: JsonObject): CallbackReport['replicas'] {
  const rollout = objectAt(status, 'rollout');
  return {
    total: integerAt(status, 'replicas') ?? 0,
    target: integerAt(rollout, 'targetReplicas') ?? 0,
    updated: integerAt(rollout, 'updatedReplicas') ?? 0,
    ready: integerAt(status, 'readyReplicas') ?? 0,
    readyServiceDiscovery: integerAt(status, 'readyReplicasRotor'),
    leaked: integerAt(objectAt(status, 'leak'), 'leakedReplicas') ?? 0,
  };
}
