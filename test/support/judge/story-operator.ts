/** What the operator of a `Story` does, and says of it. */
import type { JsonObject } from '#base/json.ts';
import { after, type Instant, type Millis, millis } from '#base/units.ts';
import type { Call } from '#cluster/event-log.ts';
import { setFacts } from '../history/facts.ts';
import type { DisruptionStatement, RevisionBySet, ScaleStatement } from '../history/statement.ts';
import { textAt } from '../objects/json-path.ts';

/** The user that the stories' operator is. */
export const operatorUser = 'rollout-operator';

/** How a story's operator removes a pod; each member makes it different from the right way. */
export interface RemovalOptions {
  /** @default the pod's */
  readonly uid?: string | undefined;
  /** @default the pod's */
  readonly resourceVersion?: string | undefined;
  /** The revision that it says it had seen. @default the last one */
  readonly seen?: RevisionBySet;
  /** Pods that it says it had seen newer than that, with the revision of each. @default none */
  readonly newer?: Readonly<Record<string, number>>;
  /** StatefulSets that it says it had seen newer than that, with the revision of each. @default none */
  readonly newerSets?: Readonly<Record<string, number>>;
  /** The revision that proves its view young. @default what it had seen */
  readonly proof?: number;
  /** The term of the Lease that it states. @default none */
  readonly term?: string;
  /** How long before its arrival the request was sent. @default 0 */
  readonly sentBefore?: Millis;
  /** Says nothing of its proof. @default false */
  readonly isSilent?: boolean;
  /** Evicts instead. @default false */
  readonly isEviction?: boolean;
  /** What the client is answered. @default 200 */
  readonly outcome?: Call['outcome'];
  /** How long after its arrival the request is answered. @default 0 */
  readonly answeredAfter?: Millis;
  /** Without a grace period: the pod is deleted at once. @default false */
  readonly isFinal?: boolean;
  /** Has no effect, or none yet. @default false; a refusal has none either */
  readonly isUnheard?: boolean;
  /** @default {@link operatorUser} */
  readonly user?: string;
}

/** How a story's operator lowers replicas. */
export type ScaleOptions = Pick<RemovalOptions, 'seen' | 'proof' | 'isSilent' | 'term'>;

/** The state of a story. */
interface Moment {
  readonly now: Instant;
  /** The revision of the last commit. */
  readonly revision: number;
}

/** Returns what the operator says that the removal of `pod` rests on. */
export function statementOf(
  pod: JsonObject,
  options: RemovalOptions,
  { now, revision }: Moment,
): DisruptionStatement {
  const { seen = revision, proof = seen, newer, newerSets, term } = options;
  return {
    podUid: textAt(pod, 'metadata', 'uid') ?? '',
    sentAt: sentAt(options, now),
    proofs: { pods: proof, statefulsets: proof },
    views: {
      pods: seen,
      statefulsets: seen,
      ...(newer !== undefined && { newerPods: newer }),
      ...(newerSets !== undefined && { newerStatefulsets: newerSets }),
    },
    ...(term !== undefined && { term }),
  };
}

/** Returns what the operator says that a scaling of `set` rests on. */
export function scaleStatementOf(
  set: JsonObject,
  scaling: ScaleOptions & { readonly to: number },
  { now, revision }: Moment,
): ScaleStatement {
  const { to, seen = revision, proof = seen, term } = scaling;
  const { uid, replicas } = setFacts(set);
  return {
    setUid: uid,
    namespace: 'test',
    setName: textAt(set, 'metadata', 'name') ?? '',
    from: replicas,
    to,
    client: 'operator-1',
    sentAt: now,
    proofs: { pods: proof, statefulsets: proof },
    views: { pods: seen, statefulsets: seen },
    ...(term !== undefined && { term }),
  };
}

/** Returns the request that removes `pod`, as it arrives `now`. */
export function removalCall(
  pod: JsonObject,
  options: RemovalOptions,
  now: Instant,
): Pick<Call, 'verb' | 'subresource' | 'outcome' | 'startedAt' | 'endedAt' | 'preconditions'> {
  return {
    ...wayOf(options),
    startedAt: sentAt(options, now),
    endedAt: after(now, options.answeredAfter ?? millis(0)),
    ...preconditionsOf(pod, options),
  };
}

function sentAt({ sentBefore = millis(0) }: RemovalOptions, now: Instant): Instant {
  return after(now, millis(0 - sentBefore));
}

function wayOf({
  isEviction,
  outcome = 200,
}: RemovalOptions): Pick<Call, 'verb' | 'subresource' | 'outcome'> {
  return isEviction === true
    ? { verb: 'create', subresource: 'eviction', outcome }
    : { verb: 'delete', subresource: '', outcome };
}

function preconditionsOf(pod: JsonObject, options: RemovalOptions): Pick<Call, 'preconditions'> {
  const uid = 'uid' in options ? options.uid : textAt(pod, 'metadata', 'uid');
  const resourceVersion =
    'resourceVersion' in options
      ? options.resourceVersion
      : textAt(pod, 'metadata', 'resourceVersion');
  if (uid === undefined && resourceVersion === undefined) return {};
  return {
    preconditions: {
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
  };
}
