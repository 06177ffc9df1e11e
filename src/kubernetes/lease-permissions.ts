import type { Permission } from './permission.ts';

/** What leader election takes, in the namespace of the Lease. Without it every start waits for its predecessor. */
export const leasePermissions: readonly Permission[] = Object.freeze([
  {
    group: 'coordination.k8s.io',
    resource: 'leases',
    verbs: ['get', 'list', 'create', 'update'],
    isOptional: true,
    because:
      'one replica at a time reconciles, and writes down that it ended in good order; without, every start waits 120 s',
  },
]);
