import type { JsonObject } from '#base/json.ts';
import type { AccountRules } from './phased-peer.ts';

const all = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];
const resources = ['zoneawareupdates', 'zonedisruptionbudgets'];
const group = ['zonecontrol.k8s.aws'];

/** The rules of the peer's `manager-role`. */
const everywhere: readonly JsonObject[] = [
  { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: [''], resources: ['pods'], verbs: ['delete', 'get', 'list', 'watch'] },
  { apiGroups: [''], resources: ['pods/status'], verbs: ['get'] },
  { apiGroups: ['apps'], resources: ['statefulsets'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: ['apps'], resources: ['statefulsets/status'], verbs: ['get', 'update'] },
  { apiGroups: group, resources, verbs: all },
  { apiGroups: group, resources: resources.map((each) => `${each}/finalizers`), verbs: ['update'] },
  {
    apiGroups: group,
    resources: resources.map((each) => `${each}/status`),
    verbs: ['get', 'patch', 'update'],
  },
];
/** Those of its `leader-election-role`. */
const own: readonly JsonObject[] = [
  { apiGroups: [''], resources: ['configmaps'], verbs: all },
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: all },
  { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
];

/** What the zone-aware-controllers-for-k8s may do, as they install it. */
export const zonePeer: AccountRules = { name: 'zone-aware-controllers', everywhere, own };
