import type { LabelKey } from '#statefulset/known-keys.ts';
import type { AdmissionRequest } from './review.ts';

/** A decrease of `spec.replicas`. */
export interface Shrinkage {
  readonly from: number;
  readonly to: number;
}

/** The label that forbids down-scales. */
export const NO_DOWNSCALE = 'grafana.com/no-downscale' satisfies LabelKey;
/** The label that asks for pods to be prepared before a down-scale. */
export const PREPARE_DOWNSCALE = 'grafana.com/prepare-downscale' satisfies LabelKey;

/** Returns `statefulsets/ingester-zone-a in ns`. */
export function targetText({ resource, name, namespace }: AdmissionRequest): string {
  return `${resource}/${name} in ${namespace}`;
}

/** Returns what every sentence about a down-scale begins with. */
export function downscaleText(request: AdmissionRequest, { from, to }: Shrinkage): string {
  return `downscale of ${targetText(request)} from ${from} to ${to} replicas`;
}

/** Why nothing is known of a scale whose review does not say what is scaled. */
export const unnamedResource = 'the request does not name its resource';

/** Denies because of `tail`, which is wire text with or without a full stop. */
export function refusalText(request: AdmissionRequest, shrinkage: Shrinkage, tail: string): string {
  return `${downscaleText(request, shrinkage)} is not allowed because ${tail}`;
}
