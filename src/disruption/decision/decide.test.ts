/** Repeated requests, dry runs, and what is to be stored (BUDG-5). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after, seconds } from '#base/units.ts';
import {
  BudgetBed,
  budget,
  failed,
  request,
  textOf,
  zones,
} from '#support/budgets/budgeted-zones.ts';
import { T0 } from '#support/objects/views.ts';

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

test('decide() judges what it allowed again when it is asked again, and remembers that it did', () => {
  const bed = new BudgetBed();
  assert.equal(bed.ask('a-0'), 'allowed');
  bed.snapshot = zones({ b: { pods: { 0: failed } } });
  assert.equal(bed.ask('a-0'), '1 pod not ready in ingester-zone-b');
  assert.deepEqual(bed.reserved(), [a0]);
  bed.snapshot = zones();
  assert.equal(bed.ask('a-0'), 'allowed');
});

test('decide() judges a caller that asks for what another caller has', () => {
  const bed = new BudgetBed();
  assert.equal(bed.ask('a-0'), 'allowed');
  bed.snapshot = zones({ b: { pods: { 0: failed } } });
  const asking = { by: 'rollout', term } as const;
  assert.equal(bed.ask('a-0', { asking }), '1 pod not ready in ingester-zone-b');
});

const begun = { pod: request('a-0').pod, asking: { by: 'rollout', term } } as const;

test('decide() writes down what is under way without a reservation, before it answers anybody', () => {
  const bed = new BudgetBed();
  const decided = bed.decide({ begun: [begun], requests: [request('b-0')] });
  assert.equal(textOf(decided.answers[0]), '1 pod not ready in ingester-zone-a');
  assert.equal(decided.change, 'permissions');
  assert.deepEqual(bed.reserved(), [a0]);
  assert.equal(bed.decide({ begun: [begun] }).change, 'none');
});

test('decide() writes nothing down for what is under way outside the budget, or in another pod of the slot', () => {
  const bed = new BudgetBed();
  const pod = { ...begun.pod, name: 'distributor-0' };
  const another = { ...begun.pod, uid: 'earlier-uid' };
  const decided = bed.decide({
    begun: [
      { ...begun, pod },
      { ...begun, pod: another },
    ],
  });
  assert.equal(decided.change, 'none');
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
