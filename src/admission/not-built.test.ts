import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis } from '#base/units.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { updateRequest } from '#testing/admission-requests.ts';
import { FakeClock } from '#testing/fake-clock.ts';
import { type FakeAnswer, FakeTransport } from '#testing/fake-transport.ts';
import { startDeadline } from './deadline.ts';
import { budgetsNotAccepted, podEvictionWithoutBudgets } from './not-built.ts';
import type { Verdict } from './review.ts';

const request = updateRequest(undefined, undefined, { name: 'x-0', resource: 'pods' });

async function evict(answer: FakeAnswer): Promise<Verdict> {
  const clock = new FakeClock();
  const transport = new FakeTransport(() => answer);
  const client = createClient({ transport, clock, timeout: millis(0), userAgent: 'test' });
  const deadline = startDeadline(clock, clock.monotonic(), millis(1_000));
  const verdict = await podEvictionWithoutBudgets(client).judge(request, {
    deadline: () => deadline,
  });
  deadline.release();
  return verdict;
}

function budgets(count: number): FakeAnswer {
  const items = Array.from({ length: count }, (_, index) => ({
    metadata: { name: `budget-${index}`, uid: 'u', resourceVersion: '1' },
  }));
  return { body: { metadata: { resourceVersion: '1' }, items } };
}

test('podEvictionWithoutBudgets() allows where there is no budget', async () => {
  assert.deepEqual(await evict(budgets(0)), { isAllowed: true });
});

test('podEvictionWithoutBudgets() allows where the cluster has no such type', async () => {
  assert.deepEqual(await evict({ status: 404, body: { kind: 'Status' } }), { isAllowed: true });
});

test('podEvictionWithoutBudgets() denies with 429 where there is a budget (D-13)', async () => {
  const verdict = await evict(budgets(1));
  assert.equal(verdict.isAllowed, false);
  assert.equal(verdict.code, 429);
  assert.equal(
    verdict.message,
    'eviction of pod test/x-0 is not allowed: the namespace has a ZoneAwarePodDisruptionBudget, and this version of the operator does not have zone-aware pod disruption budgets',
  );
});

test('podEvictionWithoutBudgets() denies with 429 where it cannot be found out (HOOK-1)', async () => {
  const verdict = await evict({ status: 500, body: { kind: 'Status' } });
  assert.deepEqual([verdict.isAllowed, 'code' in verdict && verdict.code], [false, 429]);
});

test('budgetsNotAccepted() denies with 403 (D-13)', async () => {
  const verdict = await budgetsNotAccepted().judge(request, {
    deadline: () => assert.fail('there is nothing to wait for'),
  });
  assert.deepEqual([verdict.isAllowed, 'code' in verdict && verdict.code], [false, 403]);
});
