import type { Instant } from '#base/units.ts';
import type { AuditEntry } from '../../test/real-cluster/audit/audit.ts';
import type { Requests } from '../cluster/cluster-commands.ts';

/** What an operator asks however much it has to do: counted apart. */
const apart: ReadonlySet<string> = new Set([
  'events',
  'leases',
  'selfsubjectaccessreviews',
  'selfsubjectrulesreviews',
]);

/** Which requests are meant. */
interface Asked {
  readonly user: string;
  readonly from: Instant;
  readonly to: Instant;
}

/**
 * Returns what `user` asked of the API server between two instants, by `verb resource`; Events, Leases and reviews of
 * its own permissions apart. A watch counts where it was opened then, for it may not have ended yet.
 */
export function requestsIn(entries: readonly AuditEntry[], { user, from, to }: Asked): Requests {
  const counted = new Set<string>();
  const requests: Record<string, number> = {};
  for (const entry of entries) {
    const at = Date.parse(entry.requestReceivedTimestamp);
    if (entry.user.username !== user || at < from || at > to) continue;
    // Each request has a line when it is received, and one when it is answered.
    if (counted.has(entry.auditID) || apart.has(entry.objectRef?.resource ?? '')) continue;
    counted.add(entry.auditID);
    const key = keyOf(entry);
    requests[key] = (requests[key] ?? 0) + 1;
  }
  return requests;
}

function keyOf({ verb, objectRef, requestURI }: AuditEntry): string {
  if (objectRef === undefined) return `${verb} ${requestURI}`;
  const { resource, subresource = '' } = objectRef;
  return `${verb} ${resource}${subresource === '' ? '' : `/${subresource}`}`;
}

/** Returns how many of `requests` write; Events and renewals of the Lease apart, which are counted by nobody (D-16). */
export function countWrites(requests: Requests): number {
  return Object.entries(requests)
    .filter(([key]) => /^(?:create|update|patch|delete)/.test(key))
    .filter(([key]) => !/ (?:events|leases|selfsubjectaccessreviews)/.test(key))
    .reduce((sum, [, count]) => sum + count, 0);
}

/** Returns `requests` in words. */
export function describeRequests(requests: Requests): string {
  const parts = Object.entries(requests).map(([key, count]) => `${count} ${key}`);
  return parts.length === 0 ? 'none' : parts.join(', ');
}
