/** Repeated requests, dry runs, and what is to be stored (BUDG-5). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after, seconds } from '#base/units.ts';
import { BudgetBed, budget, failed, request, zones } from '#testing/budgeted-zones.ts';
import { T0 } from '#testing/views.ts';

const a0 = 'ingester-zone-a-0';
const term = 'term-1';

test('decide() changes nothing for a repeated request (BUDG-5)', () => {
  const bed = new BudgetBed(budget({ limit: 2 }));
  assert.equal(bed.ask('a-0'), 'allowed');
  const { ledger } = bed;
  bed.now = after(T0, seconds(29));
  const decided = bed.decide({ requests: [request('a-0'), request('a-0')] });
  assert.deepEqual(decided.answers, [
    { kind: 'allowed', isRepeated: true },
    { kind: 'allowed', isRepeated: true },
  ]);
  assert.equal(decided.change, 'none');
  assert.equal(decided.ledger, ledger);
  assert.equal(bed.ask('a-1'), 'allowed');
});

test('decide() repeats what it allowed though another zone has failed since (BUDG-5)', () => {
  const bed = new BudgetBed();
  assert.equal(bed.ask('a-0'), 'allowed');
  bed.snapshot = zones({ b: { pods: { 0: failed } } });
  assert.equal(bed.ask('a-0'), 'allowed');
  assert.equal(bed.ask('a-1'), '1 pod not ready in ingester-zone-b');
});

test('decide() remembers for at least 90 s what it allowed last', () => {
  const bed = new BudgetBed();
  assert.equal(bed.ask('a-0'), 'allowed');
  bed.now = after(T0, seconds(30));
  const { change } = bed.decide({ requests: [request('a-0')] });
  assert.equal(change, 'permissions');
  bed.now = after(T0, seconds(149));
  assert.deepEqual(bed.reserved(), [a0]);
  bed.now = after(T0, seconds(150));
  assert.deepEqual(bed.reserved(), []);
});

test('decide() answers a dry run, and changes nothing [zpdb 61]', () => {
  const bed = new BudgetBed();
  const { ledger } = bed;
  const decided = bed.decide({ requests: [request('a-0', { isDryRun: true }), request('b-0')] });
  assert.deepEqual(decided.answers, [
    { kind: 'allowed', isRepeated: false },
    { kind: 'allowed', isRepeated: false },
  ]);
  assert.deepEqual(bed.reserved(), ['ingester-zone-b-0']);
  const again = new BudgetBed().decide({ requests: [request('a-0', { isDryRun: true })] });
  assert.equal(again.change, 'none');
  assert.equal(ledger.reservations.size, 0);
});

test('decide() renews nothing, and adds no asker, for a dry run', () => {
  const bed = new BudgetBed();
  assert.equal(bed.ask('a-0'), 'allowed');
  bed.now = after(T0, seconds(60));
  const asking = { by: 'rollout', term } as const;
  const requests = [request('a-0', { isDryRun: true }), request('a-0', { isDryRun: true, asking })];
  assert.equal(bed.decide({ requests }).change, 'none');
});

test('decide() says what must be stored before an answer leaves, and what need not be', () => {
  const bed = new BudgetBed();
  assert.equal(bed.decide().change, 'none');
  assert.equal(bed.decide({ requests: [request('a-0')] }).change, 'permissions');
  assert.equal(bed.decide({ requests: [request('b-0')] }).change, 'none');
  bed.now = after(T0, seconds(120));
  assert.equal(bed.decide().change, 'releases');
  assert.equal(bed.decide().change, 'none');
});
