import type { ClusterValidation } from '#telemetry/http/cluster-validation.ts';

/** Requests need not say which cluster they are for. */
export const noClusterValidation: ClusterValidation = Object.freeze({
  isEnabled: false,
  isSoft: false,
  cluster: 'test',
  excludedPaths: [],
  excludedUserAgents: [],
});
