import { problemText } from '#base/parsed.ts';
import { isProtected, switchProblem } from '#statefulset/metadata/protective-switch.ts';
import { NO_DOWNSCALE, refusalText } from '../review/downscale-text.ts';
import { type AdmissionRequest, deny, type ReviewDecision } from '../review/review.ts';
import { type ReplicaChange, replicaChange, type Wording } from './plan-replica-change.ts';

/** A decrease of replicas, of which it is not yet known whether it is governed. */
export interface Decrease {
  readonly request: AdmissionRequest;
  readonly change: Extract<ReplicaChange, { kind: 'shrinks' }>;
}

const wording: Wording = {
  label: NO_DOWNSCALE,
  foreign: (which, text) => `can't get ${which} replicas, allowing the change, err: ${text}`,
};

/** Settles all changes but a decrease through `/scale`, whose request does not have the labels. */
export function planNoDownscale(request: AdmissionRequest): ReplicaChange {
  const change = replicaChange(request, wording);
  if (change.kind === 'settled' || change.old.is === 'Scale') return change;
  const decision = judgeLabel({ request, change }, change.old.labels.get(NO_DOWNSCALE));
  return { kind: 'settled', decision };
}

/** Denies unless the label is absent or says "off". @param value that of the label */
export function judgeLabel(
  { request, change }: Decrease,
  value: string | undefined,
): ReviewDecision {
  if (value === undefined || !isProtected(value)) return change.ungoverned;
  const problem = switchProblem(NO_DOWNSCALE, value);
  const why =
    problem === undefined
      ? `it has the label '${NO_DOWNSCALE}=true'`
      : `it has the label '${NO_DOWNSCALE}=${value}': ${problemText(problem)}`;
  return deny(refusalText(request, change.shrinkage, why));
}
