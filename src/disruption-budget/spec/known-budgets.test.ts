import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, JsonValue } from '#base/json.ts';
import { compilePattern } from '../pattern/compile-pattern.ts';
import { KnownBudgets } from './known-budgets.ts';

interface Given {
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly spec?: JsonValue;
}

const ingester = { 'rollout-group': 'ingester' };

/** What `spec` says that selects the group, with `maxUnavailable` pods. */
function spec(maxUnavailable: JsonValue, matchLabels: JsonObject = ingester): JsonObject {
  return { maxUnavailable, selector: { matchLabels } };
}

function budget(generation: number, given: Given = {}): JsonObject {
  const { name = 'ingester', namespace = 'test', uid = 'first' } = given;
  return {
    apiVersion: 'rollout-operator.grafana.com/v1',
    kind: 'ZoneAwarePodDisruptionBudget',
    metadata: { namespace, name, uid, generation },
    spec: given.spec ?? spec(generation),
  };
}

/** Budgets of which generation `generation` is known. */
function knowing(generation: number, given: Given = {}): KnownBudgets {
  const budgets = new KnownBudgets(compilePattern);
  assert.equal(budgets.put(budget(generation, given)), 'updated');
  return budgets;
}

/** The limit that counts, which these tests let be the generation that it is of. */
function limitOf(budgets: KnownBudgets): unknown {
  return budgets.get('test', 'ingester')?.spec?.maxUnavailable;
}

function count(limit: number): unknown {
  return { kind: 'count', count: limit };
}

test('put() keeps generation 2 where 1 arrives [zpdb 33]', () => {
  const budgets = knowing(2);
  assert.equal(budgets.put(budget(1)), 'ignored');
  assert.deepEqual(limitOf(budgets), count(2));
});

test('put() ignores what is delivered again [zpdb 34]', () => {
  const budgets = knowing(2);
  assert.equal(budgets.put(budget(2)), 'ignored');
  assert.deepEqual(limitOf(budgets), count(2));
});

test('put() takes a newer generation [zpdb 35]', () => {
  const budgets = knowing(2);
  assert.equal(budgets.put(budget(5)), 'updated');
  assert.deepEqual(limitOf(budgets), count(5));
});

test('remove() keeps a budget where the deletion of an earlier one of its name arrives [zpdb 36]', () => {
  const budgets = knowing(5, { uid: 'second' });
  assert.equal(budgets.remove(budget(1, { uid: 'first' })), 'delete-ignored');
  assert.deepEqual(limitOf(budgets), count(5));
});

test('remove() removes a budget that was changed between the last look and its deletion [zpdb 37]', () => {
  const budgets = knowing(2);
  assert.equal(budgets.remove(budget(10)), 'deleted');
  assert.deepEqual(budgets.list(), []);
});

test('remove() removes a budget whose deletion tells of an older generation: it is gone all the same', () => {
  const budgets = knowing(5);
  assert.equal(budgets.remove(budget(1)), 'deleted');
  assert.deepEqual(budgets.list(), []);
});

test('remove() ignores what is not known [zpdb 38]', () => {
  const budgets = new KnownBudgets(compilePattern);
  assert.equal(budgets.remove(budget(1)), 'delete-ignored');
});

test('put() keeps what was valid where an update is not, and says what is wrong [zpdb 39]', () => {
  const budgets = knowing(2);
  const invalid = budget(3, { spec: spec(-1) });
  assert.equal(budgets.put(invalid), 'invalid');
  assert.deepEqual(limitOf(budgets), count(2));
  const known = budgets.get('test', 'ingester');
  assert.equal(known?.problem, 'invalid value: max unavailable must be 0 <= val, got -1');
  assert.equal(known?.generation, 3);
  assert.equal(budgets.put(invalid), 'invalid', 'delivered again');
  assert.equal(budgets.put(budget(2)), 'ignored', 'the one before arrives late');
  assert.notEqual(budgets.get('test', 'ingester')?.problem, undefined);
  assert.equal(budgets.put(budget(4)), 'updated');
  assert.deepEqual(
    [limitOf(budgets), budgets.get('test', 'ingester')?.problem],
    [count(4), undefined],
  );
});

test('put() and remove() ignore what is no object of the API [zpdb 40]', () => {
  const budgets = knowing(2);
  for (const value of ['text', null, 5, [], {}, { metadata: { name: 'ingester' } }]) {
    assert.deepEqual(
      [budgets.put(value), budgets.put(value), budgets.remove(value)],
      ['ignored', 'ignored', 'ignored'],
    );
  }
  assert.deepEqual(limitOf(budgets), count(2));
});

test('put() takes a budget that was made again while its deletion was missed [zpdb 42]', () => {
  const budgets = knowing(5);
  assert.equal(budgets.put(budget(1, { uid: 'second' })), 'updated');
  assert.deepEqual([limitOf(budgets), budgets.list().length], [count(1), 1]);
});

test('put() keeps nothing of an earlier budget where the one that was made again is not valid', () => {
  const budgets = knowing(5);
  const again = budget(1, { uid: 'second', spec: spec(-1) });
  assert.equal(budgets.put(again), 'invalid');
  assert.equal(budgets.get('test', 'ingester')?.spec, undefined);
});

const pod = { ...ingester, name: 'ingester-zone-a' };

function governing(budgets: readonly JsonObject[], labels = pod, namespace = 'test'): unknown {
  const known = new KnownBudgets(compilePattern);
  for (const each of budgets) known.put(each);
  const found = known.governing(namespace, labels);
  if (found.kind === 'none') return 'none';
  if (found.kind === 'one') return found.budget.name;
  return [found.budgets.map(({ name }) => name), found.text];
}

const several = 'multiple zoned pod disruption budgets found for pod';
const badRegex = { ...spec(1), podNamePartitionRegex: '(' };
const cannotRead =
  'ZoneAwarePodDisruptionBudget "b" cannot be read: invalid value: regex is not valid, got error parsing regexp: missing closing ): `^($`';

const lookups: Readonly<Record<string, readonly [budgets: readonly JsonObject[], found: unknown]>> =
  {
    'none where there is none': [[], 'none'],
    'the one that selects it': [[budget(1, { name: 'a' })], 'a'],
    'none where all its labels must be there': [
      [budget(1, { spec: spec(1, { ...ingester, zone: 'a' }) })],
      'none',
    ],
    'one that selects all of its namespace': [[budget(1, { name: 'a', spec: spec(1, {}) })], 'a'],
    'none of another namespace': [[budget(1, { namespace: 'other' })], 'none'],
    'one by matchLabels alone': [
      [
        budget(1, {
          name: 'a',
          spec: {
            selector: {
              matchLabels: ingester,
              matchExpressions: [{ key: 'name', operator: 'DoesNotExist' }],
            },
          },
        }),
      ],
      'a',
    ],
    'both of two, in the words of the peer [zpdb 41]': [
      [budget(1, { name: 'b', uid: 'b' }), budget(1, { name: 'a', uid: 'a', spec: spec(1, {}) })],
      [['a', 'b'], several],
    ],
    'one that was never valid, by its selector': [
      [budget(1, { name: 'b', spec: badRegex })],
      [['b'], cannotRead],
    ],
    'one that was never valid, beside one that is': [
      [budget(1, { name: 'a', uid: 'a' }), budget(1, { name: 'b', uid: 'b', spec: badRegex })],
      [['a', 'b'], cannotRead],
    ],
    'not one that was never valid and selects others': [
      [budget(1, { name: 'b', spec: { ...badRegex, selector: { matchLabels: { name: 'x' } } } })],
      'none',
    ],
    'one whose selector cannot be read, which may mean any pod': [
      [budget(1, { name: 'b', spec: { selector: { matchLabels: { a: 1 } } } })],
      [
        ['b'],
        'ZoneAwarePodDisruptionBudget "b" cannot be read: invalid value: selector is not valid, got .spec.selector.matchLabels accessor error: contains non-string value in the map under key "a": 1 is of the type int64, expected string',
      ],
    ],
  };

for (const [what, [budgets, found]] of Object.entries(lookups)) {
  test(`governing() finds ${what}`, () => {
    assert.deepEqual(governing(budgets), found);
  });
}

test('governing() goes by the last valid selector while an update is not valid', () => {
  const budgets = knowing(1);
  budgets.put(budget(2, { spec: spec(-1, { name: 'x' }) }));
  assert.equal(budgets.governing('test', pod).kind, 'one');
});

test('governing() is unclear under a budget whose pattern could not be compiled', () => {
  const budgets = new KnownBudgets(() => ({
    kind: 'unknown',
    text: 'the file re2.mjs is missing',
  }));
  const partitioned = { ...spec(0), podNamePartitionRegex: 'ingester-([0-9]+)' };
  assert.equal(budgets.put(budget(1, { spec: partitioned })), 'invalid');
  const governing = budgets.governing('test', ingester);
  assert.equal(governing.kind, 'unclear');
  assert.equal(
    governing.kind === 'unclear' && governing.text,
    'ZoneAwarePodDisruptionBudget "ingester" cannot be read: podNamePartitionRegex cannot be compiled: the file re2.mjs is missing',
  );
});
