import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis } from '#base/units.ts';
import {
  type ClaimedGroup,
  claimKey,
  formatClaim,
  type GroupClaim,
  type StoredClaim,
} from './claim.ts';
import { parseClaim } from './parse-claim.ts';
import {
  type Claimant,
  type ClaimPlan,
  type ClaimProgress,
  hasEnded,
  planClaim,
} from './plan-claim.ts';

const claim: GroupClaim = {
  set: 'ingester-zone-a',
  replica: 'replica-1',
  until: '2026-01-01T00:00:30.000Z',
  generation: 4,
  state: 'under-way',
};
const written1999: GroupClaim = { ...claim, until: '1999-01-01T00:00:00Z' };
const stored = JSON.stringify(claim);

const keys: Readonly<Record<string, readonly [ClaimedGroup, string]>> = {
  'is the name of the group': [
    { namespace: 'test', group: 'ingester', set: 'ingester-zone-a' },
    'ingester',
  ],
  'keeps every character that a label value may have': [
    { namespace: 'test', group: 'A-b_c.9', set: 'a' },
    'A-b_c.9',
  ],
  'names the set where that is in no group': [
    { namespace: 'test', group: '', set: 'ingester' },
    '_set.ingester',
  ],
  'names a foreign namespace': [
    { namespace: 'other', group: 'ingester', set: 'a' },
    '_in.other.ingester',
  ],
  'names a foreign namespace of a set in no group': [
    { namespace: 'other', group: '', set: 'a' },
    '_in.other._set.a',
  ],
};
for (const [fact, [group, want]] of Object.entries(keys)) {
  test(`claimKey() ${fact}`, () => {
    assert.equal(claimKey(group, 'test'), want);
    assert.match(want, /^[-._a-zA-Z0-9]+$/);
  });
}

test('formatClaim() writes set, replica and until as JSON, with the generation and the state', () => {
  assert.equal(
    formatClaim(claim),
    '{"set":"ingester-zone-a","replica":"replica-1","until":"2026-01-01T00:00:30.000Z","generation":4,"state":"under-way"}',
  );
});

test('parseClaim() reads what was written, and tells when there is nothing', () => {
  assert.deepEqual(parseClaim(stored), { kind: 'claim', claim });
  assert.deepEqual(parseClaim(undefined), { kind: 'none' });
});

const corrupt: Readonly<Record<string, string>> = {
  '': 'it is not a JSON object',
  'no JSON': 'it is not a JSON object',
  '5': 'it is not a JSON object',
  null: 'it is not a JSON object',
  '[]': 'it is not a JSON object',
  '{}': '"set" is not the name of a StatefulSet',
  '{"set":5}': '"set" is not the name of a StatefulSet',
  '{"set":"../secrets"}': '"set" is not the name of a StatefulSet',
  '{"set":"a"}': '"replica" names no process',
  '{"set":"a","replica":"r","until":"tomorrow"}': '"until" is not a time',
  '{"set":"a","replica":"r","until":"2026-01-01T00:00:30Z"}': '"generation" is not an integer',
  '{"set":"a","replica":"r","until":"2026-01-01T00:00:30Z","generation":1,"state":"kept"}':
    '"state" is neither "under-way" nor "allowed"',
  [`{"set":"${'a'.repeat(3_000)}"}`]: 'it is longer than 2048 characters',
};
for (const [text, why] of Object.entries(corrupt)) {
  test(`parseClaim() says of ${JSON.stringify(text.slice(0, 60))} that ${why}`, () => {
    assert.deepEqual(parseClaim(text), { kind: 'corrupt', why });
  });
}

const allowed: GroupClaim = { ...claim, state: 'allowed' };
const of = (about: GroupClaim): StoredClaim => ({ kind: 'claim', claim: about });
const other: Claimant = { set: 'ingester-zone-b', replica: 'replica-2', isProtecting: false };

const plans: Readonly<
  Record<
    string,
    {
      readonly given: StoredClaim;
      readonly by: Claimant;
      readonly watched: number;
      readonly want: ClaimPlan;
    }
  >
> = {
  'is free where there is nothing': {
    given: { kind: 'none' },
    by: other,
    watched: 0,
    want: { kind: 'free' },
  },
  'is held while a review of another replica goes on': {
    given: of(claim),
    by: other,
    watched: 29_999,
    want: { kind: 'held', by: claim },
  },
  'is free when the claim was watched for 30 s, whatever "until" says': {
    given: of({ ...claim, until: '2099-01-01T00:00:00Z' }),
    by: other,
    watched: 30_000,
    want: { kind: 'free' },
  },
  'is held though "until" has passed long ago: the clock that wrote it may be slow': {
    given: of(written1999),
    by: other,
    watched: 0,
    want: { kind: 'held', by: written1999 },
  },
  'is held against a second review of the same set by another replica': {
    given: of(claim),
    by: { ...other, set: claim.set },
    watched: 0,
    want: { kind: 'held', by: claim },
  },
  'is free of what this process could not give up': {
    given: of(claim),
    by: { ...other, replica: claim.replica },
    watched: 0,
    want: { kind: 'free' },
  },
  'is held by what this process could not give up, where that stands for an earlier allowance': {
    given: of(claim),
    by: { ...other, replica: claim.replica, isProtecting: true },
    watched: 0,
    want: { kind: 'held', by: claim },
  },
  'is free for the same set of what this process could not give up': {
    given: of(claim),
    by: { set: claim.set, replica: claim.replica, isProtecting: true },
    watched: 0,
    want: { kind: 'free' },
  },
  'is free for the set that was allowed to shrink, in any replica': {
    given: of(allowed),
    by: { ...other, set: claim.set },
    watched: 0,
    want: { kind: 'free' },
  },
  'asks about the set that was allowed to shrink, also in the replica that allowed it': {
    given: of(allowed),
    by: { ...other, replica: claim.replica },
    watched: 0,
    want: { kind: 'held-if-not-ended', by: allowed },
  },
  'is not told of a claim that cannot be read': {
    given: { kind: 'corrupt', why: 'x' },
    by: other,
    watched: 29_999,
    want: { kind: 'unreadable', why: 'x' },
  },
  'is free when what cannot be read has stood for 30 s': {
    given: { kind: 'corrupt', why: 'x' },
    by: other,
    watched: 30_000,
    want: { kind: 'free' },
  },
};
for (const [fact, { given, by, watched, want }] of Object.entries(plans)) {
  test(`planClaim() ${fact}`, () => {
    assert.deepEqual(planClaim(given, by, millis(watched)), want);
  });
}

const ends: Readonly<Record<string, readonly [ClaimProgress | undefined, boolean]>> = {
  'has not ended while the spec of its set is as it was': [
    { generation: 4, observedGeneration: 4, replicas: 3, wanted: 3 },
    false,
  ],
  'has not ended before the controller has acted on the change': [
    { generation: 5, observedGeneration: 4, replicas: 1, wanted: 1 },
    false,
  ],
  'has not ended while pods are left to take': [
    { generation: 5, observedGeneration: 5, replicas: 2, wanted: 1 },
    false,
  ],
  'has ended when the pods are gone': [
    { generation: 5, observedGeneration: 5, replicas: 1, wanted: 1 },
    true,
  ],
  'has ended when the set grows again': [
    { generation: 6, observedGeneration: 6, replicas: 1, wanted: 3 },
    true,
  ],
  'has ended when its set is gone': [undefined, true],
};
for (const [fact, [set, want]] of Object.entries(ends)) {
  test(`hasEnded() ${fact}`, () => {
    assert.equal(hasEnded(claim, set), want);
  });
}
