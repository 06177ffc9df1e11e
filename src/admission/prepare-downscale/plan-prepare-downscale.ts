import {
  type ReplicaChange,
  replicaChange,
  type Wording,
} from '../downscale/plan-replica-change.ts';
import { PREPARE_DOWNSCALE } from '../review/downscale-text.ts';
import { type AdmissionRequest, allow } from '../review/review.ts';

const wording: Wording = {
  label: PREPARE_DOWNSCALE,
  foreign: (which, text) => `can't decode ${which} object, allowing the change, err: ${text}`,
};

/** Settles all changes but a decrease that is really made. */
export function planPrepareDownscale(request: AdmissionRequest): ReplicaChange {
  if (request.isDryRun) return { kind: 'settled', decision: allow };
  return replicaChange(request, wording);
}
