import assert from 'node:assert/strict';
import { test } from 'node:test';
import { monotonic } from '#base/units.ts';
import { endedLeaseOf, having, leaseOf, settings } from '#support/objects/leases.ts';
import type { LeaseRecord } from './lease-record.ts';
import {
  type ElectionMemory,
  isHeldAt,
  type LeaseNews,
  type LeaseStep,
  learn,
  newMemory,
  planLease,
} from './plan-lease.ts';

const none = { kind: 'none' } as const;
const fresh = newMemory(monotonic(0));

function learned(memory: ElectionMemory, ...news: readonly LeaseNews[]): ElectionMemory {
  return news.reduce((known, each) => learn(known, settings, each), memory);
}

function read(record: LeaseRecord | undefined, at: number): LeaseNews {
  return { kind: 'read', record, at: monotonic(at) };
}

function written(record: LeaseRecord, sentAt: number, at = sentAt): LeaseNews {
  const times = { sentAt: monotonic(sentAt), at: monotonic(at) };
  return { kind: 'written', record, predecessor: none, ...times };
}

const mine = leaseOf({ spec: { holderIdentity: 'me' } });
/** Took the Lease with a write that was sent at 100 s. */
const leader = learned(fresh, written(mine, 100_000));

const attempt = { replaces: '5', transitions: 8, predecessor: none } as const;
const landed = leaseOf({
  spec: { holderIdentity: 'me', leaseTransitions: 8 },
  resourceVersion: '6',
});

interface Row {
  readonly given: ElectionMemory;
  readonly now: number;
  readonly want: LeaseStep['kind'];
}

const rows: Readonly<Record<string, Row>> = {
  'reads first': { given: fresh, now: 0, want: 'read' },
  'creates a Lease where there is none': {
    given: learned(fresh, read(undefined, 0)),
    now: 0,
    want: 'create',
  },
  'waits a lease before it makes one again that it saw vanish': {
    given: learned(fresh, read(leaseOf(), 0), read(undefined, 2_000), read(undefined, 4_000)),
    now: 16_999,
    want: 'wait',
  },
  'recreates it then': {
    given: learned(fresh, read(leaseOf(), 0), read(undefined, 2_000), read(undefined, 4_000)),
    now: 17_000,
    want: 'create',
  },
  'waits while the holder was seen to renew less than a lease ago': {
    given: having(leaseOf(), 10_000),
    now: 24_999,
    want: 'wait',
  },
  'takes a Lease that did not change for the whole of it': {
    given: having(leaseOf(), 10_000),
    now: 25_000,
    want: 'acquire',
  },
  'waits as long as the record says where that is longer': {
    given: having(leaseOf({ spec: { leaseDurationSeconds: 60 } }), 0),
    now: 59_999,
    want: 'wait',
  },
  'takes at once what was given up in good order': {
    given: having(endedLeaseOf(), 10_000),
    now: 10_000,
    want: 'acquire',
  },
  'waits where the holder was emptied without a word': {
    given: having(leaseOf({ spec: { holderIdentity: '' } }), 10_000),
    now: 24_999,
    want: 'wait',
  },
  'waits for ever no longer than ten minutes, whatever the record says': {
    given: having(leaseOf({ spec: { leaseDurationSeconds: 2_147_483_647 } }), 0),
    now: 600_000,
    want: 'acquire',
  },
  'waits for a Lease in its own name that it did not write': {
    given: having(mine, 10_000),
    now: 24_999,
    want: 'wait',
  },
  'renews what its own lost answer was about': {
    given: { ...having(landed, 10_000), attempt },
    now: 10_000,
    want: 'renew',
  },
  'waits for a Lease in its own name of another term than the one it wrote': {
    given: { ...having(mine, 10_000), attempt },
    now: 10_000,
    want: 'wait',
  },
  'renews what it holds': { given: leader, now: 102_000, want: 'renew' },
  'renews up to the renew deadline': { given: leader, now: 109_999, want: 'renew' },
  'loses it at the renew deadline': { given: leader, now: 110_000, want: 'lost' },
  'loses it after a pause': { given: leader, now: 700_000, want: 'lost' },
  'reads again after a conflict': {
    given: learned(leader, { kind: 'unsure' }),
    now: 102_000,
    want: 'read',
  },
  'renews what somebody labelled meanwhile': {
    given: learned(leader, { kind: 'unsure' }, read({ ...mine, resourceVersion: '9' }, 102_000)),
    now: 102_000,
    want: 'renew',
  },
  'loses what another took': {
    given: learned(leader, { kind: 'unsure' }, read(leaseOf(), 102_000)),
    now: 102_000,
    want: 'lost',
  },
  'loses what was emptied by hand': {
    given: learned(leader, read(leaseOf({ spec: { holderIdentity: '' } }), 102_000)),
    now: 102_000,
    want: 'lost',
  },
  'loses what was deleted': {
    given: learned(leader, read(undefined, 102_000)),
    now: 102_000,
    want: 'lost',
  },
  'loses what was made again, even in its own name': {
    given: learned(leader, read({ ...mine, uid: 'v' }, 102_000)),
    now: 102_000,
    want: 'lost',
  },
  'loses what was given another term': {
    given: learned(leader, read({ ...mine, transitions: 8 }, 102_000)),
    now: 102_000,
    want: 'lost',
  },
};
for (const [fact, { given, now, want }] of Object.entries(rows)) {
  test(`planLease() ${fact}`, () => {
    assert.equal(planLease(given, settings, monotonic(now)).kind, want);
  });
}

test('planLease() says who holds the Lease while it waits', () => {
  assert.deepEqual(planLease(having(leaseOf(), 0), settings, monotonic(1)), {
    kind: 'wait',
    because: 'it is held by "other"',
  });
});

test('planLease() starts a term with one transition more, and with what it concludes of the predecessor', () => {
  const step = planLease(having(endedLeaseOf(), 0), settings, monotonic(0));
  assert.deepEqual(step.kind === 'acquire' && step.attempt, {
    replaces: '5',
    transitions: 8,
    predecessor: { kind: 'ended', term: 'u/7/other' },
  });
});

test('planLease() starts at 1 again behind the largest number of transitions', () => {
  const record = leaseOf({ spec: { leaseTransitions: 2_147_483_647 } });
  const step = planLease(having(record, 0), settings, monotonic(15_000));
  assert.equal(step.kind === 'acquire' && step.attempt.transitions, 1);
});

test('planLease() counts the wait again from the end of the last denial of another where this process led without a Lease', () => {
  const given = { ...learned(fresh, read(undefined, 0)), hasLedWithout: true };
  const step = planLease(given, settings, monotonic(30_000));
  assert.deepEqual(step.kind === 'create' && step.attempt.predecessor, {
    kind: 'unclean',
    countedFrom: 70_000,
    because: 'this process had no Lease before, and another may have had none either',
  });
});

test('learn() counts the wait from the gain where this process led without a Lease after its attempt', () => {
  const memory = { ...learned(fresh, read(undefined, 0)), hasLedWithout: true };
  const step = planLease(memory, settings, monotonic(0));
  assert.ok(step.kind === 'create');
  const record = leaseOf({ spec: { holderIdentity: 'me' } });
  const { predecessor } = step.attempt;
  const [sentAt, at] = [monotonic(300_000), monotonic(300_002)];
  const gained = learn(memory, settings, { kind: 'written', record, predecessor, sentAt, at });
  const told = gained.leadership?.predecessor;
  assert.equal(told?.kind === 'unclean' && told.countedFrom, 340_002);
  const renewed = { kind: 'written', record, predecessor: told ?? predecessor } as const;
  const [again, then] = [monotonic(302_000), monotonic(302_002)];
  const next = learn(gained, settings, { ...renewed, sentAt: again, at: then });
  assert.deepEqual(next.leadership?.predecessor, told);
});

test('learn() counts the quiet of a record from when it was first seen', () => {
  const first = learned(fresh, read(leaseOf(), 1_000), read(leaseOf(), 3_000));
  assert.equal(first.sighting.kind === 'present' && first.sighting.since, 1_000);
});

test('learn() takes a label for no renewal', () => {
  const labelled = leaseOf({ resourceVersion: '6', annotations: { note: 'by hand' } });
  const seen = learned(fresh, read(leaseOf(), 1_000), read(labelled, 3_000));
  assert.equal(seen.sighting.kind === 'present' && seen.sighting.since, 1_000);
  assert.equal(seen.sighting.kind === 'present' && seen.sighting.record.resourceVersion, '6');
});

test('learn() takes each change of a field of the Lease for a renewal, also one back in time', () => {
  const earlier = leaseOf({ spec: { renewTime: '2020-01-01T00:00:00.000000Z' } });
  const seen = learned(fresh, read(leaseOf(), 1_000), read(earlier, 3_000));
  assert.equal(seen.sighting.kind === 'present' && seen.sighting.since, 3_000);
});

test('learn() remembers who held a Lease that has no holder now', () => {
  const seen = learned(fresh, read(leaseOf(), 1_000), read(endedLeaseOf('u/7/third'), 3_000));
  const step = planLease(seen, settings, monotonic(3_000));
  assert.equal(step.kind, 'wait');
});

test('learn() forgets who held a Lease that was deleted and made again', () => {
  const again = { ...endedLeaseOf('v/7/third'), uid: 'v' };
  const seen = learned(fresh, read(leaseOf(), 1_000), read(again, 3_000));
  assert.equal(planLease(seen, settings, monotonic(3_000)).kind, 'acquire');
});

test('learn() holds the Lease from when the write was sent, not from its answer', () => {
  const held = learned(fresh, written(mine, 100_000, 104_000));
  assert.equal(isHeldAt(held, monotonic(109_999)), true);
  assert.equal(isHeldAt(held, monotonic(110_000)), false);
});

test('learn() holds nothing by an answer that comes after its renew deadline', () => {
  const late = learned(fresh, written(mine, 100_000, 110_000));
  assert.equal(isHeldAt(late, monotonic(100_001)), false);
});

test('learn() holds nothing that is stored in another name', () => {
  const other = learned(fresh, written(leaseOf(), 100_000));
  assert.equal(isHeldAt(other, monotonic(100_000)), false);
});

test('learn() keeps an acquisition without an answer while it may still land', () => {
  const sent: ElectionMemory = { ...having(leaseOf(), 0), attempt };
  const later = learned(sent, { kind: 'unsure' }, read(leaseOf(), 16_000), read(landed, 18_000));
  assert.equal(planLease(later, settings, monotonic(18_000)).kind, 'renew');
});

test('learn() forgets an acquisition that another has forestalled', () => {
  const sent: ElectionMemory = { ...having(leaseOf(), 0), attempt };
  const taken = leaseOf({
    spec: { holderIdentity: 'third', leaseTransitions: 8 },
    resourceVersion: '6',
  });
  const later = learned(sent, { kind: 'unsure' }, read(taken, 16_000), read(landed, 18_000));
  assert.equal(planLease(later, settings, monotonic(18_000)).kind, 'wait');
});
