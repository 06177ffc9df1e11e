import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import type { Budget } from '#disruption/budget.ts';
import { overIngester } from '#support/budgets/budget-server.ts';
import { compilePattern } from '../pattern/compile-pattern.ts';
import { KnownBudgets } from '../spec/known-budgets.ts';
import { judgedBudget } from './judged-budget.ts';

function put(known: KnownBudgets, generation: number, spec: JsonObject): Budget {
  const metadata = { namespace: 'test', name: 'ingester', uid: 'a-uid', generation };
  known.put({ kind: 'ZoneAwarePodDisruptionBudget', metadata, spec: { ...overIngester, ...spec } });
  const budget = known.get('test', 'ingester');
  assert.ok(budget?.spec !== undefined);
  return judgedBudget(budget, budget.spec);
}

function judged(spec: JsonObject): Budget {
  return put(new KnownBudgets(compilePattern), 1, spec);
}

const byPartition = {
  podNamePartitionRegex: '[a-z-]+-zone-[a-z]-([0-9]+)',
  crossZoneEvictionDelay: '1m30s',
};

test('judgedBudget() names the object by its uid', () => {
  const ref = {
    kind: 'ZoneAwarePodDisruptionBudget',
    namespace: 'test',
    name: 'ingester',
    uid: 'a-uid',
  };
  assert.deepEqual(judged({}).ref, ref);
});

test('judgedBudget() takes a number of pods as it is', () => {
  assert.deepEqual(judged({ maxUnavailable: 3 }).limit, { kind: 'count', count: 3 });
});

test('judgedBudget() takes a percentage of the own set', () => {
  const spec = { maxUnavailable: undefined, maxUnavailablePercentage: 50 };
  assert.deepEqual(judged(spec).limit, { kind: 'percent-of-own-set', percent: 50 });
});

test('judgedBudget() lets sets be the zones where there is no regular expression', () => {
  assert.deepEqual(judged({}).mode, { kind: 'zones-of-sets' });
});

test('judgedBudget() protects the partitions that the regular expression tells, with the delay across zones', () => {
  const { mode } = judged(byPartition);
  assert.ok(mode.kind === 'partitions');
  assert.deepEqual(
    [mode.crossZoneDelay, mode.partitionOf('ingester-zone-a-7'), mode.partitionOf('other')],
    [90_000, '7', undefined],
  );
});

test('judgedBudget() tells the partition of each name, however many it was asked for', () => {
  const { mode } = judged(byPartition);
  assert.ok(mode.kind === 'partitions');
  const { partitionOf } = mode;
  const told = Array.from({ length: 25_000 }, (_, n) => partitionOf(`ingester-zone-a-${n}`));
  assert.deepEqual([told[0], told[24_999], partitionOf('ingester-zone-a-0')], ['0', '24999', '0']);
  assert.deepEqual([partitionOf('other'), partitionOf('other')], [undefined, undefined]);
});

test('judgedBudget() is one object for a generation of a budget, and another one for the next', () => {
  const known = new KnownBudgets(compilePattern);
  const first = put(known, 1, byPartition);
  assert.equal(put(known, 1, byPartition), first);
  assert.notEqual(put(known, 2, byPartition), first);
});
