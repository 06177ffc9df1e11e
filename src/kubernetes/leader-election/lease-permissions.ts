import type { Permission } from '../authorization/permission.ts';

/** Returns what leader election takes in the namespace of the Lease `name`. Without it every start waits for its predecessor. */
export function leasePermissions(name: string): readonly Permission[] {
  const common = { group: 'coordination.k8s.io', resource: 'leases', isOptional: true };
  return [
    {
      ...common,
      verbs: ['get', 'update'],
      resourceNames: [name],
      because:
        'one replica at a time reconciles, and writes down that it ended in good order; without, every start waits 120 s',
    },
    {
      ...common,
      // A rule for one name cannot permit creating it.
      verbs: ['create', 'list'],
      because:
        'the Lease is made by the first start, and others that serve the same sets are reported',
    },
  ];
}
