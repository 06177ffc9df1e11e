import { type ResourceType, resourceTypes } from '#kubernetes/resource-type.ts';
import type { AdmissionRequest } from '../review/review.ts';

function apps(plural: string, kind: string): ResourceType {
  return Object.freeze({ group: 'apps', version: 'v1', plural, kind, isNamespaced: true });
}

/** The resources whose `/scale` is understood, by plural name. */
const scaleTargets: ReadonlyMap<string, ResourceType> = new Map([
  ['statefulsets', resourceTypes.statefulSets],
  ['deployments', apps('deployments', 'Deployment')],
  ['replicasets', apps('replicasets', 'ReplicaSet')],
]);

/**
 * Returns the type that a request scales or changes; undefined for any other than those in whose replicas the webhooks take
 * an interest. A request that does not say its group is taken at its name: the API server always says it.
 */
export function scaleTarget({
  resource,
  resourceGroup,
}: Pick<AdmissionRequest, 'resource' | 'resourceGroup'>): ResourceType | undefined {
  return resourceGroup === 'apps' || resourceGroup === '' ? scaleTargets.get(resource) : undefined;
}
