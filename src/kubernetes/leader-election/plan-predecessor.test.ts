import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { JsonValue } from '#base/json.ts';
import { monotonic, seconds } from '#base/units.ts';
import { endedLeaseOf, leaseOf } from '#support/objects/leases.ts';
import type { LeaseRecord } from './lease-record.ts';
import type { Sighting } from './lease-sighting.ts';
import { parseLease } from './parse-lease.ts';
import { predecessorOf } from './plan-predecessor.ts';

const vantage = {
  startedAt: monotonic(1_000),
  leaseDuration: seconds(15),
};

function present(record: LeaseRecord, lastHolder = record.holder): Sighting {
  return { kind: 'present', record, since: monotonic(50_000), lastHolder };
}

const absent: Sighting = { kind: 'absent', since: monotonic(50_000), hadOne: false };

test('predecessorOf() finds none where there never was a Lease', () => {
  assert.deepEqual(predecessorOf(absent, vantage), { kind: 'none' });
});

test('predecessorOf() finds a clean end where the Lease has no holder and its last term is said to have ended', () => {
  const ended = { kind: 'ended', term: 'u/7/other' };
  assert.deepEqual(predecessorOf(present(endedLeaseOf()), vantage), ended);
  assert.deepEqual(predecessorOf(present(endedLeaseOf(), 'other'), vantage), ended);
});

test('predecessorOf() counts from the start where the Lease was never read', () => {
  assert.deepEqual(predecessorOf({ kind: 'unseen' }, vantage), {
    kind: 'unclean',
    countedFrom: 1_000,
    because: 'the Lease cannot be read',
  });
});

test('predecessorOf() counts from a lease after it was seen to be deleted', () => {
  assert.deepEqual(predecessorOf({ ...absent, hadOne: true }, vantage), {
    kind: 'unclean',
    countedFrom: 65_000,
    because: 'the Lease was deleted',
  });
});

test('predecessorOf() never counts from before the start', () => {
  const sighting: Sighting = { ...present(leaseOf()), since: monotonic(2_000) } as Sighting;
  const late = { ...vantage, startedAt: monotonic(90_000) };
  const found = predecessorOf(sighting, late);
  assert.equal(found.kind === 'unclean' && found.countedFrom, 90_000);
});

/** Each Lease was first seen at 50 s; its holder, whatever its own renew deadline, held it for less than 15 s more. */
const uncleanRows: Readonly<Record<string, LeaseRecord>> = {
  'that another holds': leaseOf(),
  'whose holder nobody knows': leaseOf({ spec: { holderIdentity: 'kubectl-edit' } }),
  'without a time of renewal': leaseOf({ spec: { renewTime: undefined } }),
  'that is renewed next year': leaseOf({ spec: { renewTime: '2027-06-01T00:00:00.000000Z' } }),
  'whose time of renewal is no time': leaseOf({ spec: { renewTime: 'soon' } }),
  'whose times are numbers': leaseOf({ spec: { renewTime: 12, acquireTime: true } }),
  'whose transitions are text': leaseOf({ spec: { leaseTransitions: 'seven' } }),
  'whose transitions are negative': leaseOf({ spec: { leaseTransitions: -1 } }),
  'whose duration is 0': leaseOf({ spec: { leaseDurationSeconds: 0 } }),
  'with the shortest duration that can be written': leaseOf({ spec: { leaseDurationSeconds: 1 } }),
  'without anything in it': leaseOf({
    spec: {
      holderIdentity: undefined,
      leaseDurationSeconds: undefined,
      acquireTime: undefined,
      renewTime: undefined,
      leaseTransitions: undefined,
    },
  }),
  'whose holder was emptied by hand': leaseOf({ spec: { holderIdentity: '' } }),
  'whose holder was taken out': leaseOf({ spec: { holderIdentity: undefined } }),
  'that still has a holder beside the word of its end': leaseOf({
    annotations: { 'rollout-operator/ended-term': 'u/7/other' },
  }),
  'with the end of an earlier term': endedLeaseOf('u/6/other'),
  'with the end of a later term': endedLeaseOf('u/8/other'),
  'with the end of a term of 70 transitions': endedLeaseOf('u/70/other'),
  'with the end of a term of another Lease': endedLeaseOf('v/7/other'),
  'with the end of a term that names no process': endedLeaseOf('u/7/'),
  'with the end of half a term': endedLeaseOf('u/7'),
  'with an empty word of an end': endedLeaseOf(''),
  'with any other word of an end': endedLeaseOf('yes'),
};
for (const [fact, record] of Object.entries(uncleanRows)) {
  test(`predecessorOf() counts from its duration after it first saw a Lease ${fact}`, () => {
    const found = predecessorOf(present(record), vantage);
    assert.equal(found.kind, 'unclean');
    assert.equal(found.kind === 'unclean' && found.countedFrom, 65_000);
  });
}

test('predecessorOf() does not believe the end of a process that was not seen to hold the Lease', () => {
  const found = predecessorOf(present(endedLeaseOf('u/7/other'), 'third'), vantage);
  assert.deepEqual(found, {
    kind: 'unclean',
    countedFrom: 65_000,
    because: 'it was given up, but not by its last holder',
  });
});

test('predecessorOf() gives a holder with a longer lease than ours the whole of it', () => {
  const record = leaseOf({ spec: { leaseDurationSeconds: 60 } });
  const found = predecessorOf(present(record), vantage);
  assert.equal(found.kind === 'unclean' && found.countedFrom, 110_000);
});

test('predecessorOf() believes in no lease of more than ten minutes', () => {
  const record = leaseOf({ spec: { leaseDurationSeconds: 2_147_483_647 } });
  const found = predecessorOf(present(record), vantage);
  assert.equal(found.kind === 'unclean' && found.countedFrom, 650_000);
});

test('predecessorOf() understands, or takes for unclean, whatever is in the Lease', () => {
  const anything = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<JsonValue>;
  fc.assert(
    fc.property(anything, anything, (spec, annotations) => {
      const record = parseLease({
        metadata: {
          name: 'a',
          uid: 'u',
          resourceVersion: '1',
          annotations: annotations as Record<string, string>,
        },
        spec,
      });
      assert.equal(predecessorOf(present(record), vantage).kind, 'unclean');
    }),
  );
});
