import assert from 'node:assert/strict';
import { test } from 'node:test';
import { monotonic, seconds } from '#base/units.ts';
import { refusal } from '#support/rollouts/group-world.ts';
import { Refusals } from './refusals.ts';

const KEY = 'test/ingester';
const NOW = monotonic(1_000);

test('Refusals hold a group for 25 ms after its first failure, then for twice as long each time, up to 30 s', () => {
  const refusals = new Refusals();
  const waits: number[] = [];
  let now = NOW;
  for (let attempt = 0; attempt < 13; attempt += 1) {
    refusals.failed(KEY, new Error('no'), now);
    const until = refusals.of(KEY, now)?.until ?? now;
    waits.push(until - now);
    now = until;
  }
  const doubled = [25, 50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600];
  assert.deepEqual(waits, [...doubled, 30_000, 30_000]);
});

test('Refusals hold a group as long as the server asks for', () => {
  const refusals = new Refusals();
  refusals.failed(KEY, refusal(429, seconds(7)), NOW);
  assert.equal(refusals.of(KEY, monotonic(NOW + 6_999))?.because.reason, 'RequestRefused');
  assert.equal(refusals.of(KEY, monotonic(NOW + 7_000)), undefined);
});

test('Refusals hold a group of which many requests fail at once for as long as one, and as long as any answer asks for', () => {
  const refusals = new Refusals();
  for (let failed = 0; failed < 32; failed += 1) refusals.failed(KEY, refusal(500), NOW);
  assert.equal((refusals.of(KEY, NOW)?.until ?? 0) - NOW, 25);
  refusals.failed(KEY, refusal(429, seconds(1)), NOW);
  refusals.failed(KEY, refusal(500), monotonic(NOW + 1));
  assert.equal((refusals.of(KEY, NOW)?.until ?? 0) - NOW, 1_000);
  const later = monotonic(NOW + 1_000);
  refusals.failed(KEY, refusal(500), later);
  assert.equal((refusals.of(KEY, later)?.until ?? 0) - later, 50);
});

test('Refusals count what is outrun many times at once as one race', () => {
  const refusals = new Refusals();
  for (let race = 0; race < 32; race += 1) {
    assert.equal(refusals.outrun(KEY, refusal(409), NOW), 5);
  }
  assert.equal(refusals.of(KEY, NOW), undefined);
});

test('Refusals give each failure once to be counted', () => {
  const refusals = new Refusals();
  refusals.failed(KEY, new Error('no'), NOW);
  assert.equal(refusals.takeUntold(KEY)?.message, 'no');
  assert.equal(refusals.takeUntold(KEY), undefined);
});

test('Refusals hold a group whose view was not fresh at the instant of sending, which is no failure', () => {
  const refusals = new Refusals();
  refusals.stale(KEY, new Error('the view is 11 s old'), NOW);
  const because = { reason: 'ViewNotFresh', message: 'the view is 11 s old' };
  assert.deepEqual(refusals.of(KEY, NOW)?.because, because);
  assert.equal(refusals.takeUntold(KEY), undefined);
});

test('Refusals let a group that was outrun be planned again after 5 ms, then after twice as much', () => {
  const refusals = new Refusals();
  const outrun = (at: number): number => refusals.outrun(KEY, undefined, monotonic(NOW + at));
  assert.deepEqual([outrun(0), outrun(5), outrun(15)], [5, 10, 20]);
  assert.equal(refusals.of(KEY, NOW), undefined);
});

test('Refusals hold a group from the third answer in a row on that its world had moved', () => {
  const refusals = new Refusals();
  const answer = refusal(409);
  refusals.outrun(KEY, answer, NOW);
  refusals.outrun(KEY, answer, monotonic(NOW + 5));
  const third = monotonic(NOW + 15);
  assert.equal(refusals.of(KEY, third), undefined);
  refusals.outrun(KEY, answer, third);
  const because = { reason: 'RequestRefused', message: answer.message };
  assert.deepEqual(refusals.of(KEY, third)?.because, because);
  assert.equal(refusals.takeUntold(KEY), undefined);
});

test('Refusals hold a group for 60 s at most, whatever the server asks for', () => {
  const refusals = new Refusals();
  refusals.failed(KEY, refusal(429, seconds(86_400)), NOW);
  assert.notEqual(refusals.of(KEY, monotonic(NOW + 59_999)), undefined);
  assert.equal(refusals.of(KEY, monotonic(NOW + 60_000)), undefined);
});

test('Refusals know when the server last said that the world of a group had moved, whatever succeeds after it', () => {
  const refusals = new Refusals();
  refusals.outrun(KEY, undefined, NOW);
  assert.equal(refusals.outrunAt(KEY), undefined);
  refusals.outrun(KEY, refusal(409), NOW);
  refusals.recovered(KEY, monotonic(NOW + 1));
  assert.equal(refusals.outrunAt(KEY), NOW);
  refusals.forget(KEY);
  assert.equal(refusals.outrunAt(KEY), undefined);
});

test('Refusals begin again once a disruption was carried out, but not by one that was sent before the failure', () => {
  const refusals = new Refusals();
  refusals.failed(KEY, new Error('no'), NOW);
  refusals.recovered(KEY, NOW);
  assert.notEqual(refusals.of(KEY, NOW), undefined);
  refusals.takeUntold(KEY);
  const later = monotonic(NOW + 25);
  refusals.recovered(KEY, later);
  refusals.failed(KEY, new Error('no'), later);
  assert.equal((refusals.of(KEY, later)?.until ?? 0) - later, 25);
});

test('Refusals of one group hold no other', () => {
  const refusals = new Refusals();
  refusals.failed('test/other', new Error('no'), NOW);
  assert.equal(refusals.of(KEY, NOW), undefined);
});
