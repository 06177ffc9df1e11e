import { isProtected } from '#statefulset/metadata/protective-switch.ts';
import type { Shrinkage } from '../review/downscale-text.ts';
import { targetText } from '../review/downscale-text.ts';
import {
  type AdmissionRequest,
  allow,
  allowWithWarning,
  deny,
  type ReviewDecision,
} from '../review/review.ts';
import { parseWorkload } from './parse-workload.ts';
import { scaleTarget } from './scale-target.ts';
import { type ReviewedObject, workloadKindOf } from './workload.ts';

type Workload = Extract<ReviewedObject, { kind: 'workload' }>;
type Unusable = Exclude<ReviewedObject, { kind: 'workload' }>;

/** What becomes of the replicas: settled without a look at what governs the object, or a strict decrease. */
export type ReplicaChange =
  | { readonly kind: 'settled'; readonly decision: ReviewDecision }
  | {
      readonly kind: 'shrinks';
      readonly old: Workload;
      readonly shrinkage: Shrinkage;
      /** The answer where nothing governs the object. */
      readonly ungoverned: ReviewDecision;
    };

/** The words of one webhook. */
export interface Wording {
  /** The switch that makes an object governed. */
  readonly label: string;
  /** How the peer speaks of a type without replicas. */
  readonly foreign: (which: 'old' | 'new', text: string) => string;
}

/** The replicas that the API means where none are stated. */
const defaultReplicas = 1;

/**
 * Compares the replicas of both objects. What cannot be read is denied, unless the labels of the
 * old object show that it is not governed, or the request is about another kind altogether (D-25).
 */
export function replicaChange(request: AdmissionRequest, wording: Wording): ReplicaChange {
  const old = parseWorkload(request.oldObject);
  if (old.kind !== 'workload') return settled(unusableOld(request, old, wording));
  const next = parseWorkload(request.object);
  if (next.kind !== 'workload') return settled(unusableNew({ request, old, next }, wording));
  return compared(old, next);
}

function settled(decision: ReviewDecision): ReplicaChange {
  return { kind: 'settled', decision };
}

function compared(old: Workload, next: Workload): ReplicaChange {
  const from = old.replicas ?? defaultReplicas;
  const to = next.replicas ?? defaultReplicas;
  const isOneNull = (old.replicas === null) !== (next.replicas === null);
  const decision = isOneNull ? nilWarning : allow;
  if (to >= from) return settled(decision);
  return { kind: 'shrinks', old, shrinkage: { from, to }, ungoverned: decision };
}

/** What the peer says where one of both objects has no replicas. */
const nilWarning: ReviewDecision = Object.freeze({
  isAllowed: true,
  warnings: ['old/new replicas is nil, allowing the change'],
});

function unusableOld(request: AdmissionRequest, old: Unusable, wording: Wording): ReviewDecision {
  const warning = warningOf('old', old, wording);
  if (old.kind === 'absent' && request.operation === 'CREATE') return allowWithWarning(warning);
  if (isElsewhere(request, old) || isFree(readLabels(old), wording))
    return allowWithWarning(warning);
  return deny(
    doubtText(request, `the old object cannot be read: ${old.text}`, wording),
    'Unreadable',
  );
}

interface Mixed {
  readonly request: AdmissionRequest;
  readonly old: Workload;
  readonly next: Unusable;
}

function unusableNew({ request, old, next }: Mixed, wording: Wording): ReviewDecision {
  const warning = warningOf('new', next, wording);
  // Nothing shrinks when an object goes: its pods are notified by their own deletion.
  if (next.kind === 'absent' && request.operation === 'DELETE') return allowWithWarning(warning);
  if (old.is !== 'Scale' && isFree(old.labels, wording)) {
    return allowWithWarning(warning);
  }
  return deny(
    doubtText(request, `the new object cannot be read: ${next.text}`, wording),
    'Unreadable',
  );
}

function warningOf(which: 'old' | 'new', object: Unusable, wording: Wording): string {
  // A kind that the peer's decoder does not know is one that it cannot decode.
  const isUnsupported = object.kind === 'foreign' && object.text.startsWith('unsupported');
  if (isUnsupported) return wording.foreign(which, object.text);
  return `can't decode ${which} object, allowing the change, err: ${object.text}`;
}

/** Reports whether the request is about a kind without replicas, and its object agrees. */
function isElsewhere(request: AdmissionRequest, old: Unusable): boolean {
  const { kind } = request;
  const isStated = kind.kind !== '';
  // A Scale of another version, perhaps; what it scales is what the webhooks guard.
  if (request.subResource === 'scale' && scaleTarget(request) !== undefined) return false;
  if (isStated && workloadKindOf(kind) !== undefined) return false;
  return old.kind === 'foreign' || (isStated && old.kind === 'absent');
}

function readLabels(object: Unusable): ReadonlyMap<string, string> | undefined {
  return object.kind === 'malformed' ? object.labels : undefined;
}

/** Reports whether the labels show that the object is not governed. */
function isFree(labels: ReadonlyMap<string, string> | undefined, { label }: Wording): boolean {
  return labels !== undefined && !isProtected(labels.get(label));
}

/** Returns why something is denied that could not be read (D-25). */
function doubtText(request: AdmissionRequest, why: string, { label }: Wording): string {
  return `change of ${targetText(request)} is not allowed because it may be a downscale, and the object may have the label '${label}=true': ${why}`;
}
