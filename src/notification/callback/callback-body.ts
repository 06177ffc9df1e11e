import { createHash, createHmac } from 'node:crypto';
import { formatUtcSeconds } from '#base/time/utc-seconds.ts';
import type { Instant } from '#base/units.ts';

/** The StatefulsetRollout that has ended. */
export interface CallbackResource {
  /** Empty where the operator does not know the name of its cluster. */
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
}

/** How many pods there are of each kind, 0 or more each. */
export interface CallbackReplicas {
  readonly total: number;
  readonly target: number;
  readonly updated: number;
  readonly ready: number;
  /** Undefined where service discovery is not asked. */
  readonly readyServiceDiscovery: number | undefined;
  readonly leaked: number;
}

/** What a callback reports of a rollout that has ended. Texts that are unknown are undefined. */
export interface CallbackReport {
  readonly stageId: string;
  readonly result: 'success' | 'failure';
  /** One PascalCase word. */
  readonly reasonCode: string;
  readonly reason: string;
  readonly rolloutIdentity: string;
  /** Of the rollout, not of the callback: 1 for the first of its version, one more after each that has failed. */
  readonly attempt: number;
  /** 0 to 100. */
  readonly percentRequested: number;
  /** 0 to 100. */
  readonly percentDeployed: number;
  readonly resource: CallbackResource;
  readonly statefulset: {
    readonly name: string;
    readonly targetRevision: string | undefined;
    readonly version: string | undefined;
  };
  readonly replicas: CallbackReplicas;
  readonly buildMetadata: {
    readonly branch: string | undefined;
    readonly commitSha: string | undefined;
    readonly origin: string | undefined;
    readonly version: string | undefined;
  };
  readonly startedAt: Instant;
  readonly finishedAt: Instant;
}

const schema = 'bedrock.operator.slack.com/callback.v1';
const phases = { success: 'RolloutDone', failure: 'RolloutFailed' } as const;

/**
 * Returns the body of a callback (E-4): JSON without blanks, each member always there and in its order, `null` where nothing is
 * known. The same report gives the same bytes, which is what the signature holds for.
 */
export function callbackBody(report: CallbackReport): string {
  const { statefulset, buildMetadata } = report;
  return JSON.stringify({
    schema,
    stageId: report.stageId,
    result: report.result,
    phase: phases[report.result],
    reasonCode: report.reasonCode,
    reason: report.reason,
    rolloutIdentity: report.rolloutIdentity,
    attempt: report.attempt,
    percentRequested: report.percentRequested,
    percentDeployed: report.percentDeployed,
    resource: resourceOf(report.resource),
    statefulset: {
      name: statefulset.name,
      targetRevision: statefulset.targetRevision ?? null,
      version: statefulset.version ?? null,
    },
    replicas: replicasOf(report.replicas),
    buildMetadata: {
      branch: buildMetadata.branch ?? null,
      commitSha: buildMetadata.commitSha ?? null,
      origin: buildMetadata.origin ?? null,
      version: buildMetadata.version ?? null,
    },
    startedAt: formatUtcSeconds(report.startedAt),
    finishedAt: formatUtcSeconds(report.finishedAt),
  });
}

/** Copies the members one by one: objects of callers may have more members, in another order. */
function resourceOf({ cluster, namespace, name, uid, generation }: CallbackResource): object {
  return { cluster, namespace, name, uid, generation };
}

function replicasOf(replicas: CallbackReplicas): object {
  const { total, target, updated, ready, readyServiceDiscovery = null, leaked } = replicas;
  return { total, target, updated, ready, readyServiceDiscovery, leaked };
}

/** What distinguishes one outcome of a rollout from all others. */
export interface CallbackIdentity {
  /** Of the StatefulsetRollout. */
  readonly uid: string;
  /** `status.rollout.key`. */
  readonly key: string;
  readonly stageId: string;
  readonly result: CallbackReport['result'];
}

/** Returns what is equal in all attempts to report one outcome, and in no other (E-5): 64 hexadecimal digits. */
export function idempotencyKey({ uid, key, stageId, result }: CallbackIdentity): string {
  return createHash('sha256').update([uid, key, stageId, result].join('|')).digest('hex');
}

/** What a signature holds for. */
export interface SignedText {
  /** When it is sent, in whole seconds since 1970. */
  readonly timestamp: number;
  readonly body: string;
}

/**
 * Returns the value of `X-Bedrock-Signature` (E-6): `v1=` and 64 hexadecimal digits.
 *
 * @param key the bytes that the receiver has, too, none of them left out
 */
export function callbackSignature(
  key: string | Uint8Array,
  { timestamp, body }: SignedText,
): string {
  const digest = createHmac('sha256', key).update(`${timestamp}.${body}`).digest('hex');
  return `v1=${digest}`;
}
