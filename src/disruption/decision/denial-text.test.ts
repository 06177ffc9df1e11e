import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after, minutes, seconds } from '#base/units.ts';
import {
  BudgetBed,
  budget,
  failed,
  partitions,
  request,
  zones,
} from '#support/budgets/budgeted-zones.ts';
import { T0, unready } from '#support/objects/views.ts';
import type { Budget } from '../budget.ts';
import type { DisruptionSnapshot } from '../snapshot.ts';
import type { Denial } from './denial.ts';
import { explain } from './denial-text.ts';

const { ref } = budget();
const named = '(ZoneAwarePodDisruptionBudget ingester)';

/** What people are told when b-0 was allowed, and then `asks`. */
function told(
  given: DisruptionSnapshot,
  {
    asks = 'a-0',
    of = budget(),
    given: before = [],
  }: { readonly asks?: string; readonly of?: Budget; readonly given?: readonly string[] } = {},
): string {
  const bed = new BudgetBed(of, given);
  for (const slot of before) bed.ask(slot);
  const [answer] = bed.decide({ requests: [request(asks)] }).answers;
  return answer?.kind === 'denied' ? explain(answer.denial, of.ref) : 'allowed';
}

const notYet = { readySince: undefined, unready: unready() };

test('explain() says which pods are in the way, and how many may be', () => {
  assert.equal(
    told(zones({ c: { pods: { 0: 'missing', 1: notYet, 2: { isTerminating: true } } } })),
    `2 pods not ready, 1 pod unknown in ingester-zone-c ${named}: ingester-zone-c-0 is missing, ` +
      'ingester-zone-c-1 is not ready, ingester-zone-c-2 is going; at most 0 may be',
  );
});

test('explain() names three pods, and counts the others', () => {
  const pods = { 0: failed, 1: failed, 2: failed, 3: failed, 4: failed };
  assert.equal(
    told(zones({ c: { spec: { replicas: 5 }, pods } })),
    `5 pods not ready in ingester-zone-c ${named}: ingester-zone-c-0 is not ready, ingester-zone-c-1 is not ready, ` +
      'ingester-zone-c-2 is not ready and 2 more; at most 0 may be',
  );
});

test('explain() says until when a pod that was given away is in the way', () => {
  assert.equal(
    told(zones(), { given: ['b-0'] }),
    `1 pod not ready in ingester-zone-b ${named}: ingester-zone-b-0 is given to an eviction, ` +
      'until 2026-01-01T00:02:00Z if nothing changes; at most 0 may be',
  );
});

test('explain() says until when minReadySeconds and the delay across zones last', () => {
  const settling = {
    spec: { minReady: minutes(1) },
    pods: { 0: { readySince: after(T0, seconds(-20)) } },
  };
  assert.equal(
    told(zones({ b: settling })),
    `1 pod not ready in ingester-zone-b ${named}: ingester-zone-b-0 is ready, but not for minReadySeconds, ` +
      'until 2026-01-01T00:00:40Z if nothing changes; at most 0 may be',
  );
  const delayed = budget({ limit: 2, mode: partitions(minutes(20)) });
  const peers = { pods: { 0: { readySince: after(T0, minutes(-5)) } } };
  assert.equal(
    told(zones({ b: peers, c: { pods: { 0: { readySince: T0 } } } }), { of: delayed }),
    `2 pods not ready in partition 0 ${named}: ingester-zone-b-0 is ready, but not for the delay across zones, ` +
      'ingester-zone-c-0 is ready, but not for the delay across zones, ' +
      'until 2026-01-01T00:15:01Z if nothing changes; at most 1 may be',
  );
});

test('explain() promises no time where only an event helps', () => {
  const one = { b: { pods: { 0: { readySince: T0 }, 1: 'missing' } } } as const;
  const settling = { ...one.b, spec: { minReady: minutes(1) } };
  assert.doesNotMatch(told(zones({ b: settling })), /until/);
});

test('explain() says that the status of a set counts a pod that is not seen, and which zone has no peer', () => {
  assert.equal(
    told(zones({ b: { status: { replicas: 4 } } })),
    `1 pod unknown in ingester-zone-b ${named}: the status of its set counts ingester-zone-b-3, which is not seen; at most 0 may be`,
  );
  assert.equal(
    told(zones({ a: { spec: { replicas: 2 } }, c: 'none' }), {
      asks: 'b-2',
      of: budget({ mode: partitions() }),
    }),
    `1 pod unknown in partition 2 ${named}: ingester-zone-a has none of this partition; at most 0 may be`,
  );
});

const others: Record<string, { readonly denial: Denial; readonly text: string }> = {
  'nothing is allowed': {
    denial: { kind: 'nothing-allowed' },
    text: `max unavailable = 0 ${named}`,
  },
  'there is one set alone': {
    denial: { kind: 'too-few-sets', found: 1 },
    text: `minimum number of StatefulSets not found ${named}: it selects 1, and without another zone there is nothing to be kept up`,
  },
  'the pods of a set cannot be read': {
    denial: { kind: 'pods-unreadable', set: 'ingester-zone-b' },
    text: `unable to determine pod status in related StatefulSet ${named}: ingester-zone-b`,
  },
  'another pod is there': {
    denial: { kind: 'pod-not-seen', seenUid: 'newer-uid' },
    text: `the pod is not among those that are seen ${named}: in its place is uid newer-uid`,
  },
  'no pod is there': {
    denial: { kind: 'pod-not-seen', seenUid: undefined },
    text: `the pod is not among those that are seen ${named}`,
  },
  'the ledger is full': {
    denial: { kind: 'ledger-full', reservations: 2_100, mostBytes: 524_288 },
    text: `no room for another reservation ${named}: its ledger has 2100, and takes at most 524288 bytes`,
  },
};

for (const [fact, { denial, text }] of Object.entries(others)) {
  test(`explain() says that ${fact}`, () => {
    assert.equal(explain(denial, ref), text);
  });
}
