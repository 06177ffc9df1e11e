import { type ResourceType, resourceTypes } from '#kubernetes/resource-type.ts';

function apps(plural: string, kind: string): ResourceType {
  return Object.freeze({ group: 'apps', version: 'v1', plural, kind, isNamespaced: true });
}

/** The resources whose `/scale` is understood, by plural name (N6). */
export const scaleTargetTypes: ReadonlyMap<string, ResourceType> = new Map([
  ['statefulsets', resourceTypes.statefulSets],
  ['deployments', apps('deployments', 'Deployment')],
  ['replicasets', apps('replicasets', 'ReplicaSet')],
]);
