/** Leases as the server sends them, and what was seen of them. */
import type { JsonObject } from '#base/json.ts';
import { monotonic, seconds } from '#base/units.ts';
import type { LeaseRecord } from '#kubernetes/leader-election/lease-record.ts';
import { parseLease } from '#kubernetes/leader-election/parse-lease.ts';
import type { ElectionMemory, ElectionSettings } from '#kubernetes/leader-election/plan-lease.ts';
import { newMemory } from '#kubernetes/leader-election/plan-lease.ts';

/** client-go's durations, and the process `me`. */
export const settings: ElectionSettings = {
  id: 'me',
  leaseDuration: seconds(15),
  renewDeadline: seconds(10),
  retryPeriod: seconds(2),
  predecessorHorizon: seconds(120),
};

/** What a test says of a Lease. */
export interface LeaseOverrides {
  readonly spec?: JsonObject;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** Returns a Lease that `other` holds in term 7. */
export function leaseOf(overrides: LeaseOverrides = {}): LeaseRecord {
  const { spec = {}, annotations = {}, uid = 'u', resourceVersion = '5' } = overrides;
  return parseLease({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'rollout-operator', namespace: 'x', uid, resourceVersion, annotations },
    spec: {
      holderIdentity: 'other',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:01:00.000000Z',
      leaseTransitions: 7,
      ...spec,
    },
  });
}

/** Returns the Lease of term 7 that `other` gave up in good order. */
export function endedLeaseOf(ended = 'u/7/other'): LeaseRecord {
  return leaseOf({
    spec: { holderIdentity: '' },
    annotations: { 'rollout-operator/ended-term': ended },
  });
}

/** Returns a process that started at 0 and has read `record` at `since`, in milliseconds. */
export function having(record: LeaseRecord, since: number): ElectionMemory {
  const memory = newMemory(monotonic(0));
  const sighting = {
    kind: 'present',
    record,
    since: monotonic(since),
    lastHolder: record.holder,
  } as const;
  return { ...memory, sighting, isCurrent: true };
}
